"""Which stall fee each row of a bank statement pays, and which rows are transfers that are recorded.

A row pays a fee if its text has the application's reference and its amount is the whole fee.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date

from app.applications.fee_statement import (
    MATCHED,
    MAX_TEXT,
    RECORDED,
    UNMATCHED,
    MatchedRow,
    StatementRow,
    build_assigned_text,
)
from app.applications.models import Application, StallFeeRecord
from app.applications.states import ACCEPTED_STATES
from app.invoicing.transfers import find_day_problem


def match_rows(
    rows: Sequence[StatementRow],
    applications: Mapping[str, Application],
    records: Mapping[str, StallFeeRecord],
    *,
    unanswered_ids: set[str],
    today: date,
) -> list[MatchedRow]:
    """Each row with what it pays. `applications` are those of the events by reference, `records` by application."""
    named = [
        [applications[reference] for reference in row.possible_references if reference in applications] for row in rows
    ]
    recorded_positions = _find_recorded_positions(rows, named, records)
    matched: list[MatchedRow] = []
    seen: dict[str, StatementRow] = {}
    for position, (row, candidates) in enumerate(zip(rows, named, strict=True)):
        application = candidates[0] if len(candidates) == 1 else None
        status, reason = UNMATCHED, row.problem or _find_reference_problem(row, candidates)
        if application is not None and reason is None:
            earlier = seen.get(application.id)
            if recorded_positions.get(application.id) == position:
                status = RECORDED
            elif earlier and (application.paid_at is None or earlier.transfer == row.transfer):
                reason = "repeated"
            else:
                reason = _find_problem(row, application, is_unanswered=application.id in unanswered_ids, today=today)
                status = MATCHED if reason is None else UNMATCHED
            if status != UNMATCHED:
                seen[application.id] = row
        matched.append(MatchedRow(row, status, reason, application, application.event_id if application else None))
    return matched


def _find_recorded_positions(
    rows: Sequence[StatementRow], named: Sequence[Sequence[Application]], records: Mapping[str, StallFeeRecord]
) -> dict[str, int]:
    """Which row is the transfer that is recorded for an application, by its id: one with the amount and the day.

    The first that names it with the text that was recorded, else the first without a reference that has this text or got the
    reference from a person, else the first that names it: a person may have recorded it with any text.
    """
    recorded: dict[tuple[int | None, date | None], list[tuple[Application, str | None]]] = defaultdict(list)
    for application in {it.id: it for candidates in named for it in candidates}.values():
        if record := records.get(application.id):
            recorded[record.amount_minor, record.received_on].append((application, record.reference))
    best: dict[str, tuple[int, int]] = {}
    for position, (row, candidates) in enumerate(zip(rows, named, strict=True)):
        for application, text in recorded.get((row.amount_minor, row.day), ()):
            rank = _rank(row, candidates, application, text)
            if rank is not None:
                best[application.id] = min((rank, position), best.get(application.id, (rank, position)))
    return {application_id: position for application_id, (_, position) in best.items()}


def _rank(
    row: StatementRow, candidates: Sequence[Application], application: Application, text: str | None
) -> int | None:
    """How likely a row is the transfer with this text of an application, 0 the most; None if it is not."""
    if row.is_assigned_now:
        return None
    if list(candidates) == [application] and row.text[:MAX_TEXT] == text:
        return 0
    if row.problem:
        return None
    assigned_text = build_assigned_text(application.reference, row.text)[:MAX_TEXT]
    if text == assigned_text or (text == row.text[:MAX_TEXT] and not candidates):
        return 1
    return 2 if list(candidates) == [application] else None


def _find_reference_problem(row: StatementRow, candidates: Sequence[Application]) -> str | None:
    if len(candidates) == 1:
        return None
    if candidates:
        return "several_references"
    return "unknown_reference" if row.possible_references else "no_reference"


def _find_problem(row: StatementRow, application: Application, *, is_unanswered: bool, today: date) -> str | None:
    if application.paid_at is not None:
        return "paid_already"
    if row.was_recorded:
        return "taken_back"
    if application.status not in ACCEPTED_STATES or not application.payment_due:
        return "nothing_due"
    if row.amount_minor != application.amount_minor:
        return "wrong_amount"
    day_problem = row.day and find_day_problem(row.day, today=today)
    return day_problem or ("payment_in_progress" if is_unanswered else None)
