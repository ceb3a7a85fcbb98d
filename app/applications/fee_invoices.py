"""The invoice of a stall fee: issued once the fee is paid, and never changed. Before that there is a pro forma invoice.

The invoice is issued by the mail that confirms the payment, or by the first download. docs/invoices.md says why.
"""

from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo

from flask import current_app
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.organisation_details import OrganisationDetails, load_organisation_details
from app.applications import calendar, links, states
from app.applications.errors import InvoiceNotAvailable
from app.applications.links import EventContext
from app.applications.models import Application, FeeCreditNote, FeeInvoice, StallFeeRecord, StallPayment
from app.applications.queries import check_visible, record_application_act
from app.audit.actions import Action
from app.audit.log import record_export
from app.core.addresses import mask_number
from app.core.db import ReadOrWriteSession, db, release_connection
from app.core.errors import NotFound
from app.core.formatting import HOME, format_day
from app.core.ids import new_id
from app.core.languages import SOURCE_LANGUAGE, use_language
from app.core.transaction import transaction
from app.invoicing.documents import (
    CURRENCY_NOTE,
    INVOICE,
    PRO_FORMA,
    VAT_NOTE,
    DocumentLine,
    InvoiceDocument,
    build_payment_rows,
    calculate_vat,
    format_vat_number,
    list_known_lines,
    parse_document,
)
from app.invoicing.invoice_pdf import draw_invoice_pdf
from app.invoicing.numbers import STALL_FEE, InvoiceNumber, take_next_number

RECEIPT_NOTE = "This invoice is your receipt. Keep it for your books."
PRO_FORMA_NOTE = "This is a request for payment. You get the invoice when the fee is paid."
SERVICE_NAME = "Event Commerce"


@dataclass(frozen=True)
class FeeContext:
    """An application with what its invoice says; `payment` is the paid one, `moment` the time of the database."""

    application: Application
    payment: StallPayment | None
    record: StallFeeRecord | None
    moment: datetime
    event_context: EventContext


def get_fee_document_pdf(
    caller: Caller, application_id: str, *, number: str | None = None
) -> tuple[InvoiceDocument, bytes]:
    """The invoice or pro forma invoice of an application that the caller may see, or its credit note of that number.

    Raises NotFound, InvoiceNotAvailable.
    """
    check_visible(caller, application_id)
    document = load_fee_document(application_id, number=number)
    record_export(Action.FEE_INVOICE_EXPORTED, subject=application_id, data={"number": document.number})
    return document, draw_invoice_pdf(document)


def get_fee_document_pdf_by_link(token: str, *, number: str | None = None) -> tuple[InvoiceDocument, bytes]:
    """The same for the holder of a payment link. Raises NotFound, LinkExpired, InvoiceNotAvailable."""
    document = load_fee_document(links.get_active_link(token, links.PAYMENT).application.id, number=number)
    return document, draw_invoice_pdf(document)


def find_credit_note(application_id: str) -> InvoiceDocument | None:
    """The credit note for the refund of a fee."""
    data = db.session.scalar(select(FeeCreditNote.paper).where(FeeCreditNote.application_id == application_id))
    return parse_document(data) if data else None


def find_invoice_number(application_id: str) -> str | None:
    return db.session.scalar(select(FeeInvoice.number).where(FeeInvoice.application_id == application_id))


def has_invoice(session: Session, application_id: str) -> bool:
    return session.scalar(select(FeeInvoice.id).where(FeeInvoice.application_id == application_id)) is not None


def load_fee_document(application_id: str, *, number: str | None = None) -> InvoiceDocument:
    """The invoice of a paid fee, issued if it was not before; of another fee a pro forma invoice. With a `number` its
    credit note.

    Raises InvoiceNotAvailable if no fee is due, paid or waived, and NotFound for the number of another document.
    """
    if number is not None:
        credit_note = find_credit_note(application_id)
        if credit_note is None or credit_note.number != number:
            raise NotFound()
        return credit_note
    invoice = db.session.scalar(_invoice_query(application_id))
    context = _load_context(db.session(), application_id)
    if invoice is None and (context.application.paid_at is None or context.application.organiser_id is None):
        return _build_unnumbered_document(context)
    release_connection()
    return parse_document(invoice.paper) if invoice else _issue_invoice(application_id)


def _issue_invoice(application_id: str) -> InvoiceDocument:
    with transaction() as session:
        # The row locked here is read again: another process may have issued the invoice meanwhile.
        session.execute(select(Application.id).where(Application.id == application_id).with_for_update())
        return get_or_issue_invoice(session, application_id)


def get_or_issue_invoice(session: ReadOrWriteSession, application_id: str) -> InvoiceDocument:
    """The invoice of a locked application whose fee is paid; issued if it was not before."""
    invoice = session.scalar(_invoice_query(application_id))
    if invoice is not None:
        return parse_document(invoice.paper)
    context = _load_context(session, application_id)
    assert context.application.organiser_id is not None
    organisation = load_organisation_details(context.application.organiser_id, session)
    number = take_next_number(session, context.application.organiser_id, STALL_FEE, context.moment)
    document = _build_document(context, organisation, INVOICE, str(number), context.moment)
    store_document(session, FeeInvoice, context.application, number, document, context.moment)
    return document


def store_document(
    session: ReadOrWriteSession,
    document_class: type[FeeInvoice] | type[FeeCreditNote],
    application: Application,
    number: InvoiceNumber,
    document: InvoiceDocument,
    issued_at: datetime,
) -> None:
    """Stores the document of a fee under its number, with an entry of the audit trail."""
    session.add(
        document_class(
            id=new_id(),
            application_id=application.id,
            organiser_id=application.organiser_id,
            year=number.year,
            sequence=number.sequence,
            number=document.number,
            total_minor=document.total_minor,
            paper=document.to_json(),
            issued_at=issued_at,
        )
    )
    session.flush()
    action = Action.STALL_FEE_INVOICED if document_class is FeeInvoice else Action.STALL_FEE_CREDITED
    record_application_act(session, action, application, number=document.number, totalMinor=document.total_minor)


def _build_unnumbered_document(context: FeeContext) -> InvoiceDocument:
    """A pro forma invoice, or the invoice of an application that has no organisation. Raises InvoiceNotAvailable."""
    application = context.application
    is_approved = application.status in states.ACCEPTED_STATES and application.amount_minor > 0
    if application.paid_at is None and not is_approved:
        raise InvoiceNotAvailable(status=application.status)
    organisation = OrganisationDetails(SERVICE_NAME)
    if application.organiser_id is not None:
        organisation = load_organisation_details(application.organiser_id)
    kind = PRO_FORMA if application.paid_at is None else INVOICE
    issued_at = application.paid_at or application.decided_at or context.moment
    return _build_document(context, organisation, kind, application.reference, issued_at)


def _build_document(
    context: FeeContext, organisation: OrganisationDetails, kind: str, number: str, issued_at: datetime
) -> InvoiceDocument:
    """The document, in English: a tax invoice in another language is not valid."""
    application, contact = context.application, context.event_context.contact or ""
    vat_number = organisation.vat_number or ""
    vat_percent = current_app.extensions["settings"].VAT_PERCENT if vat_number else 0
    is_due = application.payment_due
    with use_language(SOURCE_LANGUAGE):
        return InvoiceDocument(
            kind=kind,
            number=number,
            issued=format_day(issued_at, HOME),
            seller=list_known_lines(organisation.name, organisation.address, contact),
            buyer=_list_buyer_lines(application),
            facts=_build_facts(context),
            lines=[
                DocumentLine(
                    what=" · ".join(part for part in ("Stall fee", application.stall_type) if part),
                    quantity=1,
                    unit_price_minor=application.amount_minor,
                    amount_minor=application.amount_minor,
                )
            ],
            vat_percent=vat_percent,
            vat_minor=calculate_vat(application.amount_minor, vat_percent),
            vat_number=vat_number,
            total_minor=application.amount_minor,
            notes=[PRO_FORMA_NOTE if kind == PRO_FORMA else RECEIPT_NOTE, VAT_NOTE if vat_number else CURRENCY_NOTE],
            contact=contact,
            payment=build_payment_rows(organisation.bank, application.reference) if is_due else [],
            settled=_describe_settlement(context),
        )


def _list_buyer_lines(application: Application) -> list[str]:
    return list_known_lines(
        application.business_name,
        application.contact_name,
        application.billing_address,
        application.email,
        application.phone,
        format_vat_number(application.billing_vat_number),
    ) or ["The applicant"]


def _build_facts(context: FeeContext) -> list[tuple[str, str]]:
    application, event = context.application, context.event_context.event
    due_at = calendar.calculate_due_at(
        links.PAYMENT,
        context.event_context.calendar,
        decided_at=application.decided_at,
        scheduled_for=application.scheduled_for,
    )
    facts = [
        ("For", f"Stall at {event}" if event else "Stall"),
        ("Application", application.reference),
        (
            "Due",
            calendar.format_deadline(due_at, context.event_context.timezone)
            if due_at and application.payment_due
            else "",
        ),
    ]
    return [fact for fact in facts if fact[1]]


def _describe_settlement(context: FeeContext) -> str:
    """When and how the fee was paid or waived; empty while it is due."""
    application, payment, record = context.application, context.payment, context.record
    if application.waived_at is not None:
        return f"Waived on {format_day(application.waived_at, HOME)}. Nothing is to be paid."
    if application.paid_at is None:
        return ""
    if record is not None and record.received_on is not None:
        received_at = datetime.combine(record.received_on, time(12), ZoneInfo(HOME))
        return f"Paid on {format_day(received_at, HOME)} by bank transfer"
    wallet = f" {mask_number(payment.msisdn)}" if payment is not None and payment.msisdn else ""
    return f"Paid on {format_day(application.paid_at, HOME)} by mobile wallet{wallet}"


def _invoice_query(application_id: str) -> Select[FeeInvoice]:
    return select(FeeInvoice).where(FeeInvoice.application_id == application_id)


def _load_context(session: Session, application_id: str) -> FeeContext:
    paid_condition = (StallPayment.application_id == Application.id) & (StallPayment.status == "paid")
    statement = (
        select(Application, StallPayment, StallFeeRecord, func.now(), *links.EVENT_CONTEXT_COLUMNS)
        .select_from(Application)
        .outerjoin(StallPayment, paid_condition)
        .outerjoin(StallFeeRecord, StallFeeRecord.application_id == Application.id)
        .where(Application.id == application_id)
    )
    row = session.execute(links.join_event_context(statement).execution_options(populate_existing=True)).one()
    application, payment, fee_record, moment, *context_values = row
    assert isinstance(application, Application) and isinstance(moment, datetime)
    assert isinstance(payment, StallPayment | None) and isinstance(fee_record, StallFeeRecord | None)
    return FeeContext(application, payment, fee_record, moment, links.build_event_context(context_values))
