"""Packs: tickets without names for the door. A pack claims its places at once, and is printed as one document.

No ticket is ever in two packs (a slot stands in one at most), so whoever wants to print again fetches the pack that
he has. The document is drawn by a worker and kept in the file store.
"""

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any

from sqlalchemy import RowMapping, select, update
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import books, claiming, links
from app.allocations.actions.codes import check_free
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.tickets.drawing import pack_pdf
from app.allocations.tickets.errors import PackNotReady
from app.allocations.tickets.facts import Ticket, selected
from app.allocations.tickets.models import DONE, QUEUED, RUNNING, TicketPack, TicketPackSlot
from app.clients import storage
from app.core.db import db, release
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.jobs import Run
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.models import Event
from app.events.queries import READS, owned

READ_AT_ONCE = 400
CLAIM = books.sql(
    books.changing(
        f"""made AS (
            INSERT INTO ticket_pack (id, block_id, count, status, created_by)
            VALUES (:pack_id, :block_id, :count, 'queued', :actor_id) RETURNING id),
        picked AS (
            SELECT id, row_number() OVER (ORDER BY id) AS number FROM allocation_slot
             WHERE block_id = :block_id AND given_at IS NULL AND ended_at IS NULL ORDER BY id LIMIT :count),
        printed AS (
            INSERT INTO ticket_pack_slot (slot_id, pack_id, number)
            SELECT p.id, made.id, p.number FROM picked p, made RETURNING slot_id),
        touched AS (
            UPDATE allocation_slot s
               SET status = 'claimed', via = 'pack', code = c.code, delivery = 'e_ticket', party_id = s.id,
                   given_at = now(), claimed_at = now(), version = s.version + 1
              FROM picked p JOIN unnest(CAST(:codes AS text[])) WITH ORDINALITY c (code, number) USING (number)
             WHERE s.id = p.id
            RETURNING {books.SLOT}, 'available' AS was, s.status AS became, NULL::text AS gate)""",
        "SELECT count(*) FROM touched",
    )
)
PACK = (
    TicketPack.id,
    TicketPack.block_id,
    TicketPack.count,
    TicketPack.status,
    TicketPack.drawn,
    TicketPack.created_at,
)


def make_pack(caller: Caller, event_id: str, block_id: str, *, count: int) -> dict[str, Any]:
    """Claims so many free places as unnamed tickets, all or none, and has them printed.

    Raises NotFound, InsufficientSlots, EventClosed.
    """
    with transaction() as session:
        block = books.locked(session, caller, event_id, block_id)
        claiming.check_event_open(block)
        check_free(block, count)
        pack_id = new_id()
        codes = [links.new_code() for _ in range(count)]
        given = {"pack_id": pack_id, "block_id": block_id, "count": count, "codes": codes}
        session.execute(CLAIM, {**given, **books.acting(books.organiser(caller), "print")})
        enqueue("allocations.print_pack", aggregate=block_id, pack_id=pack_id)
    return {"id": pack_id, "count": count, "status": QUEUED, "progress": 0}


def pack(caller: Caller, event_id: str, block_id: str, pack_id: str) -> dict[str, Any]:
    """How far a pack is. Raises NotFound."""
    row = _row(caller, event_id, block_id, pack_id)
    return {**row, "progress": 100 * row["drawn"] // row["count"]}


def packs(caller: Caller, event_id: str, block_id: str) -> list[dict[str, Any]]:
    """The packs of a block, the newest first, a hundred at most. Raises NotFound."""
    rows = (
        db.session.execute(
            select(AllocationBlock.id.label("of"), *PACK)
            .join(Event, Event.id == AllocationBlock.event_id)
            .outerjoin(TicketPack, TicketPack.block_id == AllocationBlock.id)
            .where(AllocationBlock.id == block_id, Event.id == event_id, owned(caller, READS))
            .order_by(TicketPack.created_at.desc(), TicketPack.id.desc())
            .limit(100)
        )
        .mappings()
        .all()
    )
    if not rows:
        raise NotFound()
    return [{**row, "progress": 100 * row["drawn"] // row["count"]} for row in rows if row["id"] is not None]


def printed(caller: Caller, event_id: str, block_id: str, pack_id: str) -> bytes:
    """A pack's document. Raises NotFound, PackNotReady, StorageUnavailable."""
    row = _row(caller, event_id, block_id, pack_id)
    release()
    if row["status"] != DONE:
        raise PackNotReady(retry_after=2, progress=100 * row["drawn"] // row["count"])
    data = storage.get(_name(pack_id))
    if data is None:
        raise NotFound()
    return data


def print_pack(run: Run, pack_id: str) -> None:
    """Draws a pack sheet by sheet, stores the document, and says how far it is. Done twice, it gives the same."""
    found = db.session.get(TicketPack, pack_id)
    release()
    if found is None or found.status == DONE:
        return
    with TemporaryFile() as out:
        tickets = _tickets(pack_id, found.count)
        first = next(tickets)
        title = f"{found.count} tickets for {first.event}"
        for drawn in pack_pdf(out, _with(first, tickets), title=title, organiser=first.organiser):
            if drawn % READ_AT_ONCE == 0:
                _say(run, pack_id, drawn, RUNNING)
        out.seek(0)
        storage.put(_name(pack_id), out.read(), content_type="application/pdf")
    _say(run, pack_id, found.count, DONE)


def _tickets(pack_id: str, count: int) -> Iterator[Ticket]:
    """The tickets of a pack in the order of their numbers, some hundred at a time."""
    for first in range(1, count + 1, READ_AT_ONCE):
        numbered = select(TicketPackSlot.slot_id).where(
            TicketPackSlot.pack_id == pack_id, TicketPackSlot.number.between(first, first + READ_AT_ONCE - 1)
        )
        found = selected(db.session(), AllocationSlot.id.in_(numbered))
        release()
        yield from found


def _with(first: Ticket, rest: Iterator[Ticket]) -> Iterator[Ticket]:
    yield first
    yield from rest


def _say(run: Run, pack_id: str, drawn: int, status: str) -> None:
    with transaction() as session:
        run.hold_in(session)
        _set(session, pack_id, drawn=drawn, status=status)


def _set(session: Session, pack_id: str, **values: Any) -> None:
    statement = update(TicketPack).where(TicketPack.id == pack_id, TicketPack.status != DONE).values(**values)
    session.execute(statement.execution_options(synchronize_session=False))


def _row(caller: Caller, event_id: str, block_id: str, pack_id: str) -> RowMapping:
    row = (
        db.session.execute(
            select(*PACK)
            .join(AllocationBlock, AllocationBlock.id == TicketPack.block_id)
            .join(Event, Event.id == AllocationBlock.event_id)
            .where(TicketPack.id == pack_id, AllocationBlock.id == block_id, Event.id == event_id, owned(caller, READS))
        )
        .mappings()
        .first()
    )
    if row is None:
        raise NotFound()
    return row


def _name(pack_id: str) -> str:
    return f"ticket-packs/{pack_id}.pdf"
