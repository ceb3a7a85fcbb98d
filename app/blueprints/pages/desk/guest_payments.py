"""The payments of the invoice of a block: what came in, and what is paid back."""

from dataclasses import replace
from typing import Any

from flask import Response, request
from flask.typing import ResponseReturnValue
from marshmallow import fields

from app.accounts.caller import Caller
from app.allocations import invoice_payments, invoices, queries
from app.blueprints.pages.desk.event_form import format_today
from app.blueprints.pages.desk.form_parts import explain_amount, format_amount
from app.blueprints.pages.desk.guest_block import get_event_block
from app.blueprints.pages.desk.guest_papers import MAIL_INVOICE, build_invoice_path
from app.blueprints.pages.desk.guest_words import reword
from app.blueprints.pages.desk.guests import blueprint
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk_form, send_back
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import Amount
from app.core.formatting import format_money
from app.core.languages import gettext, lazy_gettext
from app.events.queries import OwnEvent
from app.web.fields import Boolean
from app.web.schema import Query
from app.web.text_fields import Name


class ReceivedSchema(Query):
    amount_minor = Amount(data_key="amountMinor", required=True)
    reference = Name(required=True, min=1, max=80)
    received_on = fields.Date(required=True)
    part = Boolean(load_default=False)
    paid_back = Boolean(data_key="paidBack", load_default=False)


RECEIVED = Form(
    ReceivedSchema,
    Input(
        "amountMinor",
        lazy_gettext("Amount in N$"),
        inputmode="decimal",
        messages={
            "required": lazy_gettext("Enter the amount."),
            "invalid_type": lazy_gettext("Enter an amount like 1500 or 1500.50."),
        },
    ),
    Input(
        "reference",
        lazy_gettext("Text of the transfer"),
        messages={
            "required": lazy_gettext("Enter the text of the transfer."),
            "repeated": lazy_gettext(
                "A transfer of this amount and day with this text is recorded. If another one came, add a word to its text."
            ),
        },
    ),
    Input(
        "receivedOn",
        lazy_gettext("Day on which it came in"),
        type="date",
        messages={
            "required": lazy_gettext("Enter the day."),
            "future": lazy_gettext("Choose a day that is not in the future."),
            "too_early": lazy_gettext("Choose a day within the last year."),
        },
    ),
    Input("part", lazy_gettext("This is only a part. The rest stays due."), type="checkbox"),
    Input("paidBack", "", type="hidden"),
)
SENT_INPUTS = (
    replace(
        RECEIVED.inputs["reference"],
        messages={
            **RECEIVED.inputs["reference"].messages,
            "repeated": lazy_gettext(
                "A transfer of this amount and day with this text is recorded. If you sent another one, add a word to its text."
            ),
        },
    ),
    replace(RECEIVED.inputs["receivedOn"], label=lazy_gettext("Day on which you sent it")),
    replace(RECEIVED.inputs["part"], label=lazy_gettext("This is only a part. I send the rest later.")),
)
PAID_BACK = Form(ReceivedSchema, *(RECEIVED.inputs | {input_.name: input_ for input_ in SENT_INPUTS}).values())
"""The form for money that went out."""


@blueprint.page("/<block_id>/invoice/received", access=MAIL_INVOICE)
def ask_payment(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show the form for a transfer that pays the invoice. Raises InvoiceNotIssued."""
    event, block = get_event_block(caller, event_id, block_id)
    invoice = invoices.get_invoice(caller, event_id, block_id)
    if invoice["due_minor"] == 0:
        return send_back(
            build_invoice_path(event_id, block_id),
            gettext("Nothing is due for this invoice: it is paid, or credited in full."),
        )
    is_paid_back = invoice["due_minor"] < 0
    form = (PAID_BACK if is_paid_back else RECEIVED).fill(
        amountMinor=format_amount(abs(invoice["due_minor"])),
        reference=invoice["number"],
        receivedOn=format_today(event.timezone),
        paidBack="true" if is_paid_back else "",
    )
    return _render_payment(event, block, invoice, form)


@blueprint.act("/<block_id>/invoice/received", access=MAIL_INVOICE)
def receive_payment(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Record that what is due came in, or a part of it. The same transfer again changes nothing."""
    event, block = get_event_block(caller, event_id, block_id)
    is_paid_back = request.form.get("paidBack") == "true"
    form = (PAID_BACK if is_paid_back else RECEIVED).from_request()

    def record_payment() -> str:
        invoice_payments.receive_invoice_payment(caller, event_id, block_id, **form.load())
        return ""

    try:
        do_once(caller, record_payment)
    except FORM_ERRORS as error:
        invoice = invoices.get_invoice(caller, event_id, block_id)
        explained = explain_amount(reword(error), lambda: _describe_amount(form, abs(invoice["due_minor"])))
        return _render_payment(event, block, invoice, form.with_error(explained))
    done = gettext("What you paid back is recorded.") if is_paid_back else gettext("The payment is recorded.")
    if block["holder_email"] and not is_paid_back:
        done = gettext(
            "The payment is recorded. A mail that says so goes to %(address)s.", address=block["holder_email"]
        )
    return go_to(build_invoice_path(event_id, block_id), done)


def _describe_amount(form: FilledForm, due_minor: int) -> str:
    """Why the amount of a form is not the one that is due, or owed back: each case has its own advice."""
    amount_minor, due = form.load()["amount_minor"], format_money(due_minor)
    if form.value("paidBack") == "true":
        if amount_minor > due_minor:
            return gettext("This is more than you owe back. Record %(due)s.", due=due)
        return gettext("You owe back %(due)s. If you sent less, tick “This is only a part”.", due=due)
    if amount_minor > due_minor:
        return gettext(
            "This is %(excess)s more than is due. Record %(due)s, and send the rest back or agree on it with the buyer.",
            excess=format_money(amount_minor - due_minor),
            due=due,
        )
    return gettext(
        "%(due)s is due, so %(missing)s is missing. If less came, tick “This is only a part”.",
        due=due,
        missing=format_money(due_minor - amount_minor),
    )


def _render_payment(event: OwnEvent, block: queries.BlockRow, invoice: Any, form: FilledForm) -> Response:
    amount = format_money(abs(invoice["due_minor"]))
    if form.value("paidBack") == "true":
        title = gettext("Record what you paid back for invoice %(number)s", number=invoice["number"])
        lead = gettext(
            "You owe %(amount)s back. Record it when you have sent it. You cannot change a recorded payment, but you can take it back.",
            amount=amount,
        )
        button = gettext("Record what I paid back")
    else:
        title = gettext("Record the payment of invoice %(number)s", number=invoice["number"])
        lead = gettext(
            "%(amount)s is due. Record what is on your bank account. You cannot change a recorded payment, but you can take it back.",
            amount=amount,
        )
        button = gettext("Record the payment")
    return render_desk_form(
        form,
        event=event,
        title=title,
        lead=lead,
        button=button,
        back=build_invoice_path(event.id, block["id"]),
    )
