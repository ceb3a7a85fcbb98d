"""Which stall fee a row of a bank statement pays.

A row pays a fee if its text has the application's reference and its amount is the whole fee.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date

from app.applications.fee_statement import MATCHED, UNMATCHED, MatchedRow, StatementRow
from app.applications.models import Application
from app.applications.states import ACCEPTED_STATES
from app.invoicing.transfers import find_day_problem


@dataclass
class StatementFees:
    """The applications by reference that a statement may name, and the ids of those whose payment is still on its way.

    `rows` has the row of the statement that pays or has paid a fee, by the application's id.
    """

    applications: Mapping[str, Application]
    unanswered_ids: Collection[str]
    rows: dict[str, StatementRow] = field(default_factory=dict)


def match_fee(row: StatementRow, fees: StatementFees, today: date) -> MatchedRow:
    """The row with the fee that it pays, or why it pays none. A fee is paid by the first row that may pay it."""
    applications = [fees.applications[name] for name in row.possible_references if name in fees.applications]
    if len(applications) != 1:
        return MatchedRow(row, UNMATCHED, row.problem or _find_reference_problem(row, len(applications)))
    (application,) = applications
    reason = row.problem or _find_problem(row, application, fees, today)
    if reason is None:
        fees.rows[application.id] = row
    status = UNMATCHED if reason else MATCHED
    return MatchedRow(row, status, reason, application, application.event_id)


def _find_reference_problem(row: StatementRow, known: int) -> str:
    if known:
        return "several_references"
    return "unknown_reference" if row.possible_references else "no_reference"


def _find_problem(row: StatementRow, application: Application, fees: StatementFees, today: date) -> str | None:
    earlier = fees.rows.get(application.id)
    if earlier and (application.paid_at is None or earlier.transfer == row.transfer):
        return "repeated"
    if application.paid_at is not None:
        return "paid_already"
    if application.status not in ACCEPTED_STATES or not application.payment_due:
        return "nothing_due"
    if row.amount_minor != application.amount_minor:
        return "wrong_amount"
    day_problem = row.day and find_day_problem(row.day, today=today)
    return day_problem or ("payment_in_progress" if application.id in fees.unanswered_ids else None)
