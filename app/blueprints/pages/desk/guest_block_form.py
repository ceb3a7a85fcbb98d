"""The form of a block: a new one with its price, and changes with a digest of what the person has seen."""

import re
from dataclasses import replace
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.allocations import actions, errors, queries, states
from app.allocations.actions.blocks import HOLDER_FIELDS
from app.allocations.block_facts import digest_facts
from app.allocations.pricing import get_current_price
from app.blueprints.pages.desk.event_form import format_local_time
from app.blueprints.pages.desk.form_parts import FACTS, WRONG_NUMBER, FactsSchema, format_amount
from app.blueprints.pages.desk.guest_words import KIND_LABELS, describe_credit, name_block, reword
from app.blueprints.pages.desk.guests import MAIL_LIMIT, WRITE, blueprint, count_act
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import Amount
from app.core.clock import utcnow
from app.core.errors import ValidationFailed
from app.core.formatting import format_money
from app.core.languages import gettext, lazy_gettext
from app.events import queries as events
from app.events.errors import CapacityExceeded
from app.events.queries import OwnEvent
from app.web.fields import Boolean, Choice, Email, EndTimeField, Id, Phone, Text, TimeField, WholeNumber, field_error
from app.web.schema import Query
from app.web.text_fields import Name
from app.web.types import RawData

MAX_PLACES = 5000
_AMOUNT = re.compile(r"(\d{1,6})\s*(%|per cent|percent|prozent|persent)?")
IN_THE_PAST = {"in_the_past": lazy_gettext("Choose a time in the future.")}


class StepAmount(Text):
    """How much a step gives back: `10` places, or `50 %` of what is unused then."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        match = _AMOUNT.fullmatch(super()._deserialize(value, attr, data, **kwargs).lower())
        name, most = ("percent", 100) if match and match[2] else ("quantity", MAX_PLACES)
        if match is None or not 1 <= int(match[1]) <= most:
            raise field_error("invalid_type", gettext("Enter a number of places like 10, or a part like 50 %."))
        return {name: int(match[1])}


class HolderSchema(Query):
    holder_organisation = Name(max=200)
    holder_name = Name(max=200)
    holder_email = Email()
    holder_phone = Phone()


class TermsSchema(HolderSchema):
    kind = Choice(*states.BLOCK_KINDS, required=True)
    name = Name(max=120)
    unit_price_minor = Amount(data_key="price")
    release_at = EndTimeField()
    notes = Text(max=2000)


class NewBlockSchema(TermsSchema):
    ticket_type_id = Id(required=True)
    quantity = WholeNumber(required=True, min=1, max=MAX_PLACES)
    promo_code = Text(max=40)
    on = TimeField()
    amount = StepAmount()
    guests_may_pass_on = Boolean()
    guests_may_give_back = Boolean(load_default=False)


class ChangesSchema(TermsSchema, FactsSchema):
    quantity = WholeNumber(required=True, min=1, max=MAX_PLACES)
    released = WholeNumber(required=True, min=0)
    guests_may_pass_on = Boolean(load_default=False)
    guests_may_give_back = Boolean(load_default=False)


KIND = Input("kind", lazy_gettext("Kind"), options=[*KIND_LABELS.items()])
NAME = Input(
    "name",
    lazy_gettext("Name of the block"),
    hint=lazy_gettext("For example: Bank Windhoek. Guests read it on their ticket, after “Guest of”."),
)
HOLDER = (
    Input("holderOrganisation", lazy_gettext("Holder: organisation")),
    Input("holderName", lazy_gettext("Holder: name")),
    Input(
        "holderEmail",
        lazy_gettext("Holder: e-mail address"),
        hint=lazy_gettext("For the holder’s link, the invoice and the report."),
        type="email",
    ),
)
PHONE = Input("holderPhone", lazy_gettext("Holder: phone"), type="tel", inputmode="tel")
QUANTITY = Input(
    "quantity",
    lazy_gettext("Places"),
    inputmode="numeric",
    messages={
        "required": lazy_gettext("Enter how many places."),
        "invalid_type": WRONG_NUMBER,
        "too_small": lazy_gettext("Enter 1 or more."),
        "too_large": lazy_gettext("Enter 5000 or less, and make a second block for more."),
    },
    error_codes=(errors.InsufficientTickets.code, errors.InsufficientSlots.code, CapacityExceeded.code),
)
PRICE = Input(
    "price",
    lazy_gettext("Price of a place in N$"),
    hint=lazy_gettext("Empty: the price beside the tickets; for artists, the press and staff free of charge."),
    inputmode="decimal",
    messages={"invalid_type": lazy_gettext("Enter an amount like 450 or 450.50.")},
)
RELEASE_AT = Input(
    "releaseAt",
    lazy_gettext("Give unused places back to the public at"),
    hint=lazy_gettext(
        "Links and codes of the block end then, and places on an issued invoice are credited. Empty: only when you give "
        "places back."
    ),
    type="datetime-local",
    messages={**IN_THE_PAST, "contradiction": lazy_gettext("A step of the plan comes after this.")},
)
STEP = (
    Input("on", lazy_gettext("Give some back earlier, at"), type="datetime-local", messages=IN_THE_PAST),
    Input(
        "amount",
        lazy_gettext("How many to give back then"),
        hint=lazy_gettext("A number of places like 10, or a part of the places that are unused then, like 50 %."),
        messages={
            "invalid_type": lazy_gettext("Enter a number like 10, or a part like 50 %."),
            "required": lazy_gettext("Enter how many."),
        },
    ),
)
PASS_ON = Input("guestsMayPassOn", lazy_gettext("Guests may pass their tickets on"), type="checkbox")
GIVE_BACK = Input("guestsMayGiveBack", lazy_gettext("Guests may give their tickets back"), type="checkbox")
NOTES = Input("notes", lazy_gettext("Notes"), hint=lazy_gettext("Only your team sees them."), type="textarea")
CHANGES = Form(
    ChangesSchema,
    NAME,
    KIND,
    *HOLDER,
    QUANTITY,
    replace(
        PRICE,
        hint=lazy_gettext("It no longer changes once the invoice is issued."),
        error_codes=(errors.BlockInvoiced.code,),
    ),
    PHONE,
    RELEASE_AT,
    PASS_ON,
    GIVE_BACK,
    NOTES,
    FACTS,
    Input("released", "", type="hidden"),
)
FREE_KINDS = ("artist", "press", "staff")
"""The kinds of blocks that cost nothing if no price is entered."""
FOLDED = (
    "holderPhone",
    "promoCode",
    "releaseAt",
    "on",
    "amount",
    "guestsMayPassOn",
    "guestsMayGiveBack",
    "notes",
)
"""The rarer fields, which the page folds."""


def build_new_block_form(event: OwnEvent) -> Form:
    """The form of a new block, with the ticket types of the event, their present price, and how many are free."""
    now = utcnow()
    prices = {ticket_type.id: get_current_price(ticket_type, now) for ticket_type in event.ticket_types}
    types = [
        (
            ticket_type.id,
            gettext(
                "%(name)s, %(price)s, %(free)s free",
                name=ticket_type.name,
                price=format_money(prices[ticket_type.id]),
                free=max(0, ticket_type.public),
            ),
        )
        for ticket_type in event.ticket_types
    ]
    price = PRICE
    if len(prices) == 1:
        hint = gettext(
            "Empty: %(amount)s; for artists, the press and staff free of charge.", amount=format_money(*prices.values())
        )
        price = replace(PRICE, hint=hint)
    return Form(
        NewBlockSchema,
        Input(
            "ticketTypeId",
            gettext("Tickets"),
            options=types,
            messages={"required": gettext("Add a ticket type to the event first.")},
        ),
        QUANTITY,
        KIND,
        NAME,
        *HOLDER,
        price,
        PHONE,
        Input(
            "promoCode",
            gettext("Promo code"),
            messages={
                "unknown_value": gettext(
                    "This code gives no discount on these tickets now. Enter another one, or leave the field empty."
                )
            },
        ),
        RELEASE_AT,
        *STEP,
        Input(
            "guestsMayPassOn",
            gettext("Guests may pass their tickets on"),
            options=[
                ("", gettext("Yes, but not those of the press and staff")),
                ("true", gettext("Yes")),
                ("false", gettext("No")),
            ],
        ),
        GIVE_BACK,
        NOTES,
    )


@blueprint.page("/new", access=WRITE)
def add_block(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form for a new block."""
    event = events.get_event(caller, event_id)
    return _render_new(event, build_new_block_form(event).fill(kind=states.BLOCK_KINDS[0], guestsMayGiveBack="true"))


@blueprint.act("/new", access=WRITE)
def create_block(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Make a block, or with `show` say what it would cost."""
    event = events.get_event(caller, event_id)
    form = build_new_block_form(event).from_request()
    try:
        terms = read_terms(form.load())
        if terms["kind"] in FREE_KINDS:
            terms.setdefault("unit_price_minor", 0)
        if request.form.get("show"):
            return _render_new(event, form, queries.calculate_quote(caller, event_id, **terms))
        block_id = do_once(caller, lambda: actions.create_block(caller, event_id, **terms))
    except FORM_ERRORS as error:
        return _render_new(event, form.with_error(reword(error)))
    return go_to(
        url_for("desk_guests.show_block", event_id=event_id, block_id=block_id),
        gettext("The block is made. Hand out its places now or later."),
    )


@blueprint.page("/<block_id>/edit", access=WRITE)
def edit_block(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show the form of a block."""
    event, block = events.get_event(caller, event_id), queries.get_block(caller, event_id, block_id)
    return _render_changes(event, block, _fill_changes(block))


@blueprint.act("/<block_id>/edit", access=WRITE)
def change_block(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Save a block, unless somebody else has changed its facts since the form was opened."""
    event, block = events.get_event(caller, event_id), queries.get_block(caller, event_id, block_id)
    form = CHANGES.from_request()
    try:
        changes = read_terms({"name": None, "release_at": None, "notes": None, **form.load()})
        expected_digest, expected_released = changes.pop("facts"), changes.pop("released")
        count_act(caller, MAIL_LIMIT)
        expected = {"expected_digest": expected_digest, "expected_released": expected_released}
        actions.update_block(caller, event_id, block_id, **expected, **changes)
    except FORM_ERRORS as error:
        return _render_changes(event, block, form.with_error(reword(error)))
    return go_to(
        url_for("desk_guests.show_block", event_id=event_id, block_id=block_id), gettext("The block is saved.")
    )


def read_terms(values: dict[str, Any]) -> dict[str, Any]:
    """The values of a form as arguments of the action: the holder, and the step of the release plan if there is one.

    Raises ValidationFailed for half a step.
    """
    values["holder"] = {name: values.pop(f"holder_{name}", None) for name in HOLDER_FIELDS}
    on, amount = values.pop("on", None), values.pop("amount", None)
    if (on is None) != (amount is None):
        raise ValidationFailed.of("amount" if amount is None else "on", "required", gettext("Fill in this field."))
    if on is not None:
        values["release_plan"] = [{"on": on, **amount}]
    return values


def _fill_changes(block: queries.BlockRow) -> FilledForm:
    return CHANGES.fill(
        name=block["name"] or "",
        kind=block["kind"],
        quantity=str(block["quantity"]),
        price=format_amount(block["unit_price_minor"]),
        releaseAt=format_local_time(block["release_at"], block["timezone"]),
        guestsMayPassOn="true" if block["guests_may_pass_on"] else "",
        guestsMayGiveBack="true" if block["guests_may_give_back"] else "",
        notes=block["notes"] or "",
        facts=digest_facts(block),
        released=str(block["released"]),
        holderOrganisation=block["holder_organisation"] or "",
        holderName=block["holder_name"] or "",
        holderEmail=block["holder_email"] or "",
        holderPhone=block["holder_phone"] or "",
    )


def _render_new(event: OwnEvent, form: FilledForm, quote: queries.BlockQuote | None = None) -> Response:
    return _render(
        event,
        form,
        title=gettext("New block"),
        lead=gettext("A block keeps places off the public sale. No mail is sent: you hand the places out later."),
        button=gettext("Make the block"),
        back=url_for("desk_guests.show", event_id=event.id),
        has_quote=True,
        quote=quote,
    )


def _render_changes(event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    mail = gettext("If you enter another address, the holder’s link ends, and a new one goes to that address by mail.")
    places = gettext("More places come from the public sale. If you enter fewer, free places go back to it.")
    return _render(
        event,
        form,
        title=gettext("Change %(name)s", name=name_block(block)),
        lead=" ".join(filter(None, (mail if block["allocator_live"] else "", places, describe_credit(block)))),
        button=gettext("Save"),
        back=url_for("desk_guests.show_block", event_id=event.id, block_id=block["id"]),
    )


def _render(event: OwnEvent, form: FilledForm, **context: Any) -> Response:
    names = list(form.form.inputs)
    return render_desk_form(
        form,
        event=event,
        template="desk/guest_block_form.html",
        names=[name for name in names if name not in FOLDED],
        folded_names=[name for name in names if name in FOLDED],
        is_unfolded=any(form.find_error(name) for name in FOLDED),
        **context,
    )
