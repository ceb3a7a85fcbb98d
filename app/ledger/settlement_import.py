"""Import of a settlement file into the ledger: all rows become credits, or none and errors with row and column."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.audit.actions import Action
from app.audit.log import record
from app.core import spreadsheet_cells
from app.core.db import database_now, fetch_row, fetch_rows
from app.core.formatting import HOME
from app.core.ids import is_id
from app.core.spreadsheet import NotASheet, Rejected, Row, RowError, Sheet, repeated
from app.core.spreadsheet_cells import BadCell
from app.core.transaction import lock_name, transaction
from app.ledger import sql

COLUMNS = ("reference", "merchant", "amountMinor", "occurredAt", "description")
REQUIRED_COLUMNS = ("reference", "merchant", "amountMinor")
Value = TypeVar("Value")


class Credit(NamedTuple):
    """A row of the file: an earning of a merchant, in cents, identified by its reference."""

    row: int
    reference: str
    merchant: str
    amount_minor: int
    occurred_at: datetime | None
    description: str | None


class ParsedSettlement(NamedTuple):
    """The credits of a file, and the errors of its other rows."""

    credits: list[Credit]
    errors: list[RowError]


def parse_settlement(sheet: Sheet, rows: Iterable[Row] | None = None) -> ParsedSettlement:
    """Parse a sheet. `rows` may be the sheet's rows in a progress bar. Raises NotASheet."""
    column_names = _match_columns(sheet.header)
    settlement = ParsedSettlement([], [])
    first_rows: dict[str, int] = {}
    now = database_now()
    for row in sheet.rows if rows is None else rows:
        credit = _RowParser(column_names, row, settlement.errors, now).parse_credit()
        if credit is None:
            continue
        if duplicate_error := repeated(first_rows, credit.reference, row.number):
            settlement.errors.append(duplicate_error)
        settlement.credits.append(credit)
    return settlement


def _match_columns(header: list[str]) -> dict[str, str]:
    """The file's name of each of our columns. Case, blanks and punctuation are ignored. Raises NotASheet."""
    normalized_names = {re.sub(r"[^a-z]", "", name.casefold()): name for name in header}
    column_names = {
        column: normalized_names[column.lower()] for column in COLUMNS if column.lower() in normalized_names
    }
    missing = [column for column in REQUIRED_COLUMNS if column not in column_names]
    if missing:
        raise NotASheet(f"The file has no column {', '.join(missing)}; a settlement has {', '.join(COLUMNS)}.")
    return column_names


class _RowParser:
    """The parser of one row. It appends problems to `errors`."""

    def __init__(self, column_names: dict[str, str], row: Row, errors: list[RowError], now: datetime) -> None:
        self.column_names, self.row, self.errors, self.now = column_names, row, errors, now

    def parse_credit(self) -> Credit | None:
        error_count = len(self.errors)
        if self.row.surplus:
            self._add_error("", "too_many_cells", "The row has more cells than the header has columns.", "")
        reference = self._parse_cell("reference", lambda cell: spreadsheet_cells.parse_text(cell, longest=120))
        merchant = self._parse_cell("merchant", _parse_merchant)
        amount_minor = self._parse_cell("amountMinor", _parse_amount)
        occurred_at = self._parse_cell("occurredAt", lambda cell: _parse_moment(cell, self.now))
        description = self._parse_cell("description", lambda cell: spreadsheet_cells.parse_text(cell, longest=200))
        if len(self.errors) > error_count or reference is None or merchant is None or amount_minor is None:
            return None
        return Credit(self.row.number, reference, merchant, amount_minor, occurred_at, description)

    def _parse_cell(self, column: str, parse_value: Callable[[str], Value]) -> Value | None:
        cell = self.row.cells[self.column_names[column]] if column in self.column_names else ""
        try:
            if not cell and column in REQUIRED_COLUMNS:
                raise BadCell("required", "Must not be empty.")
            return parse_value(cell) if cell else None
        except BadCell as error:
            self._add_error(column, error.code, str(error), cell)
            return None

    def _add_error(self, column: str, code: str, message: str, cell: str) -> None:
        self.errors.append(RowError(self.row.number, column, code, message, cell[:100]))


def _parse_merchant(cell: str) -> str:
    return cell.lower() if is_id(cell.lower()) else spreadsheet_cells.parse_email(cell)


def _parse_amount(cell: str) -> int:
    amount = spreadsheet_cells.parse_whole_cents(cell)
    if amount == 0:
        raise BadCell("too_small", "Must be at least 1.")
    return amount


def _parse_moment(cell: str, now: datetime) -> datetime:
    """The time in UTC. A naive time is local to Windhoek. Raises BadCell for a time in the future."""
    moment = spreadsheet_cells.parse_time(cell)
    aware_moment = moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(HOME))
    if aware_moment > now:
        raise BadCell("too_large", "Must not be in the future.")
    return aware_moment.astimezone(UTC)


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
            record(session, Action.SETTLEMENT_IMPORTED, data={"credits": result.booked_count, "amountMinor": amount})
    except _DryRunRollback as rollback:
        return rollback.result
    return result


def _lock_import(session: OrmSession) -> None:
    for setting in sql.SETTLEMENT_TIMEOUTS:
        session.execute(text(setting))
    # One import at a time: of two files with the same reference, the second sees what the first posted.
    lock_name(session, "ledger-settlements")


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
