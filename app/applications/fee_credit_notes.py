"""The credit note for a refunded stall fee: issued when the money is back, and never changed.

It corrects the invoice, which is issued before it if it was not yet. docs/invoices.md has the law.
"""

from dataclasses import replace

from sqlalchemy import func, select

from app.applications.fee_invoices import get_or_issue_invoice, store_document
from app.applications.models import Application, FeeCreditNote, StallFeeRefund
from app.applications.states import REFUNDED
from app.core.db import ReadOrWriteSession
from app.core.formatting import HOME, format_day, format_money
from app.core.languages import SOURCE_LANGUAGE, use_language
from app.core.transaction import transaction
from app.invoicing.documents import CREDIT_NOTE, DocumentLine, InvoiceDocument, calculate_correction
from app.invoicing.numbers import STALL_FEE_CREDIT, take_next_number


def issue_credit_note(session: ReadOrWriteSession, application: Application, refund: StallFeeRefund) -> None:
    """Issues the credit note for a refund of a locked application. Without an organisation there is none."""
    if application.organiser_id is None:
        return
    original = get_or_issue_invoice(session, application.id)
    moment = session.scalars(select(func.now())).one()
    number = take_next_number(session, application.organiser_id, STALL_FEE_CREDIT, moment)
    with use_language(SOURCE_LANGUAGE):
        document = _build_credit_note(original, refund, str(number), format_day(moment, HOME))
    store_document(session, FeeCreditNote, application, number, document, moment)


def issue_missing_credit_notes() -> int:
    """Issues the credit notes for refunds that a version without them has recorded. Returns their number."""
    with transaction() as session:
        has_note = select(FeeCreditNote.id).where(FeeCreditNote.application_id == Application.id).exists()
        rows = session.execute(
            select(Application, StallFeeRefund)
            .join(StallFeeRefund, StallFeeRefund.application_id == Application.id)
            .where(StallFeeRefund.status == REFUNDED, Application.organiser_id.is_not(None), ~has_note)
            .order_by(StallFeeRefund.refunded_at, Application.id)
            .with_for_update(of=Application)
        ).all()
        for application, refund in rows:
            issue_credit_note(session, application, refund)
        return len(rows)


def _build_credit_note(original: InvoiceDocument, refund: StallFeeRefund, number: str, issued: str) -> InvoiceDocument:
    """The document: seller, buyer and VAT are those of the invoice."""
    fee_minor, refunded_minor = original.total_minor, refund.amount_minor
    kept_minor = fee_minor - refunded_minor
    vat_minor, value_notes = calculate_correction(original, fee_minor, kept_minor)
    what = "refunded" if kept_minor == 0 else "partly refunded"
    notes = [
        f"This corrects invoice {original.number}: the fee was {format_money(fee_minor)} and is {format_money(kept_minor)} now.",
        *value_notes,
        f"Reason: {refund.reason}",
        original.notes[-1],
    ]
    return replace(
        original,
        kind=CREDIT_NOTE,
        number=number,
        issued=issued,
        facts=[("For invoice", f"{original.number} of {original.issued}"), *original.facts],
        lines=[DocumentLine(what=f"{original.lines[0].what}: {what}", amount_minor=-refunded_minor)],
        vat_minor=-vat_minor,
        total_minor=-refunded_minor,
        notes=notes,
        settled="",
    )
