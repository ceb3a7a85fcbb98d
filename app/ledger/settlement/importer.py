"""Booking a settlement file: all of it, or nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.core.ids import is_id
from app.core.spreadsheet import Rejected, RowError
from app.core.transaction import transaction
from app.ledger.settlement import sql
from app.ledger.settlement.parser import Credit

PAGE_SIZE = 5000


@dataclass(frozen=True)
class SettlementResult:
    """What a settlement did, or with a dry run would do."""

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
    """Credits merchants with what they earned. A reference that is known is compared, never booked twice.

    `seen` is told how many credits of each page are booked. Raises Rejected.
    """
    try:
        with transaction() as session:
            for setting in sql.TIMEOUTS_SQL:
                session.execute(text(setting))
            session.execute(sql.LOCK_SETTLEMENT_SQL)
            pages = [credits[start : start + PAGE_SIZE] for start in range(0, len(credits), PAGE_SIZE)]
            owner_by_reference = _lock_unbooked_owners(session, pages)
            for page in pages:
                _book_credits(
                    session,
                    [
                        (page_credit, owner_by_reference[page_credit.reference])
                        for page_credit in page
                        if page_credit.reference in owner_by_reference
                    ],
                )
                on_progress(len(page))
            amount = sum(credit.amount_minor for credit in credits if credit.reference in owner_by_reference)
            result = SettlementResult(len(owner_by_reference), len(credits) - len(owner_by_reference), amount)
            if dry_run:
                raise _DryRunRollback(result)
    except _DryRunRollback as rollback:
        return rollback.result
    return result


def _lock_unbooked_owners(session: OrmSession, pages: Sequence[Sequence[Credit]]) -> dict[str, str]:
    """The merchant's id of each reference that is not booked yet; merchants are locked before anything is written."""
    owner_by_merchant = {item: owner for page in pages for item, owner in _lock_owners(session, page).items()}
    errors, owner_by_reference = [], {}
    for page in pages:
        booked_transactions = {
            row.reference: row
            for row in session.execute(
                sql.BOOKED_TRANSACTIONS_SQL, {"references": [credit.reference for credit in page]}
            )
        }
        for item in page:
            owner, booked_transaction = owner_by_merchant.get(item.merchant), booked_transactions.get(item.reference)
            if owner is None:
                errors.append(
                    _build_row_error(item, "merchant", "unknown_merchant", "There is no such merchant.", item.merchant)
                )
            elif booked_transaction is None:
                owner_by_reference[item.reference] = owner
            elif (booked_transaction.owner_id, booked_transaction.amount_minor) != (owner, item.amount_minor):
                message = f"Booked already, as {booked_transaction.amount_minor} cents for merchant {booked_transaction.owner_id}."
                errors.append(_build_row_error(item, "reference", "reference_taken", message, item.reference))
    if errors:
        raise Rejected(errors)
    return owner_by_reference


def _lock_owners(session: OrmSession, page: Sequence[Credit]) -> dict[str, str]:
    merchant_names = {item.merchant for item in page}
    ids = sorted(item for item in merchant_names if is_id(item))
    rows = session.execute(sql.LOCK_MERCHANTS_SQL, {"ids": ids, "emails": sorted(merchant_names.difference(ids))}).all()
    return {name: row.id for row in rows for name in (row.id, row.email)}


def _book_credits(session: OrmSession, rows: Sequence[tuple[Credit, str]]) -> None:
    if rows:
        session.execute(
            sql.BOOK_CREDITS_SQL,
            {
                "references": [credit.reference for credit, _ in rows],
                "owners": [owner for _, owner in rows],
                "amounts": [credit.amount_minor for credit, _ in rows],
                "moments": [credit.occurred_at for credit, _ in rows],
                "descriptions": [credit.description for credit, _ in rows],
            },
        )


def _build_row_error(credit: Credit, column: str, code: str, message: str, value: str) -> RowError:
    return RowError(credit.row, column, code, message, value[:100])
