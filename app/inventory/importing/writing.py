"""Writing what was read: compared with what is there, and written in one transaction or not at all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction
from app.events.queries import hold
from app.inventory.importing import statements as sql
from app.inventory.importing.reading import Reading, RowError

BLOCK = 256 * 1024
TRIES = 3
SENTENCES = {
    "required": "A new item needs it.",
    "insufficient_stock": "More would be reserved and damaged than there is.",
}


@dataclass(frozen=True)
class Order:
    """What is to be done with a file: whose, by whom, the digest of its bytes; and how."""

    event_id: str
    caller_id: str
    digest: bytes
    partial: bool = False
    dry_run: bool = False
    again: bool = False


@dataclass(frozen=True)
class Imported:
    """What an import did, or with a dry run would do. `before` is when these bytes did it already."""

    created: int
    updated: int
    unchanged: int
    errors: Sequence[RowError]
    before: datetime | None = None

    @property
    def rejected(self) -> bool:
        return not (self.created or self.updated or self.unchanged) and bool(self.errors)


Also = Callable[[ReadOrWriteSession, Imported], None]


class _Undone(Exception):
    """Leaves the transaction without its changes, with what was found."""

    def __init__(self, found: Imported) -> None:
        super().__init__()
        self.found = found


def write(reading: Reading, order: Order, *, limits: Sequence[str] = (), also: Also | None = None) -> Imported:
    """Writes the rows that were read; `also` joins the transaction that keeps them.

    With an error nothing is written, unless it is a partial import. Bytes that were imported as a whole change stock
    once. `limits` are the statements that set the time limits of the transaction; without them it has those of a web
    request. Raises NotFound when the event has been removed meanwhile.
    """
    if reading.fatal or (reading.errors and not order.partial):
        return Imported(0, 0, 0, reading.errors)
    for attempt in range(TRIES):
        try:
            with transaction() as session:
                for setting in limits:
                    session.execute(text(setting))
                found = _written(session, reading, order)
                if also is not None:
                    also(session, found)
            return found
        except _Undone as undone:
            return undone.found
        except IntegrityError:
            # Somebody made an item of the same SKU meanwhile; now it is there to be compared with.
            if attempt + 1 == TRIES:
                raise
    raise AssertionError


def _written(session: ReadOrWriteSession, reading: Reading, order: Order) -> Imported:
    asked = {"event": order.event_id, "caller": order.caller_id}
    session.execute(sql.ALONE, asked)
    before = None if order.again else session.scalar(sql.SEEN, {**asked, "digest": order.digest})
    if before is not None:
        raise _Undone(Imported(0, 0, reading.good, reading.errors, before=before))
    _stage(session, reading)
    session.execute(sql.PLAN, asked)
    wrong = [
        RowError(row, column, code, SENTENCES[code], value or "")
        for row, column, code, value in session.execute(sql.WRONG)
    ]
    errors = sorted([*reading.errors, *wrong])
    if wrong and not order.partial:
        raise _Undone(Imported(0, 0, 0, errors))
    if wrong:
        session.execute(sql.LEAVE_OUT, {"rows": list({item.row for item in wrong})})
    counts = session.execute(sql.COUNTS).one()
    found = Imported(**counts._mapping, errors=errors)
    if order.dry_run:
        raise _Undone(found)
    if found.created or found.updated:
        _apply(session, order, asked, found)
    return found


def _apply(session: ReadOrWriteSession, order: Order, asked: dict[str, Any], found: Imported) -> None:
    hold(session, order.event_id)
    session.execute(sql.INSERT, asked)
    session.execute(sql.OPENING, asked)
    session.execute(sql.UPDATE, asked)
    session.execute(sql.TELL, {**asked, "many": found.created + found.updated > sql.EACH_TOLD})
    # A row that was left out may be right the next time: such bytes have more to change than they have changed.
    if not found.errors:
        session.execute(sql.KEEP_DIGEST, {**asked, "digest": order.digest})


def _stage(session: ReadOrWriteSession, reading: Reading) -> None:
    session.execute(sql.STAGING)
    driver = session.connection().connection.driver_connection
    assert driver is not None
    reading.spool.seek(0)
    with driver.cursor() as cursor, cursor.copy(sql.COPY) as copy:
        while block := reading.spool.read(BLOCK):
            copy.write(block)
    session.execute(sql.ANALYZE)
