"""Recording the stall fees and the invoices of blocks that a bank statement shows as received.

A row pays an invoice if its text has the number of one invoice of the event, or of all events of an organisation, and no
reference of an application, and its amount is what is due or a part of it. Of equal rows the first ones are the transfers
of this amount and day that are recorded, and the others are further payments. For a row without a reference a person may
choose what it pays; it is then recorded with the reference in front of its text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

from sqlalchemy import select

from app.accounts.caller import Caller
from app.allocations.invoice_payments import (
    OpenInvoice,
    enqueue_receipts,
    lock_invoices,
    record_invoice_payment,
)
from app.applications.actions.fee_statements import match_fees, record_fee
from app.applications.errors import StatementUnreadable
from app.applications.fee_statement import (
    MATCHED,
    MAX_TEXT,
    RECORDED,
    UNMATCHED,
    MatchedRow,
    StatementRow,
    build_assigned_text,
    parse_statement,
)
from app.applications.models import Application
from app.applications.states import ACCEPTED_STATES
from app.core.db import ReadOrWriteSession, database_now, fetch_rows, release_connection
from app.core.formatting import HOME
from app.core.languages import gettext
from app.core.transaction import lock_name, transaction
from app.invoicing.transfers import find_day_problem
from app.money.recorded_transfers import ASSIGNABLE_REASONS, take_transfers
from app.money.sql import OPEN_PAYMENTS_SQL
from app.money.statement_events import OrganisationEvents, find_event_names, find_organisation_events

MAX_ROWS_TO_ASSIGN = 100
MAX_RECORDED = 500
"""How many fees and invoices are recorded at once. Each takes some 14 ms, and the proxy waits for 35 seconds."""


@dataclass(frozen=True)
class StatementResult:
    """The rows of a statement, whether what they pay was only looked for, and the names of the events by id."""

    dry_run: bool
    rows: list[MatchedRow]
    event_names: Mapping[str, str]


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

    The rows that were recorded before are with them, marked, where others have their amount and day, for these are told
    apart by their number.
    """
    new_rows = [matched.row for matched in rows if matched.status == MATCHED] + [
        matched.row for matched, _ in rows_to_assign
    ]
    keys = {(row.amount_minor, row.day) for row in new_rows}
    recorded_rows = [replace(matched.row, was_recorded=True) for matched in rows if matched.status == RECORDED]
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
    return max(0, min(MAX_ROWS_TO_ASSIGN, MAX_RECORDED - sum(matched.status == MATCHED for matched in rows)))


def list_open_payments(caller: Caller, event_id: str | None) -> list[OpenPayment]:
    """The fees and the invoices of blocks of an event, or of all events, for which money is due. Raises NotFound."""
    params = {"events": [*find_event_names(caller, event_id)], "states": [*ACCEPTED_STATES]}
    return [*map(OpenPayment._make, fetch_rows(OPEN_PAYMENTS_SQL, params))]


def import_statement(
    caller: Caller,
    event_id: str | None,
    data: bytes,
    *,
    dry_run: bool,
    references: Sequence[str] | None = None,
    mapping: Mapping[str, str] | None = None,
) -> StatementResult:
    """Records every fee and invoice of the event that a row of the statement pays, all together, or with `dry_run` none.

    Without an event they are those of all events of the caller's organisation, each recorded at its event.
    A statement that `write_statement` has written has `references`: those that a person has chosen for the last rows, empty
    for a row without a choice. `mapping` has the column of each field; without it the columns have the words of banks. A
    row that was recorded before, at any event of the organisation, changes nothing. Those who record wait for each other.
    Raises NotFound, and StatementUnreadable for one that pays too many fees at once.
    """
    event_names = find_event_names(caller, event_id)
    event_ids = [*event_names]
    organisation = find_organisation_events(caller, event_ids)
    release_connection()
    rows = parse_statement(data, mapping, has_marks=references is not None)
    with transaction() as session:
        if not dry_run:
            lock_name(session, f"bank-statement:{organisation.organisation_id}")
        if references:
            rows = _add_references(event_ids, organisation, rows, references)
        matched_rows = match_fees(session, event_ids, rows)
        invoices = lock_invoices(session, event_ids, {number for row in rows for number in row.possible_numbers})
        matched_rows = _find_recorded(session, event_ids, organisation, matched_rows, invoices)
        if invoices:
            today = database_now().astimezone(ZoneInfo(HOME)).date()
            matched_rows = [_match_invoice(matched, invoices, today) for matched in matched_rows]
        _check_count(matched_rows)
        if not dry_run:
            _record(session, caller, matched_rows, invoices)
    return StatementResult(dry_run, matched_rows, {**event_names, **organisation.names})


def _add_references(
    event_ids: Sequence[str], organisation: OrganisationEvents, rows: list[StatementRow], references: Sequence[str]
) -> list[StatementRow]:
    """The rows; each of the last ones with its reference in front of its text, unless it was recorded before.

    Raises StatementUnreadable.
    """
    if any(row.day is None or row.amount_minor is None for row in rows):
        raise StatementUnreadable(gettext("This form does not work any more. Open the page again."))
    first = max(0, len(rows) - len(references))
    unmatched = [MatchedRow(row, UNMATCHED, ASSIGNABLE_REASONS[0]) for row in rows]
    transfers = take_transfers(event_ids, organisation.ids, unmatched)
    assigned = [
        replace(row, text=build_assigned_text(reference, row.text), is_assigned_now=True)
        if reference and transfer is None and not row.was_recorded
        else row
        for row, transfer, reference in zip(rows[first:], transfers[first:], references, strict=False)
    ]
    return [*rows[:first], *assigned]


def _find_recorded(
    session: ReadOrWriteSession,
    event_ids: Sequence[str],
    organisation: OrganisationEvents,
    rows: list[MatchedRow],
    invoices: Mapping[str, OpenInvoice],
) -> list[MatchedRow]:
    """The rows; one whose transfer was recorded with its text, with what it paid then.

    What was paid is taken from the transfers of the invoices. What was paid at an event that the caller may not see is left
    out.
    """
    taken = take_transfers(event_ids, organisation.ids, rows)
    for transfer in filter(None, taken):
        if transfer.block_id and transfer.reference in invoices:
            invoices[transfer.reference].take_transfer(transfer.amount_minor, transfer.received_on)
    ids = {it.application_id for it in taken if it and it.application_id and it.event_id in organisation.names}
    statement = select(Application).where(Application.id.in_(ids))
    applications = {application.id: application for application in session.scalars(statement)} if ids else {}
    return [
        matched
        if transfer is None or matched.status == RECORDED
        else MatchedRow(matched.row, RECORDED)
        if transfer.event_id not in organisation.names
        else MatchedRow(
            matched.row,
            RECORDED,
            application=applications.get(transfer.application_id or ""),
            event_id=transfer.event_id,
            invoice_number=transfer.reference if transfer.block_id else None,
            block_id=transfer.block_id,
        )
        for matched, transfer in zip(rows, taken, strict=True)
    ]


def _match_invoice(matched: MatchedRow, invoices: Mapping[str, OpenInvoice], today: date) -> MatchedRow:
    """The row with the invoice that it pays, or why it does not; as it is, if it is about no invoice."""
    row, numbers = matched.row, [number for number in sorted(matched.row.possible_numbers) if number in invoices]
    if not numbers or matched.application or matched.status == RECORDED or matched.reason == "several_references":
        return matched
    if len(numbers) > 1:
        return replace(matched, reason="several_references")
    invoice = invoices[numbers[0]]
    matched = replace(matched, event_id=invoice.event_id, invoice_number=numbers[0], block_id=invoice.block_id)
    if row.problem or row.day is None or row.amount_minor is None:
        return replace(matched, reason=row.problem)
    if invoice.take_transfer(row.amount_minor, row.day):
        return replace(matched, status=RECORDED, reason=None)
    reason = "taken_back" if row.was_recorded else find_day_problem(row.day, today=today)
    if row.amount_minor > invoice.due_minor:
        reason = "more_than_due" if invoice.due_minor > 0 else "invoice_settled"
    if reason is None:
        invoice.due_minor -= row.amount_minor
    return replace(matched, status=UNMATCHED if reason else MATCHED, reason=reason)


def _check_count(rows: Sequence[MatchedRow]) -> None:
    """Raises StatementUnreadable."""
    count = sum(matched.status == MATCHED for matched in rows)
    if count > MAX_RECORDED:
        raise StatementUnreadable(
            gettext(
                "This statement pays %(count)s fees and invoices, and at most %(most)s can be recorded at once. Send it "
                "in parts.",
                count=count,
                most=MAX_RECORDED,
            )
        )


def _record(
    session: ReadOrWriteSession,
    caller: Caller,
    rows: Sequence[MatchedRow],
    invoices: Mapping[str, OpenInvoice],
) -> None:
    """Record what the rows pay, event by event: those who record others at the same events lock in the same order."""
    receipts = []
    for matched in sorted(rows, key=lambda matched: matched.event_id or ""):
        if matched.status != MATCHED:
            continue
        if matched.invoice_number is None:
            record_fee(session, caller, matched)
            continue
        assert matched.row.amount_minor is not None and matched.row.day is not None
        invoice = invoices[matched.invoice_number]
        receipt = record_invoice_payment(
            session,
            caller,
            invoice.event_id,
            invoice.block_id,
            amount_minor=matched.row.amount_minor,
            reference=matched.row.text[:MAX_TEXT],
            received_on=matched.row.day,
            part=True,
            is_another=True,
        )
        if receipt:
            receipts.append(receipt)
    enqueue_receipts(session, receipts)
