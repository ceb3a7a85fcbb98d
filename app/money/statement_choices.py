"""The rows of a bank statement for which a person may choose what they pay, and what there is to choose from."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

from app.accounts.caller import Caller
from app.applications.fee_statement import MATCHED, MatchedRow, StatementRow
from app.applications.states import ACCEPTED_STATES
from app.core.db import database_now, fetch_rows
from app.core.formatting import HOME
from app.invoicing.transfers import find_day_problem
from app.money import statements
from app.money.sql import OPEN_PAYMENTS_SQL
from app.money.statement_events import find_event_names

ASSIGNABLE_REASONS = ("no_reference", "unknown_reference")
"""The reasons of rows that a person may assign."""
MAX_ROWS_TO_ASSIGN = 100


class OpenPayment(NamedTuple):
    """A fee or an invoice of a block that is not paid: the reference or number, who pays it, and what is due in cents."""

    reference: str
    name: str
    due_minor: int
    is_payable_in_parts: bool
    event_name: str

    def can_be_paid_by(self, row: StatementRow) -> bool:
        if row.amount_minor is None or row.problem:
            return False
        return row.amount_minor <= self.due_minor if self.is_payable_in_parts else row.amount_minor == self.due_minor


RowToAssign = tuple[MatchedRow, list[OpenPayment]]


def list_rows_to_record(rows: Sequence[MatchedRow], rows_to_assign: Sequence[RowToAssign]) -> list[StatementRow]:
    """The rows with which a checked statement is recorded; those to assign are the last ones.

    The rows that are recorded transfers are with them where others have their amount and day: each is that transfer again.
    """
    new_rows = [matched.row for matched in rows if matched.status == MATCHED] + [
        matched.row for matched, _ in rows_to_assign
    ]
    keys = {(row.amount_minor, row.day) for row in new_rows}
    recorded_rows = [matched.row for matched in rows if matched.is_transfer]
    return [*(row for row in recorded_rows if (row.amount_minor, row.day) in keys), *new_rows]


def list_rows_to_assign(caller: Caller, event_id: str | None, rows: Sequence[MatchedRow]) -> list[RowToAssign]:
    """The first rows that a person may assign, each with what it may pay by its amount; not those without any.

    There are at most a hundred, and no more than can be recorded at once with the other rows. A fee that another row
    pays is left out. Raises NotFound.
    """
    today = database_now().astimezone(ZoneInfo(HOME)).date()
    assignable_rows = [
        matched
        for matched in rows
        if matched.reason in ASSIGNABLE_REASONS
        and matched.row.day
        and not find_day_problem(matched.row.day, today=today)
    ]
    paid = {matched.application.reference for matched in rows if matched.status == MATCHED and matched.application}
    open_payments = list_open_payments(caller, event_id) if assignable_rows else []
    candidates = (
        (matched, [it for it in open_payments if it.reference not in paid and it.can_be_paid_by(matched.row)])
        for matched in assignable_rows
    )
    return list(islice((row for row in candidates if row[1]), count_assignable(rows)))


def count_assignable(rows: Sequence[MatchedRow]) -> int:
    """How many rows a person may assign at once, beside those that pay something without it."""
    return max(0, min(MAX_ROWS_TO_ASSIGN, statements.MAX_RECORDED - sum(matched.status == MATCHED for matched in rows)))


def list_open_payments(caller: Caller, event_id: str | None) -> list[OpenPayment]:
    """The fees and the invoices of blocks of an event, or of all events, for which money is due. Raises NotFound."""
    params = {"events": [*find_event_names(caller, event_id)], "states": [*ACCEPTED_STATES]}
    return [*map(OpenPayment._make, fetch_rows(OPEN_PAYMENTS_SQL, params))]
