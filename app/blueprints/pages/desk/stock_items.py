"""One item of a stock: its facts and movements, the forms for a new and a changed item, archiving and restoring it."""

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.desk.shell import do_once, go_to, render_confirmation, render_desk_form
from app.blueprints.pages.desk.stock import READ, WRITE, blueprint, get_permissions
from app.blueprints.pages.desk.stock_words import (
    ALL_BUCKET_LABELS,
    NOTE_LABELS,
    REASON_LABELS,
    STOCK_MESSAGES,
    WRONG_NUMBER,
    WRONG_PRICE,
    WRONG_RATE,
)
from app.blueprints.pages.desk.tables import NUMBER, STATUS, TIME, Column, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import Price, TypedNumber, format_typed_number
from app.core.errors import AppError, NotFound
from app.core.formatting import format_full_date, format_money
from app.core.languages import gettext, lazy_gettext, lazy_pgettext, mark_plural
from app.events import queries as events
from app.inventory import actions, queries
from app.inventory.formatting import format_quantity, is_named_by_number
from app.inventory.item_fields import (
    BUCKETS,
    DATE,
    DECIMAL_PLACES,
    ITEM_FIELDS,
    LINK,
    MAX_SKU_LENGTH,
    PRICE,
    QUANTITY,
    RATE,
    ItemField,
)
from app.web.schema import Query
from app.web.stock_fields import build_item_field

LABELS = {
    "name": lazy_gettext("Name"),
    "sku": lazy_gettext("Item number"),
    "imageUrl": lazy_gettext("Address of a picture"),
    "productType": lazy_gettext("Type"),
    "expiryDate": lazy_gettext("Expires on"),
    "category": lazy_gettext("Category"),
    "brand": lazy_gettext("Brand"),
    "supplier": lazy_gettext("Supplier"),
    "barcode": lazy_gettext("Barcode"),
    "storageLocation": lazy_gettext("Place of storage"),
    "batchNumber": lazy_gettext("Batch"),
    "unit": lazy_gettext("Unit"),
    "costPrice": lazy_gettext("Cost price in N$"),
    "sellPrice": lazy_gettext("Sale price in N$"),
    "taxRate": lazy_gettext("Tax rate in %"),
    "parLevel": lazy_gettext("Fill up to"),
    "minOrderQty": lazy_gettext("Order at least"),
    "reorderLevel": lazy_gettext("Low at"),
    "onHand": lazy_gettext("On hand"),
    "reserved": lazy_gettext("Reserved"),
    "damaged": lazy_gettext("Damaged"),
    "notes": lazy_gettext("Notes"),
}
HINTS = {
    "sku": lazy_gettext("Your own number for the item, if you have one. Left empty, it is the name."),
    "unit": lazy_gettext("For example: case, bottle, kg."),
    "parLevel": lazy_gettext("An order brings the item up to this number."),
    "reorderLevel": lazy_gettext("At this number or below, the item is low and is ordered."),
}
RARE = {
    "imageUrl",
    "productType",
    "expiryDate",
    "brand",
    "barcode",
    "batchNumber",
    "taxRate",
    "minOrderQty",
    "reserved",
    "damaged",
    "notes",
}
MESSAGES = {
    "invalid_url": lazy_gettext("Enter an address that begins with https://."),
}


def _build_input(field: ItemField) -> Input:
    is_number = field.kind in DECIMAL_PLACES
    numbers = {QUANTITY: WRONG_NUMBER, PRICE: WRONG_PRICE, RATE: WRONG_RATE}.get(field.kind, {})
    codes = {"sku": ("SKU_TAKEN",), "onHand": ("INSUFFICIENT_STOCK",)}.get(field.name, ())
    return Input(
        field.name,
        LABELS[field.name],
        hint=HINTS.get(field.name, ""),
        type={DATE: "date", LINK: "url"}.get(field.kind, "textarea" if field.name == "notes" else "text"),
        inputmode="decimal" if is_number else "",
        messages={**MESSAGES, **numbers, **{code: STOCK_MESSAGES[code] for code in codes}},
        error_codes=codes,
        is_rare=field.name in RARE,
    )


def _build_fields(fields: tuple[ItemField, ...]) -> dict[str, Any]:
    return {
        field.attribute: build_item_field(
            field, required=field.required and field.name != "sku", number=Price if field.kind == PRICE else TypedNumber
        )
        for field in fields
    }


CHANGED_FIELDS = tuple(field for field in ITEM_FIELDS if field.name not in BUCKETS)
OPTIONAL_ATTRIBUTES = tuple(field.attribute for field in ITEM_FIELDS if not field.required)
NewItemSchema: type[Query] = type("NewItemSchema", (Query,), _build_fields(ITEM_FIELDS))
ItemChangesSchema: type[Query] = type("ItemChangesSchema", (VersionSchema,), _build_fields(CHANGED_FIELDS))
NEW_ITEM = Form(NewItemSchema, *map(_build_input, ITEM_FIELDS))
ITEM_CHANGES = Form(ItemChangesSchema, *map(_build_input, CHANGED_FIELDS), VERSION)
ARCHIVING = Form(VersionSchema, VERSION)
MOVEMENTS = Table(
    "movements",
    Column("occurred_at", lazy_gettext("When"), TIME, sort="occurredAt"),
    Column("bucket", lazy_gettext("Which"), labels=ALL_BUCKET_LABELS),
    Column("before", lazy_gettext("Before"), NUMBER),
    Column("delta", lazy_pgettext("noun", "Change"), NUMBER),
    Column("after", lazy_gettext("After"), NUMBER),
    Column("reason", lazy_gettext("Why"), STATUS, labels=REASON_LABELS),
    Column("note", lazy_gettext("Note"), labels=NOTE_LABELS),
    Column("reference", lazy_gettext("Reference")),
    Column("actor_name", lazy_gettext("Who")),
    sorts=queries.HISTORY_SORTS,
    default_sort="-occurredAt",
    counted=mark_plural("%(num)s movement", "%(num)s movements"),
    empty=lazy_gettext("Movements appear here when a number of the item changes."),
)


class Step(NamedTuple):
    """Archiving or restoring: its words, and what it makes of the item."""

    title: str
    text: str
    button: str
    done: str
    archived: bool


STEPS = {
    "archive": Step(
        lazy_gettext("Archive %(name)s?"),
        lazy_gettext(
            "The item leaves the table, and is not ordered any more. Its quantities, movements and item number stay. You can "
            "restore it."
        ),
        lazy_gettext("Archive"),
        lazy_gettext("The item is archived."),
        archived=True,
    ),
    "restore": Step(
        lazy_gettext("Restore %(name)s?"),
        lazy_gettext("The item is in the table again, with the numbers that it had."),
        lazy_gettext("Restore"),
        lazy_gettext("The item is restored."),
        archived=False,
    ),
}


@blueprint.page("/items/new", access=WRITE)
def add_item(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form for a new item."""
    zeros = {field.name: "0" for field in ITEM_FIELDS if field.kind == QUANTITY}
    return _render_new(caller, event_id, NEW_ITEM.fill(**zeros))


@blueprint.act("/items/new", access=WRITE)
def create_item(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Add an item with its opening stock."""
    form = NEW_ITEM.from_request()
    try:
        values = _load_item(form)
        item_id = do_once(caller, lambda: str(actions.create_item(caller=caller, event_id=event_id, **values)["id"]))
    except FORM_ERRORS as error:
        return _render_new(caller, event_id, form.with_error(error))
    return go_to(_build_path(event_id, item_id), gettext("The item is added."))


@blueprint.page("/items/<item_id>", access=READ)
def show_item(caller: Caller, event_id: str, item_id: str) -> ResponseReturnValue:
    """Show an item with its movements."""
    event, item = events.get_event(caller, event_id), queries.get_item(caller, event_id, item_id)
    return render_desk_table(
        "desk/stock_item.html",
        MOVEMENTS,
        partial(queries.list_history_query, caller, event_id, item_id),
        event=event,
        record_file=partial(record_export, Action.STOCK_EXPORTED, event_id=event_id, subject=event_id),
        item=item,
        facts=[(LABELS[field.name], _format_fact(field, item[field.attribute])) for field in CHANGED_FIELDS[2:]],
        buckets=[(label, item[BUCKETS[name]]) for name, label in ALL_BUCKET_LABELS.items() if name in BUCKETS],
        format_quantity=format_quantity,
        is_named_by_number=is_named_by_number,
        **get_permissions(caller, event),
    )


@blueprint.page("/items/<item_id>/change", access=WRITE)
def edit_item(caller: Caller, event_id: str, item_id: str) -> ResponseReturnValue:
    """Show the form of an item."""
    item = queries.get_item(caller, event_id, item_id)
    values = {field.name: _format_input(field, item[field.attribute]) for field in CHANGED_FIELDS}
    return _render_changes(caller, event_id, item, ITEM_CHANGES.fill(**values, version=str(item["version"])))


@blueprint.act("/items/<item_id>/change", access=WRITE)
def change_item(caller: Caller, event_id: str, item_id: str) -> ResponseReturnValue:
    """Save the fields of an item, unless somebody else has changed it since the form was opened."""
    item, form = queries.get_item(caller, event_id, item_id), ITEM_CHANGES.from_request()
    try:
        values = {**dict.fromkeys(OPTIONAL_ATTRIBUTES), **_load_item(form)}
        do_once(caller, lambda: _update_item(caller, event_id, item_id, **values))
    except FORM_ERRORS as error:
        return _render_changes(caller, event_id, item, form.with_error(error))
    return go_to(_build_path(event_id, item_id), gettext("The item is saved."))


@blueprint.page("/items/<item_id>/<step>", access=WRITE)
def confirm_step(caller: Caller, event_id: str, item_id: str, step: str) -> ResponseReturnValue:
    """Ask whether to archive or to restore an item."""
    return _render_step(caller, event_id, queries.get_item(caller, event_id, item_id), _get_step(step))


@blueprint.act("/items/<item_id>/<step>", access=WRITE)
def take_step(caller: Caller, event_id: str, item_id: str, step: str) -> ResponseReturnValue:
    """Archive or restore an item."""
    chosen_step = _get_step(step)
    try:
        values = ARCHIVING.from_request().load()
        do_once(caller, lambda: _update_item(caller, event_id, item_id, archived=chosen_step.archived, **values))
    except FORM_ERRORS as error:
        return _render_step(caller, event_id, queries.get_item(caller, event_id, item_id), chosen_step, error)
    return go_to(_build_path(event_id, item_id), str(chosen_step.done))


def _load_item(form: FilledForm) -> dict[str, Any]:
    """The values of an item; without a number it gets its name as the number, as in a list without numbers."""
    values = form.load()
    return {"sku": values["name"][:MAX_SKU_LENGTH].strip(), **values}


def _update_item(caller: Caller, event_id: str, item_id: str, version: int, **values: Any) -> str:
    actions.update_item(caller=caller, event_id=event_id, item_id=item_id, expected_version=version, **values)
    return item_id


def _get_step(name: str) -> Step:
    if name not in STEPS:
        raise NotFound()
    return STEPS[name]


def _build_path(event_id: str, item_id: str) -> str:
    return url_for("desk_stock.show_item", event_id=event_id, item_id=item_id)


def _format_value(value: Any) -> str:
    """The value of a field of the form."""
    return format_typed_number(value) if isinstance(value, Decimal) else "" if value is None else str(value)


def _format_input(field: ItemField, value: Any) -> str:
    """The value of a field of the form. A number with three decimals gets a fourth, or it would read as thousands."""
    text = _format_value(value)
    return f"{text}0" if field.kind in DECIMAL_PLACES and len(text.partition(".")[2]) == 3 else text


def _format_fact(field: ItemField, value: Any) -> str:
    if field.kind == DATE and value is not None:
        return format_full_date(value)
    if field.kind == PRICE and value is not None and not (value * 100) % 1:
        return format_money(int(value * 100)).removeprefix("N$\u00a0")
    return _format_value(value)


def _render_new(caller: Caller, event_id: str, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=events.get_event(caller, event_id),
        title=gettext("New item"),
        button=gettext("Add the item"),
        back=url_for("desk_stock.show", event_id=event_id),
    )


def _render_changes(caller: Caller, event_id: str, item: Mapping[Any, Any], form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=events.get_event(caller, event_id),
        title=gettext("Change %(name)s", name=item["name"]),
        lead=gettext("Change the numbers of the item in the table of the stock."),
        button=gettext("Save"),
        back=_build_path(event_id, item["id"]),
    )


def _render_step(
    caller: Caller, event_id: str, item: Mapping[Any, Any], step: Step, error: AppError | None = None
) -> Response:
    return render_confirmation(
        event=events.get_event(caller, event_id),
        title=step.title % {"name": item["name"]},
        text=step.text,
        button=step.button,
        back=_build_path(event_id, item["id"]),
        values={"version": request.form.get("version") or str(item["version"])},
        error=error,
    )
