"""Booking a settlement file: all of it, or nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.core.ids import is_id
from app.core.spreadsheet import Rejected, RowError
from app.core.transaction import transaction
from app.ledger.settling import statements as sql
from app.ledger.settling.reading import Credit

PAGE = 5000


@dataclass(frozen=True)
class Settled:
    """What a settlement did, or with a dry run would do."""

    booked: int
    known: int
    amount_minor: int


class _DryRun(Exception):
    def __init__(self, found: Settled) -> None:
        super().__init__()
        self.found = found


def settle(
    credits: Sequence[Credit], *, dry_run: bool = False, seen: Callable[[int], None] = lambda count: None
) -> Settled:
    """Credits merchants with what they earned. A reference that is known is compared, never booked twice.

    `seen` is told how many credits of each page are booked. Raises Rejected.
    """
    try:
        with transaction() as session:
            for setting in sql.PATIENCE:
                session.execute(text(setting))
            session.execute(sql.ALONE)
            pages = [credits[start : start + PAGE] for start in range(0, len(credits), PAGE)]
            new = _new(session, pages)
            for page in pages:
                _book(session, [(item, new[item.reference]) for item in page if item.reference in new])
                seen(len(page))
            amount = sum(credit.amount_minor for credit in credits if credit.reference in new)
            found = Settled(len(new), len(credits) - len(new), amount)
            if dry_run:
                raise _DryRun(found)
    except _DryRun as dry:
        return dry.found
    return found


def _new(session: OrmSession, pages: Sequence[Sequence[Credit]]) -> dict[str, str]:
    """The merchant's id of each reference that is not booked yet; merchants are locked before anything is written."""
    owners = {item: owner for page in pages for item, owner in _owners(session, page).items()}
    errors, new = [], {}
    for page in pages:
        known = {
            row.reference: row for row in session.execute(sql.KNOWN, {"references": [it.reference for it in page]})
        }
        for item in page:
            owner, booked = owners.get(item.merchant), known.get(item.reference)
            if owner is None:
                errors.append(_error(item, "merchant", "unknown_merchant", "There is no such merchant.", item.merchant))
            elif booked is None:
                new[item.reference] = owner
            elif (booked.owner_id, booked.amount_minor) != (owner, item.amount_minor):
                sentence = f"Booked already, as {booked.amount_minor} cents for merchant {booked.owner_id}."
                errors.append(_error(item, "reference", "reference_taken", sentence, item.reference))
    if errors:
        raise Rejected(errors)
    return new


def _owners(session: OrmSession, page: Sequence[Credit]) -> dict[str, str]:
    named = {item.merchant for item in page}
    ids = sorted(item for item in named if is_id(item))
    rows = session.execute(sql.MERCHANTS, {"ids": ids, "emails": sorted(named.difference(ids))}).all()
    return {name: row.id for row in rows for name in (row.id, row.email)}


def _book(session: OrmSession, rows: Sequence[tuple[Credit, str]]) -> None:
    if rows:
        session.execute(
            sql.BOOK,
            {
                "references": [item.reference for item, _ in rows],
                "owners": [owner for _, owner in rows],
                "amounts": [item.amount_minor for item, _ in rows],
                "moments": [item.occurred_at for item, _ in rows],
                "descriptions": [item.description for item, _ in rows],
            },
        )


def _error(credit: Credit, column: str, code: str, message: str, value: str) -> RowError:
    return RowError(credit.row, column, code, message, value[:100])
