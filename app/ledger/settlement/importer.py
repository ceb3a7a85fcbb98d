"""Import of a settlement file into the ledger: all rows or none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.core.db import fetch_row, fetch_rows
from app.core.ids import is_id
from app.core.spreadsheet import Rejected, RowError
from app.core.transaction import transaction
from app.ledger import sql
from app.ledger.settlement.parser import Credit

PAGE_SIZE = 5000


@dataclass(frozen=True)
class SettlementResult:
    """What an import did, or with `dry_run` would do. The amount is that of the posted credits, in cents."""

    booked_count: int
    known_count: int
    amount_minor: int


class _DryRunRollback(Exception):
    def __init__(self, result: SettlementResult) -> None:
        super().__init__()
        self.result = result


def import_settlement(
    credits: Sequence[Credit], *, dry_run: bool = False, on_progress: Callable[[int], None] = lambda count: None
) -> SettlementResult:
    """Credit merchants with their earnings. A reference that was posted before is compared, never posted twice.

    `on_progress` gets the number of credits of each page after it is posted. Raises Rejected.
    """
    try:
        with transaction() as session:
            _lock_import(session)
            pages = [credits[start : start + PAGE_SIZE] for start in range(0, len(credits), PAGE_SIZE)]
            owner_by_reference = _lock_unposted_owners(pages)
            for page in pages:
                _post_credits([credit for credit in page if credit.reference in owner_by_reference], owner_by_reference)
                on_progress(len(page))
            amount = sum(credit.amount_minor for credit in credits if credit.reference in owner_by_reference)
            result = SettlementResult(len(owner_by_reference), len(credits) - len(owner_by_reference), amount)
            if dry_run:
                raise _DryRunRollback(result)
    except _DryRunRollback as rollback:
        return rollback.result
    return result


def _lock_import(session: OrmSession) -> None:
    for setting in sql.SETTLEMENT_TIMEOUTS:
        session.execute(text(setting))
    session.execute(text(sql.LOCK_SETTLEMENTS))


def _lock_unposted_owners(pages: Sequence[Sequence[Credit]]) -> dict[str, str]:
    """The merchant's id for each reference that is not posted yet. All merchants are locked before the first write."""
    owner_by_merchant = {merchant: owner for page in pages for merchant, owner in _lock_owners(page).items()}
    errors: list[RowError] = []
    owner_by_reference: dict[str, str] = {}
    for page in pages:
        posted_rows = fetch_rows(sql.POSTED_SETTLEMENTS, {"references": [credit.reference for credit in page]})
        posted_by_reference = {reference: (owner_id, amount) for reference, owner_id, amount in posted_rows}
        for credit in page:
            owner, posted = owner_by_merchant.get(credit.merchant), posted_by_reference.get(credit.reference)
            if owner is None:
                errors.append(
                    _build_row_error(
                        credit, "merchant", "unknown_merchant", "There is no such merchant.", credit.merchant
                    )
                )
            elif posted is None:
                owner_by_reference[credit.reference] = owner
            elif posted != (owner, credit.amount_minor):
                posted_owner, posted_amount = posted
                message = f"Booked already, as {posted_amount} cents for merchant {posted_owner}."
                errors.append(_build_row_error(credit, "reference", "reference_taken", message, credit.reference))
    if errors:
        raise Rejected(errors)
    return owner_by_reference


def _lock_owners(page: Sequence[Credit]) -> dict[str, str]:
    """The ids of the page's merchants by what the file calls them: an id or an email address."""
    merchants = {credit.merchant for credit in page}
    ids = sorted(merchant for merchant in merchants if is_id(merchant))
    rows = fetch_rows(sql.LOCK_MERCHANTS, {"ids": ids, "emails": sorted(merchants.difference(ids))})
    return {merchant: owner_id for owner_id, email in rows for merchant in (owner_id, email)}


def _post_credits(credits: Sequence[Credit], owner_by_reference: dict[str, str]) -> None:
    if credits:
        fetch_row(
            sql.POST_CREDITS,
            {
                "references": [credit.reference for credit in credits],
                "owner_ids": [owner_by_reference[credit.reference] for credit in credits],
                "amounts": [credit.amount_minor for credit in credits],
                "occurred_at": [credit.occurred_at for credit in credits],
                "descriptions": [credit.description for credit in credits],
            },
        )


def _build_row_error(credit: Credit, column: str, code: str, message: str, cell: str) -> RowError:
    return RowError(credit.row, column, code, message, cell[:100])
