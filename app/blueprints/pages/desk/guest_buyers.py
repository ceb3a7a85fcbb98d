"""The buyer on the invoice of a block: name, postal address, VAT number and purchase order."""

from dataclasses import replace

from flask import Response
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.allocations import errors, queries
from app.allocations.block_facts import digest_facts
from app.allocations.invoice_buyers import BUYER_FIELDS, find_previous_buyer, update_buyer
from app.blueprints.pages.desk.form_parts import FACTS, PAY_BY, FactsSchema
from app.blueprints.pages.desk.guest_block import get_event_block
from app.blueprints.pages.desk.guest_papers import SETTLE, build_invoice_path
from app.blueprints.pages.desk.guest_words import name_block, reword
from app.blueprints.pages.desk.guests import blueprint
from app.blueprints.pages.desk.shell import go_to, render_desk_form, send_back
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.languages import gettext, lazy_gettext
from app.events.queries import OwnEvent
from app.web.buyer_fields import BuyerBody
from app.web.schema import to_camel_case


class BuyerSchema(FactsSchema, BuyerBody):
    """The buyer, with the digest of the one that the form was filled with."""


BUYER = Form(
    BuyerSchema,
    Input(
        "buyerName",
        lazy_gettext("Name of the buyer"),
        hint=lazy_gettext("Empty: the holder of the block."),
        autocomplete="off",
        error_codes=(errors.BlockInvoiced.code,),
    ),
    Input(
        "buyerAddress",
        lazy_gettext("Postal address"),
        type="textarea",
        messages={"too_short": lazy_gettext("Enter the whole address.")},
    ),
    Input(
        "buyerVatNumber",
        lazy_gettext("VAT registration number"),
        hint=lazy_gettext("Only if the buyer is registered for VAT."),
    ),
    Input(
        "buyerReference",
        lazy_gettext("Purchase order"),
        hint=lazy_gettext("The number of the buyer’s order, if they want it on the invoice."),
    ),
    replace(
        PAY_BY,
        hint=lazy_gettext("Empty: two weeks after it is issued, and before the event."),
        messages={**PAY_BY.messages, "too_large": lazy_gettext("Choose a day within a year.")},
    ),
    FACTS,
)


@blueprint.page("/<block_id>/invoice/buyer", access=SETTLE)
def edit_buyer(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show the form for the buyer, with what was entered last for the same holder."""
    event, block = get_event_block(caller, event_id, block_id)
    if block["invoice"] is not None:
        return send_back(
            build_invoice_path(event_id, block_id), gettext("The invoice is issued, so the buyer no longer changes.")
        )
    entered = {name: block[name] for name in BUYER_FIELDS}
    previous = None if any(entered.values()) else find_previous_buyer(caller, block)
    texts = {to_camel_case(name): str(value or "") for name, value in {**entered, **(previous or {})}.items()}
    form = BUYER.fill(**texts, facts=digest_facts(block, BUYER_FIELDS))
    return _render_buyer(event, block, form, is_from_last_time=previous is not None)


@blueprint.act("/<block_id>/invoice/buyer", access=SETTLE)
def change_buyer(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Save the buyer, unless somebody else has changed it since the form was opened."""
    event, block = get_event_block(caller, event_id, block_id)
    form = BUYER.from_request()
    try:
        changes = {**dict.fromkeys(BUYER_FIELDS), **form.load()}
        update_buyer(caller, event_id, block_id, expected_digest=changes.pop("facts"), **changes)
    except FORM_ERRORS as error:
        return _render_buyer(event, block, form.with_error(reword(error)))
    return go_to(build_invoice_path(event_id, block_id), gettext("The buyer is saved. Check the preview."))


def _render_buyer(
    event: OwnEvent, block: queries.BlockRow, form: FilledForm, *, is_from_last_time: bool = False
) -> Response:
    lead = gettext("This is printed on the invoice. Once the invoice is issued, it no longer changes.")
    if is_from_last_time:
        lead = gettext("Filled in as for this holder last time. Check it and save it.") + " " + lead
    return render_desk_form(
        form,
        event=event,
        title=gettext("Buyer on the invoice of %(name)s", name=name_block(block)),
        lead=lead,
        button=gettext("Save"),
        back=build_invoice_path(event.id, block["id"]),
    )
