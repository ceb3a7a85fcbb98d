"""Recording the stall fees and the invoices of blocks that a bank statement shows as received.

A row pays an invoice if its text has the number of one invoice of the event, or of all events of an organisation, and no
reference of an application, and its amount is what is due or a part of it. A row that is recorded pays nothing. For
a row without a reference a person may choose what it pays; it is then recorded with the reference in front of its text.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from zoneinfo import ZoneInfo

from sqlalchemy import select

from app.accounts.caller import Caller
from app.allocations.invoice_payments import (
    OpenInvoice,
    enqueue_receipts,
    lock_invoices,
    record_invoice_payment,
)
from app.applications.actions.fee_statements import lock_fees, record_fee
from app.applications.errors import StatementUnreadable
from app.applications.fee_matches import match_fee
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
from app.core.db import ReadOrWriteSession, database_now, release_connection
from app.core.formatting import HOME
from app.core.languages import gettext
from app.core.tokens import same
from app.core.transaction import lock_name, transaction
from app.invoicing.transfers import find_day_problem
from app.money.recorded_transfers import NamedRow, RecordedTransfer, digest_transfers, load_transfers, match_transfers
from app.money.statement_events import OrganisationEvents, find_event_names, find_organisation_events

MAX_RECORDED = 500
"""How many fees and invoices are recorded at once. Each takes some 14 ms, and the proxy waits for 35 seconds."""


@dataclass(frozen=True)
class StatementResult:
    """The rows of a statement, whether what they pay was only looked for, and the names of the events by id.

    `transfers` are those of its days that are recorded, and `transfers_left` those that are no row, at events that the caller
    may see.
    """

    dry_run: bool
    rows: list[MatchedRow]
    event_names: Mapping[str, str]
    transfers: list[RecordedTransfer]
    transfers_left: list[RecordedTransfer]

    def list_similar(self, row: StatementRow) -> list[str]:
        """What was paid with a transfer of the row's amount and day that is none of the rows."""
        transfer = (row.amount_minor, row.day)
        return sorted({it.reference for it in self.transfers_left if (it.amount_minor, it.received_on) == transfer})


def import_statement(
    caller: Caller,
    event_id: str | None,
    data: bytes,
    *,
    dry_run: bool,
    references: Sequence[str] = (),
    digest: str | None = None,
    mapping: Mapping[str, str] | None = None,
) -> StatementResult:
    """Records every fee and invoice of the event that a row of the statement pays, all together, or with `dry_run` none.

    Without an event they are those of all events of the caller's organisation, each recorded at its event.
    `references` are those that a person has chosen for the last rows, empty for a row without a choice. With the `digest` of
    `digest_transfers` nothing is recorded if a transfer of the rows' amounts and days was recorded meanwhile. `mapping` has
    the column of each field; without it the columns have the words of banks. A row that was recorded before, at any event of
    the organisation, changes nothing. Those who record wait for each other. Raises NotFound, and StatementUnreadable for one
    that pays too many fees at once.
    """
    event_names = find_event_names(caller, event_id)
    event_ids = [*event_names]
    organisation = find_organisation_events(caller, event_ids)
    release_connection()
    rows = parse_statement(data, mapping)
    with transaction() as session:
        if not dry_run:
            lock_name(session, f"bank-statement:{organisation.organisation_id}")
        chosen = _list_chosen(rows, references)
        assigned_rows = [
            replace(row, text=build_assigned_text(name, row.text)) if name else row
            for row, name in zip(rows, chosen, strict=True)
        ]
        all_rows = [*rows, *assigned_rows]
        fees = lock_fees(session, event_ids, {name for row in all_rows for name in row.possible_references})
        invoices = lock_invoices(session, event_ids, {name for row in all_rows for name in row.possible_numbers})
        named_rows = [
            NamedRow(row, row.possible_references & fees.applications.keys(), row.possible_numbers & invoices.keys())
            for row in rows
        ]
        transfers = load_transfers(event_ids, organisation.ids, rows)
        if digest is not None and not same(digest, digest_transfers(transfers, rows)):
            raise StatementUnreadable(_describe_changes())
        taken = match_transfers(transfers, named_rows)
        recorded_rows = _build_recorded_rows(session, organisation, rows, taken)
        fees.rows |= {it.application.id: it.row for it in recorded_rows.values() if it.application}
        today = database_now().astimezone(ZoneInfo(HOME)).date()
        matched_rows = [
            recorded_rows.get(position) or _match_invoice(match_fee(row, fees, today), invoices, today)
            for position, row in enumerate(assigned_rows)
        ]
        _check_count(matched_rows)
        if not dry_run:
            _record(session, caller, matched_rows, invoices)
    left = Counter(transfers) - Counter(filter(None, taken))
    return StatementResult(
        dry_run,
        matched_rows,
        {**event_names, **organisation.names},
        transfers,
        [transfer for transfer in left.elements() if transfer.event_id in organisation.names],
    )


def _list_chosen(rows: Sequence[StatementRow], references: Sequence[str]) -> list[str]:
    """The reference or the number that a person has chosen for each row, empty without one; for the last rows.

    Raises StatementUnreadable.
    """
    if references and any(row.day is None or row.amount_minor is None for row in rows):
        raise StatementUnreadable(gettext("This form does not work any more. Open the page again."))
    texts = [""] * (len(rows) - len(references)) + [*references]
    return [_read_choice(text) for _, text in zip(rows, texts, strict=False)]


def _read_choice(text: str) -> str:
    """The one reference or number in what a person has typed, as it is written; empty without one or with several."""
    typed = StatementRow(0, None, None, text)
    names = [*typed.possible_references, *typed.possible_numbers]
    return names[0] if len(names) == 1 else ""


def _describe_changes() -> str:
    return gettext(
        "A payment of one of these amounts and days was recorded or taken back since this page was made, perhaps because this "
        "form was sent twice. Now nothing was recorded. Check the file again: it says what is recorded."
    )


def _build_recorded_rows(
    session: ReadOrWriteSession,
    organisation: OrganisationEvents,
    rows: Sequence[StatementRow],
    transfers: Sequence[RecordedTransfer | None],
) -> dict[int, MatchedRow]:
    """The rows that are recorded transfers, by position, with what they paid.

    What was paid at an event that the caller may not see is left out.
    """
    ids = {it.application_id for it in transfers if it and it.application_id and it.event_id in organisation.names}
    statement = select(Application).where(Application.id.in_(ids))
    applications = {application.id: application for application in session.scalars(statement)} if ids else {}
    recorded_rows = {}
    for position, (row, transfer) in enumerate(zip(rows, transfers, strict=True)):
        if transfer is None:
            continue
        matched = MatchedRow(row, UNMATCHED if row.problem else RECORDED, row.problem, is_transfer=True)
        if transfer.event_id in organisation.names:
            matched = replace(
                matched,
                application=applications.get(transfer.application_id or ""),
                event_id=transfer.event_id,
                invoice_number=transfer.reference if transfer.block_id else None,
                block_id=transfer.block_id,
            )
        recorded_rows[position] = matched
    return recorded_rows


def _match_invoice(matched: MatchedRow, invoices: Mapping[str, OpenInvoice], today: date) -> MatchedRow:
    """The row with the invoice that it pays, or why it does not; as it is, if it is about no invoice."""
    row, numbers = matched.row, [number for number in sorted(matched.row.possible_numbers) if number in invoices]
    if not numbers or matched.application or matched.reason == "several_references":
        return matched
    if len(numbers) > 1:
        return replace(matched, reason="several_references")
    invoice = invoices[numbers[0]]
    matched = replace(matched, event_id=invoice.event_id, invoice_number=numbers[0], block_id=invoice.block_id)
    if row.problem or row.day is None or row.amount_minor is None:
        return replace(matched, reason=row.problem)
    reason = find_day_problem(row.day, today=today)
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
                "in parts, each day in one part.",
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
