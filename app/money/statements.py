"""Recording the stall fees and the invoices of blocks that a bank statement shows as received.

A row pays an invoice if its text has the number of one invoice of the event and no reference of an application, and its
amount is what is due or a part of it. For a row without a reference a person may choose what it pays; it is then
recorded with the reference in front of its text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple
from zoneinfo import ZoneInfo

from app.accounts.caller import Caller
from app.allocations.invoice_payments import OpenInvoice, lock_invoices, record_invoice_payment
from app.applications.actions.fee_statements import MAX_TEXT, match_fees, record_fee
from app.applications.fee_statement import (
    MATCHED,
    RECORDED,
    UNMATCHED,
    MatchedRow,
    StatementRow,
    parse_statement,
    write_statement,
)
from app.applications.states import ACCEPTED_STATES
from app.core.db import ReadOrWriteSession, database_now, fetch_rows, release_connection
from app.core.formatting import HOME
from app.core.transaction import transaction
from app.events.queries import get_event
from app.invoicing.transfers import find_day_problem
from app.money.sql import OPEN_PAYMENTS_SQL

MAX_ROWS_TO_ASSIGN, MAX_CANDIDATES = 100, 50
"""What a page lists, at most."""


@dataclass(frozen=True)
class StatementResult:
    """The rows of a statement, and whether what they pay was only looked for."""

    dry_run: bool
    rows: list[MatchedRow]


class OpenPayment(NamedTuple):
    """A fee or an invoice of a block that is not paid: the reference or number, who pays it, and what is due in cents."""

    reference: str
    name: str
    due_minor: int
    is_payable_in_parts: bool

    def can_be_paid_by(self, row: StatementRow) -> bool:
        if row.amount_minor is None or row.day is None or row.problem:
            return False
        return row.amount_minor <= self.due_minor if self.is_payable_in_parts else row.amount_minor == self.due_minor


RowToAssign = tuple[MatchedRow, list[OpenPayment]]


def list_rows_to_assign(caller: Caller, event_id: str, rows: Sequence[MatchedRow]) -> list[RowToAssign]:
    """The first rows without a reference of the event, each with what it may pay by its amount; not those without any.

    Raises NotFound.
    """
    nameless_rows = [matched for matched in rows if matched.reason in ("no_reference", "unknown_reference")]
    open_payments = list_open_payments(caller, event_id) if nameless_rows else []
    candidates = (
        (matched, [payment for payment in open_payments if payment.can_be_paid_by(matched.row)])
        for matched in nameless_rows
    )
    return [(matched, payments[:MAX_CANDIDATES]) for matched, payments in candidates if payments][:MAX_ROWS_TO_ASSIGN]


def list_open_payments(caller: Caller, event_id: str) -> list[OpenPayment]:
    """The fees and the invoices of blocks of an event for which money is due. Raises NotFound."""
    params = {"event": get_event(caller, event_id).id, "states": [*ACCEPTED_STATES]}
    return [*map(OpenPayment._make, fetch_rows(OPEN_PAYMENTS_SQL, params))]


def add_references(data: bytes, references: Sequence[str]) -> bytes:
    """The statement with a reference in front of the text of each of its last rows; an empty one leaves the row as it is.

    Raises StatementUnreadable.
    """
    rows = parse_statement(data)
    first = max(0, len(rows) - len(references))
    chosen = [
        replace(row, text=f"{reference} {row.text}") if reference else row
        for row, reference in zip(rows[first:], references, strict=False)
    ]
    return write_statement([*rows[:first], *chosen]).encode()


def import_statement(caller: Caller, event_id: str, data: bytes, *, dry_run: bool) -> StatementResult:
    """Records every fee and invoice of the event that a row of the statement pays, all together, or with `dry_run` none.

    A row that was recorded before changes nothing. Raises NotFound, StatementUnreadable.
    """
    get_event(caller, event_id)
    release_connection()
    rows = parse_statement(data)
    with transaction() as session:
        matched_rows = match_fees(session, event_id, rows)
        invoices = lock_invoices(session, event_id, {number for row in rows for number in row.possible_numbers})
        if invoices:
            today = database_now().astimezone(ZoneInfo(HOME)).date()
            matched_rows = [_match_invoice(matched, invoices, today) for matched in matched_rows]
        if not dry_run:
            _record(session, caller, event_id, matched_rows, invoices)
    return StatementResult(dry_run, matched_rows)


def _match_invoice(matched: MatchedRow, invoices: Mapping[str, OpenInvoice], today: date) -> MatchedRow:
    """The row with the invoice that it pays, or why it does not; as it is, if it is about no invoice."""
    row, numbers = matched.row, [number for number in sorted(matched.row.possible_numbers) if number in invoices]
    if not numbers or matched.application or matched.reason == "several_references":
        return matched
    if len(numbers) > 1:
        return replace(matched, reason="several_references")
    invoice = invoices[numbers[0]]
    matched = replace(matched, invoice_number=numbers[0], block_id=invoice.block_id)
    if row.problem or row.day is None or row.amount_minor is None:
        return replace(matched, reason=row.problem)
    transfer = (row.amount_minor, row.day)
    if transfer in invoice.seen_transfers:
        return replace(matched, reason="repeated")
    invoice.seen_transfers.add(transfer)
    if transfer in invoice.transfers:
        return replace(matched, status=RECORDED, reason=None)
    reason = find_day_problem(row.day, today=today)
    if row.amount_minor > invoice.due_minor:
        reason = "more_than_due" if invoice.due_minor > 0 else "invoice_settled"
    if reason is None:
        invoice.due_minor -= row.amount_minor
    return replace(matched, status=UNMATCHED if reason else MATCHED, reason=reason)


def _record(
    session: ReadOrWriteSession,
    caller: Caller,
    event_id: str,
    rows: Sequence[MatchedRow],
    invoices: Mapping[str, OpenInvoice],
) -> None:
    for matched in rows:
        if matched.status != MATCHED:
            continue
        if matched.invoice_number is None:
            record_fee(session, caller, matched)
            continue
        assert matched.row.amount_minor is not None and matched.row.day is not None
        record_invoice_payment(
            session,
            caller,
            event_id,
            invoices[matched.invoice_number].block_id,
            amount_minor=matched.row.amount_minor,
            reference=matched.row.text[:MAX_TEXT],
            received_on=matched.row.day,
            part=True,
        )
