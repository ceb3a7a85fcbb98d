"""Which stall fee each row of a bank statement pays, and which rows are transfers that are recorded.

A row pays a fee if its text has the application's reference and its amount is the whole fee.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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

MAX_ASSIGNED_TEXT = MAX_TEXT - len(build_assigned_text("MA-" + "0" * 8, ""))
"""How much of a row's text is recorded behind the reference of an application."""


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
    ids_by_text: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for application in {it.id: it for candidates in named for it in candidates}.values():
        record = records.get(application.id)
        if record and record.reference is not None:
            prefix, transfer = build_assigned_text(application.reference, ""), (record.amount_minor, record.received_on)
            ids_by_text[*transfer, False, record.reference].append(application.id)
            if record.reference.startswith(prefix):
                text = record.reference.removeprefix(prefix)
                ids_by_text[*transfer, True, text].append(application.id)
    best: dict[str, tuple[int, int]] = {}
    for position, (row, candidates) in enumerate(zip(rows, named, strict=True)):
        for rank, application_id in _list_ranks(row, candidates, records, ids_by_text):
            best[application_id] = min((rank, position), best.get(application_id, (rank, position)))
    return {application_id: position for application_id, (_, position) in best.items()}


def _list_ranks(
    row: StatementRow,
    candidates: Sequence[Application],
    records: Mapping[str, StallFeeRecord],
    ids_by_text: Mapping[tuple[object, ...], Sequence[str]],
) -> Iterator[tuple[int, str]]:
    """Of which applications a row may be the recorded transfer, and how likely, 0 the most.

    `ids_by_text` has the applications by amount, day, whether the text stood behind a chosen reference, and the text.
    """
    if row.is_assigned_now:
        return
    named_id = candidates[0].id if len(candidates) == 1 else ""
    record = records.get(named_id)
    is_transfer = record and (record.amount_minor, record.received_on) == (row.amount_minor, row.day)
    if record and is_transfer and record.reference == row.text[:MAX_TEXT]:
        yield 0, named_id
    if row.problem:
        return
    if is_transfer:
        yield 2, named_id
    keys = [(row.amount_minor, row.day, True, row.text[:MAX_ASSIGNED_TEXT])]
    if not candidates:
        keys.append((row.amount_minor, row.day, False, row.text[:MAX_TEXT]))
    for key in keys:
        yield from ((1, application_id) for application_id in ids_by_text.get(key, ()))


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
