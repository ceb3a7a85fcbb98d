"""Crediting the invoice of a block because the event is cancelled."""

from flask import Response, redirect
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.allocations import invoices
from app.blueprints.pages.desk.guest_block import get_event_block
from app.blueprints.pages.desk.guest_papers import MAIL_INVOICE, build_invoice_path, charges_cancelled_event
from app.blueprints.pages.desk.guest_words import reword
from app.blueprints.pages.desk.guests import blueprint
from app.blueprints.pages.desk.shell import go_to, render_confirmation
from app.blueprints.pages.forms import FORM_ERRORS
from app.core.errors import AppError
from app.core.formatting import format_money
from app.core.languages import gettext


@blueprint.page("/<block_id>/invoice/credit", access=MAIL_INVOICE)
def confirm_credit(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Ask whether to credit what the invoice still charges. Raises NotFound, InvoiceNotIssued."""
    event, _ = get_event_block(caller, event_id, block_id)
    if not charges_cancelled_event(event, invoices.get_invoice(caller, event_id, block_id)):
        return redirect(build_invoice_path(event_id, block_id), 303)
    return _render(caller, event_id, block_id)


@blueprint.act("/<block_id>/invoice/credit", access=MAIL_INVOICE)
def credit(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Credit what the invoice still charges. A second time changes nothing."""
    try:
        invoices.credit_invoice(caller, event_id, block_id)
    except FORM_ERRORS as error:
        return _render(caller, event_id, block_id, error)
    return go_to(build_invoice_path(event_id, block_id), gettext("The invoice is credited."))


def _render(caller: Caller, event_id: str, block_id: str, error: AppError | None = None) -> Response:
    event, block = get_event_block(caller, event_id, block_id)
    invoice = invoices.get_invoice(caller, event_id, block_id)
    charged_minor = invoice["total_minor"] - invoice["credited_minor"]
    owed_back_minor = charged_minor - invoice["due_minor"]
    items = [gettext("A credit note over %(amount)s is issued.", amount=format_money(charged_minor))]
    if block["holder_email"]:
        items.append(gettext("It is mailed to %(address)s.", address=block["holder_email"]))
    if owed_back_minor > 0:
        items.append(gettext("You then owe back %(amount)s that was paid.", amount=format_money(owed_back_minor)))
    items.append(gettext("Guests keep their places, so your messages still reach them."))
    return render_confirmation(
        title=gettext("Credit the whole invoice %(number)s?", number=invoice["number"]),
        text=gettext(
            "The event is cancelled, so nothing is charged for it any more. A credit note cannot be taken back."
        ),
        items=items,
        button=gettext("Credit the invoice"),
        back=build_invoice_path(event_id, block_id),
        event=event,
        is_dangerous=True,
        error=error and reword(error),
    )
