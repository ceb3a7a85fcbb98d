"""Places that move to another block of the same ticket type, or are split off as a new block."""

from typing import Any

from flask import Response, request
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.allocations import actions, errors, queries, states
from app.allocations.actions.blocks import HOLDER_FIELDS
from app.blueprints.pages.desk.form_parts import WRONG_NUMBER
from app.blueprints.pages.desk.guest_block import build_block_path, get_event_block
from app.blueprints.pages.desk.guest_block_form import HOLDER, MAX_PLACES, NAME, NOTES, PHONE, RELEASE_AT, HolderSchema
from app.blueprints.pages.desk.guest_words import KIND_LABELS, name_block, reword
from app.blueprints.pages.desk.guests import WRITE, blueprint
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import Amount
from app.core.errors import ValidationFailed
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext, ngettext
from app.core.paging import Order, page_of
from app.events.queries import OwnEvent
from app.web.fields import Choice, EndTimeField, Id, Text, WholeNumber
from app.web.text_fields import Name

MAX_BLOCKS, MAX_CHOSEN = 500, 50
NEW_BLOCK_FIELDS = ("name", "kind", "unit_price_minor", "release_at", "notes")


class MoveSchema(HolderSchema):
    quantity = WholeNumber(min=1, max=MAX_PLACES)
    to_block_id = Id()
    name = Name(max=120)
    kind = Choice(*states.BLOCK_KINDS)
    unit_price_minor = Amount(data_key="price")
    release_at = EndTimeField()
    notes = Text(max=2000)


QUANTITY = Input(
    "quantity",
    lazy_gettext("How many free places"),
    inputmode="numeric",
    messages={
        "required": lazy_gettext("Enter how many places."),
        "invalid_type": WRONG_NUMBER,
        "too_small": lazy_gettext("Enter 1 or more."),
    },
    error_codes=(errors.InsufficientSlots.code,),
)
NEW_BLOCK = (
    NAME,
    Input("kind", lazy_gettext("Kind"), options=[("", lazy_gettext("As in this block")), *KIND_LABELS.items()]),
    *HOLDER,
    PHONE,
    Input(
        "price",
        lazy_gettext("Price of a place in N$"),
        hint=lazy_gettext("Empty: as in this block."),
        inputmode="decimal",
        messages={"invalid_type": lazy_gettext("Enter an amount like 450 or 450.50.")},
    ),
    Input(
        RELEASE_AT.name,
        RELEASE_AT.label,
        lazy_gettext("Empty: as in this block."),
        RELEASE_AT.type,
        messages=RELEASE_AT.messages,
    ),
    NOTES,
)


@blueprint.page("/<block_id>/move", access=WRITE)
def choose_move(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Ask where to move the chosen places, or so many free ones."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render(event, block, _build_form(caller, block).fill())


@blueprint.act("/<block_id>/move", access=WRITE)
def move(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Move places to another block or to a new one, which is then shown."""
    event, block = get_event_block(caller, event_id, block_id)
    form = _build_form(caller, block).from_request()

    def move_places() -> str:
        places = _read_places(form.load())
        return str(actions.move_slots(caller, event_id, block_id, **places).target["id"])

    try:
        target_id = do_once(caller, move_places)
    except FORM_ERRORS as error:
        return _render(event, block, form.with_error(reword(error)))
    done = gettext("The places are in this block now. Guests keep their links, codes and tickets.")
    return go_to(build_block_path(event_id, target_id), done)


def _build_form(caller: Caller, block: queries.BlockRow) -> Form:
    """The form, with the other blocks of the ticket type; it asks how many if no places are chosen."""
    statement = queries.list_blocks_query(caller, block["event_id"], ticket_type_id=block["ticket_type_id"])
    order = Order(queries.BLOCK_SORTS["name"], False)
    page = page_of(statement, id_column=queries.BLOCK_ID, order=order, limit=MAX_BLOCKS, after=None, with_total=False)
    others = [(row["id"], name_block(row)) for row in page.rows if row["id"] != block["id"]]
    to_block = Input("toBlockId", gettext("Move them to"), options=[("", gettext("A new block")), *others])
    form = Form(MoveSchema, *(() if _list_chosen_ids() else (QUANTITY,)), to_block, *NEW_BLOCK)
    form.marks_optional = False
    return form


def _read_places(values: dict[str, Any]) -> dict[str, Any]:
    """The values of the form as arguments of the action. Raises ValidationFailed if no number is there."""
    slot_ids, quantity = _list_chosen_ids(), values.get("quantity")
    if not slot_ids and quantity is None:
        raise ValidationFailed.of("quantity", "required", gettext("Enter how many places."))
    places = {"slot_ids": slot_ids} if slot_ids else {"quantity": quantity}
    if "to_block_id" in values:
        return {**places, "to_block_id": values["to_block_id"]}
    new_block = {name: values[name] for name in NEW_BLOCK_FIELDS if name in values}
    new_block["holder"] = {name: values.get(f"holder_{name}") for name in HOLDER_FIELDS}
    return {**places, "new_block": new_block}


def _list_chosen_ids() -> list[str]:
    return [id for id in dict.fromkeys(request.values.getlist("id")) if is_id(id)][:MAX_CHOSEN]


def _render(event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    ids = _list_chosen_ids()
    names = [name for name in form.form.inputs if name in ("quantity", "toBlockId")]
    lead = gettext("The places get the price, discounts, release time and holder of the other block. No mail is sent.")
    if not ids:
        lead += " " + ngettext("%(num)s place is free.", "%(num)s places are free.", block["available"])
    chosen = ngettext("%(num)s chosen place", "%(num)s chosen places", len(ids)) if ids else gettext("free places")
    return render_desk_form(
        form,
        event=event,
        template="desk/guest_move.html",
        title=gettext("Move %(places)s of %(name)s", places=chosen, name=name_block(block)),
        lead=lead,
        button=gettext("Move them"),
        back=build_block_path(event.id, block["id"]),
        ids=ids,
        names=names,
        new_block_names=[name for name in form.form.inputs if name not in names],
    )
