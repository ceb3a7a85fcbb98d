"""What to order, with a number to fill up to for low items that have none, and the orders that were made."""

from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any

from flask import Response, request
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.blueprints.pages.desk.shell import do_once, go_to
from app.blueprints.pages.desk.stock import READ, WRITE, blueprint, get_permissions
from app.blueprints.pages.desk.stock_orders import link_to_order
from app.blueprints.pages.desk.stock_words import ORDER_STATE_LABELS, WRONG_NUMBER
from app.blueprints.pages.desk.tables import CODE, NUMBER, STATUS, TIME, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FIELD_MESSAGES, FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import TypedNumber
from app.core.errors import StaleVersion, ValidationFailed
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext, mark_plural, ngettext
from app.events import queries as events
from app.inventory import actions, queries
from app.inventory.formatting import format_item, format_quantity
from app.inventory.purchase_order_queries import ORDER_SORTS, list_orders_query
from app.inventory.purchase_order_sql import MAX_ITEMS
from app.web.schema import Query
from app.web.stock_fields import build_quantity_field

PREFIX, MAX_LEVELS = "parLevel-", 200


class LevelSchema(Query):
    """The numbers to fill up to, with a field for each item."""


ORDERS = Table(
    "orders",
    Column(
        "created_at",
        lazy_gettext("Ordered"),
        TIME,
        sort="createdAt",
        link=lambda row: link_to_order(row["event_id"], row["id"]),
    ),
    Column("number", lazy_gettext("Number"), CODE),
    Column("supplier", lazy_gettext("Supplier")),
    Column("status", lazy_gettext("State"), STATUS, labels=ORDER_STATE_LABELS),
    Column("items", lazy_gettext("Items"), NUMBER),
    Column("actor_name", lazy_gettext("By")),
    sorts=ORDER_SORTS,
    default_sort="-createdAt",
    counted=mark_plural("%(num)s order", "%(num)s orders"),
    empty=lazy_gettext("Orders appear here when you have made one."),
)


@blueprint.page("/order", access=READ)
def show_reorder(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show what an order would contain, by supplier, and the orders that were made."""
    return _render_reorder(caller, event_id)


@blueprint.act("/order", access=WRITE)
def save_levels_or_order(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Save the numbers to fill up to, or order the items that the page showed, if they are still low."""
    return _order_items(caller, event_id) if "items" in request.form else _save_levels(caller, event_id)


def _order_items(caller: Caller, event_id: str) -> ResponseReturnValue:
    ids = [id for id in request.form.get("items", "").split(",")[:MAX_ITEMS] if is_id(id)]
    reorder = actions.reorder_items(caller=caller, event_id=event_id, item_ids=ids)
    done = (
        gettext("Items ordered: %(num)s. Print the orders, or mail them to the suppliers.", num=reorder.items)
        if reorder.items
        else gettext("Nothing was ordered: these items are on order already.")
    )
    return go_to(request.path, done)


def _save_levels(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Save the numbers that are filled in. An item that somebody else has given one meanwhile keeps that."""
    items = {item["id"]: item for item in queries.list_unfilled_items(events.get_event(caller, event_id).id)}
    suffixes = [name.removeprefix(PREFIX) for name in request.form if name.startswith(PREFIX)]
    ids = [item_id for item_id in suffixes if is_id(item_id)][:MAX_LEVELS]
    form = _build_level_form({item_id: items[item_id]["name"] if item_id in items else "" for item_id in ids})
    filled_form = form.from_request()
    try:
        levels = {name.removeprefix(PREFIX): level for name, level in filled_form.load().items() if level is not None}
        _check_levels(levels, items)
        count = int(do_once(caller, lambda: str(_update_items(caller, event_id, levels, items))))
    except FORM_ERRORS as error:
        return _render_reorder(caller, event_id, filled_form.with_error(error))
    done = ngettext(
        "The number is saved. Look at what is ordered, and make the orders.",
        "%(num)s numbers are saved. Look at what is ordered, and make the orders.",
        count,
    )
    return go_to(request.path, done)


def _check_levels(levels: Mapping[str, Decimal], items: Mapping[str, Row]) -> None:
    """Raises ValidationFailed without a number, and for each that is not above what is available and on order."""
    if not levels:
        raise ValidationFailed.of("", "required", gettext("Enter a number for at least one item."))
    problems = []
    for item_id in levels.keys() & items.keys():
        present = items[item_id]["available"] + items[item_id]["on_order"]
        if levels[item_id] <= present:
            text = gettext("Enter more than %(num)s: so many are there or on order.", num=format_quantity(present))
            problems.append({"path": f"{PREFIX}{item_id}", "code": "too_low", "message": text})
    if problems:
        raise ValidationFailed(problems)


def _update_items(caller: Caller, event_id: str, levels: Mapping[str, Decimal], items: Mapping[str, Row]) -> int:
    """Save each number by itself, and return how many are saved. An item that has changed since it was read stays as it is."""
    count = 0
    for item_id in sorted(levels.keys() & items.keys()):
        version, level = items[item_id]["version"], levels[item_id]
        with suppress(StaleVersion):
            actions.update_item(
                caller=caller, event_id=event_id, item_id=item_id, expected_version=version, par_level=level
            )
            count += 1
    return count


def _build_level_form(names: Mapping[str, str]) -> Form:
    """The form with a number to fill up to for each item."""
    fields: dict[str, Any] = {f"{PREFIX}{item_id}": build_quantity_field(TypedNumber, min=0) for item_id in names}
    messages = {**WRONG_NUMBER, "too_large": FIELD_MESSAGES["too_large"]}
    inputs = [
        Input(
            f"{PREFIX}{item_id}",
            gettext("Fill up %(name)s to", name=name),
            inputmode="decimal",
            messages={code: f"{name}: {message}" for code, message in messages.items()},
        )
        for item_id, name in names.items()
    ]
    form = Form(LevelSchema.from_dict(fields), *inputs)
    form.marks_optional = False
    return form


def _render_reorder(caller: Caller, event_id: str, levels: FilledForm | None = None) -> Response:
    event = events.get_event(caller, event_id)
    unfilled_items = queries.list_unfilled_items(event.id)
    level_form = _build_level_form({item["id"]: item["name"] for item in unfilled_items[:MAX_LEVELS]})
    reorder = actions.reorder_items(caller=caller, event_id=event_id, dry_run=True)
    return render_desk_table(
        "desk/stock_order.html",
        ORDERS,
        partial(list_orders_query, caller, event_id),
        event=event,
        reorder=reorder,
        row_form=levels,
        levels=FilledForm(level_form, levels.values if levels else {}, levels.error if levels else None),
        level_prefix=PREFIX,
        unfilled_items=unfilled_items,
        item_ids=",".join(line.item_id for order in reorder.orders for line in order.lines),
        format_item=format_item,
        format_quantity=format_quantity,
        path=request.path,
        **get_permissions(caller, event),
    )
