"""The stock of an event: the items as a table whose numbers are changed in place, and the changes as they come."""

from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import STOCK_READ, STOCK_REMINDERS, STOCK_WRITE
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.desk.shell import DeskPages, do_once, go_to, render_desk
from app.blueprints.pages.desk.stock_words import (
    ALL_BUCKET_LABELS,
    BUCKET_LABELS,
    NOTE_LABELS,
    REASON_LABELS,
    STOCK_MESSAGES,
    WRONG_NUMBER,
)
from app.blueprints.pages.desk.tables import NUMBER, STATUS, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import TypedNumber
from app.core.errors import ValidationFailed
from app.core.languages import gettext, lazy_gettext, mark_plural
from app.events import queries as events
from app.events.queries import OwnEvent
from app.inventory import actions, item_list, queries
from app.inventory.actions.imports import MAX_BYTES
from app.inventory.formatting import format_quantity
from app.inventory.item_fields import BUCKETS, REASONS
from app.web.access import may
from app.web.fields import Boolean, Choice, Id, Text
from app.web.schema import Query, to_snake_case
from app.web.stock_fields import build_quantity_field

MAX_UPLOAD_BYTES = MAX_BYTES + 64 * 1024
"""A form is a little larger than the file in it."""
REFRESH_SECONDS = 1.5
"""A change by somebody else is on the page within two seconds."""
blueprint = DeskPages("desk_stock", __name__, url_prefix="/desk/events/<event_id>/stock", max_bytes=MAX_UPLOAD_BYTES)
"""The modules `stock_…` add their pages to it."""
READ, WRITE, REMIND = may(STOCK_READ), may(STOCK_WRITE), may(STOCK_REMINDERS)
COUNT = "count"


class FilterSchema(Query):
    q = Text(max=200)
    low_stock = Boolean()
    category = Text(max=80)
    supplier = Text(max=120)
    storage_location = Text(max=80)
    archived = Boolean(load_default=False)


class CountSchema(VersionSchema):
    item = Id(required=True)
    quantity = build_quantity_field(TypedNumber, required=True, min=0)
    bucket = Choice(*BUCKETS, load_default="onHand")
    reason = Choice(*REASONS, load_default=COUNT)
    note = Text(max=600)


def link_item(row: Row, key: str = "id") -> str:
    """The page of an item."""
    return url_for("desk_stock.show_item", event_id=(request.view_args or {})["event_id"], item_id=row[key])


COLUMNS = (
    Column("name", lazy_gettext("Item"), sort="name", link=link_item),
    Column("sku", lazy_gettext("SKU"), sort="sku"),
    Column("storageLocation", lazy_gettext("Place")),
    Column("onHand", lazy_gettext("On hand"), NUMBER),
    Column("reserved", lazy_gettext("Reserved"), NUMBER),
    Column("damaged", lazy_gettext("Damaged"), NUMBER),
    Column("available", lazy_gettext("Available"), NUMBER),
    Column("lowStock", lazy_gettext("State"), STATUS, labels={True: lazy_gettext("Low"), False: ""}),
)
FILTERS = (
    Input("q", lazy_gettext("Search"), type="search"),
    Input(
        "lowStock",
        lazy_gettext("State"),
        options=[("", lazy_gettext("All")), ("true", lazy_gettext("Low")), ("false", lazy_gettext("Not low"))],
    ),
    Input("category", lazy_gettext("Category")),
    Input("supplier", lazy_gettext("Supplier")),
    Input("storageLocation", lazy_gettext("Place")),
    Input("archived", lazy_gettext("Show"), options=[("", lazy_gettext("In use")), ("true", lazy_gettext("Archived"))]),
)
COUNT_FORM = Form(
    CountSchema,
    Input(
        "quantity",
        lazy_gettext("New number"),
        inputmode="decimal",
        messages={
            **WRONG_NUMBER,
            **STOCK_MESSAGES,
            "required": lazy_gettext("Enter the new number."),
            "unchanged": lazy_gettext(
                "This is the number already. Choose the reason “Count” to record that you counted it."
            ),
        },
        error_codes=("INSUFFICIENT_STOCK", "QUANTITY_TOO_LARGE", "STALE_VERSION"),
    ),
    Input("bucket", lazy_gettext("Which number"), options=list(BUCKET_LABELS.items())),
    Input("reason", lazy_gettext("Reason"), options=list(REASON_LABELS.items())),
    Input("note", lazy_gettext("Note")),
    Input("item", "", type="hidden"),
    VERSION,
)


@blueprint.page("", access=READ)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the items."""
    return _render(caller, event_id)


@blueprint.act("", access=WRITE)
def count(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Set one number of one item, and show the same part of the table again."""
    form = COUNT_FORM.from_request()
    try:
        values = form.load()
        do_once(caller, lambda: _set_number(caller, event_id, **values))
    except FORM_ERRORS as error:
        return _render(caller, event_id, form.with_error(error))
    query = request.query_string.decode("latin-1")
    return go_to(f"{request.path}?{query}#item-{values['item']}", gettext("The number is saved."))


@blueprint.page("/live", access=READ)
def show_live(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the latest changes, as they come."""
    return render_desk(
        "desk/stock_live.html",
        event=events.get_event(caller, event_id),
        movements=queries.list_latest_movements(caller, event_id),
        bucket_labels=ALL_BUCKET_LABELS,
        reason_labels=REASON_LABELS,
        note_labels=NOTE_LABELS,
        format_quantity=format_quantity,
        refresh_seconds=REFRESH_SECONDS,
    )


def get_permissions(caller: Caller, event: OwnEvent) -> dict[str, Any]:
    """What the caller may do with the stock of the event, for the buttons."""
    return {
        name: caller.may(permission, organisation_id=event.organiser_id, event_id=event.id)
        for name, permission in (("may_write", STOCK_WRITE), ("may_remind", STOCK_REMINDERS))
    }


def _set_number(
    caller: Caller,
    event_id: str,
    *,
    item: str,
    quantity: Decimal,
    bucket: str,
    reason: str,
    version: int,
    **fields: Any,
) -> str:
    """Record a number as counted, or the difference to it for another reason. Returns the item. Raises ValidationFailed."""
    present = queries.get_item(caller, event_id, item)
    change: dict[str, Any] = {"counted": quantity}
    if reason != COUNT:
        change = {"delta": quantity - present[BUCKETS[bucket]]}
        if not change["delta"] and present["version"] == version:
            raise ValidationFailed.of("quantity", "unchanged", "This is the number already.")
    actions.adjust_item(
        caller=caller,
        event_id=event_id,
        item_id=item,
        bucket=bucket,
        reason=reason,
        expected_version=version,
        **change,
        **fields,
    )
    return item


def _render(caller: Caller, event_id: str, row_form: FilledForm | None = None) -> Response:
    event = events.get_event(caller, event_id)
    return render_desk_table(
        "desk/stock.html",
        _build_table(queries.list_choices(caller, event_id)),
        partial(item_list.list_items, caller, event_id),
        event=event,
        record_file=partial(record_export, Action.STOCK_EXPORTED, event_id=event_id, subject=event_id),
        row_form=row_form,
        count_form=row_form or COUNT_FORM.fill(bucket="onHand", reason=COUNT),
        refresh_seconds=0 if row_form else REFRESH_SECONDS,
        **get_permissions(caller, event),
    )


def _build_table(choices: dict[str, list[str]]) -> Table:
    """The table with the values to choose from in its filters."""
    inputs = (
        replace(
            input_,
            options=[("", lazy_gettext("All")), *((value, value) for value in choices[to_snake_case(input_.name)])],
        )
        if to_snake_case(input_.name) in choices
        else input_
        for input_ in FILTERS
    )
    return Table(
        "stock",
        *COLUMNS,
        sorts=item_list.SORTS,
        default_sort="name",
        counted=mark_plural("%(num)s item", "%(num)s items"),
        filters=Form(FilterSchema, *inputs),
        returns_page=True,
        empty=lazy_gettext("Items appear here when you add one, or import a list."),
    )
