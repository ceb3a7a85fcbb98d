"""Taking back a payment of the invoice of a block that was recorded by mistake."""

from flask import Response
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.allocations import errors, invoices, queries
from app.allocations.payment_take_backs import find_payment_to_take_back, take_back_payment
from app.allocations.recorded_payments import RecordedPayment
from app.blueprints.pages.desk.guest_block import get_event_block
from app.blueprints.pages.desk.guest_papers import MAIL_INVOICE, build_invoice_path
from app.blueprints.pages.desk.guest_words import reword
from app.blueprints.pages.desk.guests import blueprint
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk_form, send_back
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.formatting import format_calendar_day, format_money
from app.core.languages import gettext, lazy_gettext
from app.events.queries import OwnEvent
from app.web.schema import Query
from app.web.text_fields import Name

REFUSALS = (errors.PaymentTakenBack, errors.MoneyPaidBack, errors.InvoiceCredited)


class TakeBackSchema(Query):
    reason = Name(required=True, min=1, max=200)


TAKE_BACK = Form(
    TakeBackSchema,
    Input(
        "reason",
        lazy_gettext("Reason"),
        hint=lazy_gettext("The reason stays on the page of the invoice and in the audit trail."),
        messages={"required": lazy_gettext("Enter a reason.")},
    ),
)


@blueprint.page("/<block_id>/invoice/payments/<int:number>/take-back", access=MAIL_INVOICE)
def ask_take_back(caller: Caller, event_id: str, block_id: str, number: int) -> ResponseReturnValue:
    """Say what taking back a payment does, and ask for the reason. Raises NotFound, InvoiceNotIssued."""
    event, block = get_event_block(caller, event_id, block_id)
    try:
        return _render_take_back(caller, event, block, number, TAKE_BACK.fill())
    except REFUSALS as error:
        return send_back(build_invoice_path(event_id, block_id), reword(error).text)


@blueprint.act("/<block_id>/invoice/payments/<int:number>/take-back", access=MAIL_INVOICE)
def take_back(caller: Caller, event_id: str, block_id: str, number: int) -> ResponseReturnValue:
    """Take back a payment. The form sent twice takes it back once."""
    event, block = get_event_block(caller, event_id, block_id)
    form = TAKE_BACK.from_request()

    def take_back_once() -> str:
        take_back_payment(caller, event_id, block_id, number=number, **form.load())
        return ""

    try:
        do_once(caller, take_back_once)
    except REFUSALS as error:
        return send_back(build_invoice_path(event_id, block_id), reword(error).text)
    except FORM_ERRORS as error:
        return _render_take_back(caller, event, block, number, form.with_error(reword(error)))
    return go_to(build_invoice_path(event_id, block_id), gettext("The payment is taken back."))


def _render_take_back(
    caller: Caller, event: OwnEvent, block: queries.BlockRow, number: int, form: FilledForm
) -> Response:
    """Raises NotFound, InvoiceNotIssued, PaymentTakenBack, MoneyPaidBack, InvoiceCredited."""
    invoice = invoices.get_invoice(caller, event.id, block["id"])
    charged_minor = invoice["total_minor"] - invoice["credited_minor"]
    payment = find_payment_to_take_back(invoice["payments"], number, charged_minor=charged_minor)
    texts = [
        gettext(
            "%(amount)s on %(day)s, “%(reference)s”.",
            amount=format_money(abs(payment.amount_minor)),
            day=format_calendar_day(payment.received_on),
            reference=payment.reference,
        ),
        gettext(
            "Take it back only if it was recorded by mistake: for another invoice, with another amount, or twice. It stays "
            "in the list as taken back, and the same amount is booked the other way today."
        ),
        _describe_outcome(invoice, payment),
    ]
    if payment.amount_minor > 0 and block["holder_email"]:
        texts.append(gettext("A mail that says so goes to %(address)s.", address=block["holder_email"]))
    return render_desk_form(
        form,
        event=event,
        title=gettext("Take back this payment of invoice %(number)s?", number=invoice["number"]),
        lead=" ".join(texts),
        button=gettext("Take back this payment"),
        back=build_invoice_path(event.id, block["id"]),
        is_dangerous=True,
    )


def _describe_outcome(invoice: invoices.IssuedInvoice, payment: RecordedPayment) -> str:
    """What is due, or owed back, without this payment."""
    due_minor = invoice["due_minor"] + payment.amount_minor
    due = format_money(abs(due_minor))
    if due_minor < 0:
        return gettext("Afterwards you owe back %(due)s.", due=due)
    if due_minor == 0:
        return gettext("Afterwards nothing is due, and you owe nothing back.")
    if invoice["due_minor"] > 0:
        return gettext("Afterwards %(due)s is due.", due=due)
    return gettext("Afterwards %(due)s is due, and the invoice is open again.", due=due)
