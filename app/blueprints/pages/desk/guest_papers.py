"""The papers of a block: its invoice, and its report for the holder."""

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.organisation_details import load_organisation_details
from app.accounts.permissions import MONEY_READ, MONEY_WRITE
from app.allocations import errors, invoices, queries
from app.allocations.guest_report import draw_guest_report, enqueue_guest_report_email, get_guest_report
from app.allocations.invoice_context import BUYER_REFERENCE
from app.allocations.pricing import calculate_row_cost
from app.blueprints.pages.desk.guest_block import build_block_path, get_event_block
from app.blueprints.pages.desk.guest_words import name_block, reword
from app.blueprints.pages.desk.guests import MAIL, PDF_LIMIT, READ, blueprint, count_act, get_permissions
from app.blueprints.pages.desk.message_words import MAIL_LABELS
from app.blueprints.pages.desk.shell import do_once, go_to, may_use, render_desk, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, load_with
from app.core.errors import ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.desk.failed_mails import list_last_failed_mails
from app.events.queries import OwnEvent
from app.events.visibility import CANCELLED
from app.invoicing.documents import PREVIEW_REFERENCE
from app.invoicing.invoice_pdf import draw_invoice_pdf
from app.web.access import may
from app.web.fields import Boolean, Email
from app.web.file_responses import build_pdf_response
from app.web.schema import Query

READ_MONEY, SETTLE = may(MONEY_READ), may(MONEY_WRITE)
MAIL_INVOICE = SETTLE.with_verified_email()
MAILS_OF_INVOICE = ("allocations.mail_invoice", "allocations.mail_payment", "allocations.mail_payment_taken_back")


class MailSchema(Query):
    to = Email(required=True)


class PreviewSchema(MailSchema):
    without_bank = Boolean(load_default=False)


MAIL_FORM = Form(
    MailSchema,
    Input(
        "to",
        lazy_gettext("Send it to"),
        type="email",
        messages={"required": lazy_gettext("Enter an e-mail address.")},
        error_codes=(errors.InvoiceAddressMissing.code,),
    ),
)
PREVIEW_FORM = Form(
    PreviewSchema,
    *MAIL_FORM.inputs.values(),
    Input(
        "withoutBank",
        lazy_gettext("Issue it without bank details. I tell the buyer how to pay."),
        type="checkbox",
        messages={"required": lazy_gettext("Add the bank details first, or say that it goes without them.")},
    ),
)
DOCUMENT_LABELS = {
    "Event": lazy_gettext("Event"),
    "When": lazy_gettext("When"),
    "Where": lazy_gettext("Where"),
    "Places for": lazy_gettext("Places for"),
    BUYER_REFERENCE: lazy_gettext("Purchase order"),
    "Due": lazy_gettext("Pay by"),
    "Account name": lazy_gettext("Account name"),
    "Bank": lazy_gettext("Bank"),
    "Account number": lazy_gettext("Account number"),
    "Branch code": lazy_gettext("Branch code"),
    "Reference": lazy_gettext("Text of the transfer"),
    PREVIEW_REFERENCE: lazy_gettext("The number of the invoice"),
}
"""What the preview says for the labels of a document, which are English."""


@blueprint.page("/<block_id>/invoice", access=READ_MONEY)
def show_invoice(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show the invoice with its credit notes and its payments, or a preview with the buttons that issue it."""
    return _render_invoice(caller, *get_event_block(caller, event_id, block_id))


@blueprint.page("/<block_id>/invoice/preview.pdf", access=READ_MONEY)
def open_preview(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """The preview as a PDF, or the invoice if it was issued meanwhile."""
    count_act(caller, PDF_LIMIT, "/invoice/preview")
    try:
        document = invoices.preview_invoice(caller, event_id, block_id).document
    except FORM_ERRORS:
        return redirect(build_invoice_path(event_id, block_id), 303)
    return build_pdf_response(draw_invoice_pdf(document), f"preview-{block_id}")


@blueprint.page("/<block_id>/invoice.pdf", access=READ_MONEY)
def open_invoice(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """The PDF of the invoice, or of the credit note with this `number`. Raises InvoiceNotIssued."""
    count_act(caller, PDF_LIMIT, "/invoice.pdf")
    invoices.get_invoice(caller, event_id, block_id)
    number = request.args.get("number", "").replace("\0", "")[:20] or None
    invoice_number, data = invoices.get_or_issue_invoice_pdf(caller, event_id, block_id, number=number)
    return build_pdf_response(data, invoice_number)


@blueprint.page("/<block_id>/invoice/issue", access=SETTLE)
def confirm_issue(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show the preview, for those who open the address of the button again."""
    return _render_invoice(caller, *get_event_block(caller, event_id, block_id))


@blueprint.act("/<block_id>/invoice/issue", access=SETTLE)
def issue(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Issue the invoice, under the next number of the year. A second time changes nothing."""
    event, block = get_event_block(caller, event_id, block_id)
    try:
        if problems := _list_bank_problems(caller, event_id, block):
            raise ValidationFailed(problems)
        document = invoices.issue_invoice(caller, event_id, block_id, expected_digest=_read_digest())
    except FORM_ERRORS as error:
        return _render_preview(caller, event, block, PREVIEW_FORM.from_request().with_error(reword(error)))
    return go_to(
        build_invoice_path(event_id, block_id), gettext("Invoice %(number)s is issued.", number=document.number)
    )


@blueprint.page("/<block_id>/invoice/mail", access=MAIL_INVOICE)
def address_invoice(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Ask to whom the invoice goes."""
    event, block = get_event_block(caller, event_id, block_id)
    if block["invoice"] is None:
        return _render_invoice(caller, event, block)
    return _render_invoice_mail(caller, event, block, _fill_mail_form(block))


@blueprint.act("/<block_id>/invoice/mail", access=MAIL_INVOICE)
def mail_invoice(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Mail the invoice; it is issued if it was not before."""
    event, block = get_event_block(caller, event_id, block_id)
    form = (MAIL_FORM if block["invoice"] else PREVIEW_FORM).from_request()
    try:
        to = load_with(form, _list_bank_problems(caller, event_id, block))["to"]
        digest = _read_digest()
        address = do_once(
            caller,
            lambda: invoices.enqueue_invoice_email(caller, event_id, block_id, to=to, expected_digest=digest).to,
        )
    except FORM_ERRORS as error:
        return _render_invoice_mail(caller, event, block, form.with_error(reword(error)))
    return go_to(build_invoice_path(event_id, block_id), gettext("The invoice goes to %(address)s.", address=address))


@blueprint.page("/<block_id>/report", access=READ)
def show_report(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Say what the report has, with its PDF and the way to send it."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render_report(caller, event, block, _fill_mail_form(block))


@blueprint.page("/<block_id>/report.pdf", access=READ)
def open_report(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """The report as a PDF."""
    count_act(caller, PDF_LIMIT, "/report")
    report = get_guest_report(caller, event_id, block_id)
    return build_pdf_response(draw_guest_report(report), f"guests-{block_id}")


@blueprint.act("/<block_id>/report", access=MAIL)
def mail_report(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Mail the report to the holder, or to another address."""
    event, block = get_event_block(caller, event_id, block_id)
    form = MAIL_FORM.from_request()
    try:
        address = do_once(caller, lambda: enqueue_guest_report_email(caller, event_id, block_id, **form.load()))
    except FORM_ERRORS as error:
        return _render_report(caller, event, block, form.with_error(reword(error)))
    return go_to(build_block_path(event_id, block_id), gettext("The report goes to %(address)s.", address=address))


def build_invoice_path(event_id: str, block_id: str) -> str:
    """The path of the page of a block's invoice."""
    return url_for("desk_guests.show_invoice", event_id=event_id, block_id=block_id)


def charges_cancelled_event(event: OwnEvent, invoice: invoices.IssuedInvoice) -> bool:
    """Whether an invoice still charges places at an event that is cancelled."""
    return event.visibility == CANCELLED and invoice["credited_minor"] < invoice["total_minor"]


def _render_invoice(caller: Caller, event: OwnEvent, block: queries.BlockRow) -> Response:
    if block["invoice"] is None and calculate_row_cost(block).total_minor:
        return _render_preview(caller, event, block, PREVIEW_FORM.fill(to=block["holder_email"] or ""))
    invoice = invoices.get_invoice(caller, event.id, block["id"]) if block["invoice"] else None
    return render_desk(
        "desk/guest_invoice.html",
        event=event,
        block=block,
        title=name_block(block),
        invoice=invoice,
        charges_cancelled_event=invoice is not None and charges_cancelled_event(event, invoice),
        may_mail=may_use(MAIL_INVOICE),
        failed_mails=[
            (mail, MAIL_LABELS[mail.kind]) for mail in list_last_failed_mails(event.id, block["id"], MAILS_OF_INVOICE)
        ],
        back=build_block_path(event.id, block["id"]),
        **get_permissions(caller, event),
    )


def _read_digest() -> str | None:
    """The digest of the preview that the form was on; None for the form of an issued invoice."""
    return request.form.get("digest")


def _list_bank_problems(caller: Caller, event_id: str, block: queries.BlockRow) -> list[dict[str, str]]:
    """A problem if the new invoice has no bank details, and the person did not agree to that."""
    if block["invoice"] is not None or request.form.get("withoutBank") == "true":
        return []
    if invoices.preview_invoice(caller, event_id, block["id"]).document.payment:
        return []
    return [{"path": "withoutBank", "code": "required", "message": "The organisation has no bank details."}]


def _fill_mail_form(block: queries.BlockRow) -> FilledForm:
    return MAIL_FORM.fill(to=block["holder_email"] or "")


def _render_preview(caller: Caller, event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    """Show what the invoice would say; if it was issued meanwhile, or there is nothing to charge, only the error."""
    preview = None
    try:
        preview = invoices.preview_invoice(caller, event.id, block["id"])
    except FORM_ERRORS as error:
        form = form.with_error(reword(error))
    return render_desk(
        "desk/guest_invoice_preview.html",
        event=event,
        form=form,
        block=block,
        title=name_block(block),
        document=preview and preview.document,
        seller_address=load_organisation_details(event.organiser_id).address,
        digest=preview and preview.digest,
        labels=DOCUMENT_LABELS,
        back=build_block_path(event.id, block["id"]),
        may_mail=may_use(MAIL_INVOICE),
        **get_permissions(caller, event),
    )


def _render_invoice_mail(caller: Caller, event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    if block["invoice"] is None:
        return _render_preview(caller, event, block, form)
    return render_desk_form(
        form,
        event=event,
        title=gettext("Send the invoice: %(name)s", name=name_block(block)),
        lead=gettext("The invoice is sent as a PDF."),
        button=gettext("Send it"),
        back=build_invoice_path(event.id, block["id"]),
    )


def _render_report(caller: Caller, event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    return render_desk(
        "desk/guest_report.html",
        event=event,
        form=form,
        block=block,
        title=gettext("Report: %(name)s", name=name_block(block)),
        back=build_block_path(event.id, block["id"]),
        path=url_for("desk_guests.mail_report", event_id=event.id, block_id=block["id"]),
        **get_permissions(caller, event),
    )
