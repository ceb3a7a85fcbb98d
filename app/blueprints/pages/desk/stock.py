"""The stock of an event: the items as a table whose numbers are changed in place, and the changes as they come."""

import secrets
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from flask import Response, flash, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import STOCK_READ, STOCK_REMINDERS, STOCK_WRITE
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.shell import DeskPages, go_to, render_desk
from app.blueprints.pages.desk.stock_numbers import (
    LESS_OPTIONS,
    NUMBER_FORM,
    TypedNumbers,
    mark_refused,
    read_typed_numbers,
    save_typed_numbers,
)
from app.blueprints.pages.desk.stock_words import (
    ALL_BUCKET_LABELS,
    NOTE_LABELS,
    REASON_LABELS,
)
from app.blueprints.pages.desk.tables import CODE, NUMBER, STATUS, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, Form, Input
from app.core.ids import is_id
from app.core.languages import lazy_gettext, mark_plural, ngettext
from app.events import queries as events
from app.events.queries import OwnEvent
from app.inventory import item_list, queries
from app.inventory.actions.imports import MAX_BYTES
from app.inventory.formatting import format_quantity, is_named_by_number
from app.web.access import may
from app.web.fields import Boolean, Text
from app.web.schema import Query, to_snake_case

MAX_UPLOAD_BYTES = MAX_BYTES + 64 * 1024
"""A form is a little larger than the file in it."""
REFRESH_SECONDS = 1.5
"""A change by somebody else is on the page within two seconds."""
blueprint = DeskPages("desk_stock", __name__, url_prefix="/desk/events/<event_id>/stock", max_bytes=MAX_UPLOAD_BYTES)
"""The modules `stock_…` add their pages to it."""
READ, WRITE, REMIND = may(STOCK_READ), may(STOCK_WRITE), may(STOCK_REMINDERS)


class FilterSchema(Query):
    q = Text(max=200)
    low_stock = Boolean()
    category = Text(max=80)
    supplier = Text(max=120)
    storage_location = Text(max=80)
    archived = Boolean(load_default=False)


def link_item(row: Row, key: str = "id") -> str:
    """The page of an item."""
    return url_for("desk_stock.show_item", event_id=(request.view_args or {})["event_id"], item_id=row[key])


@dataclass(frozen=True)
class ItemNumber(Column):
    """The number of an item; the page leaves it out where it says what the name says."""

    def format(self, row: Row) -> str:
        """The text of the cell on the page."""
        return "" if is_named_by_number(row["name"], row["sku"]) else super().format(row)


COLUMNS = (
    Column("name", lazy_gettext("Item"), sort="name", link=link_item),
    ItemNumber("sku", lazy_gettext("Item number"), CODE, sort="sku"),
    Column("storageLocation", lazy_gettext("Place")),
    Column("unit", lazy_gettext("Unit")),
    Column("onHand", lazy_gettext("On hand"), NUMBER),
    Column("reserved", lazy_gettext("Reserved"), NUMBER),
    Column("damaged", lazy_gettext("Damaged"), NUMBER),
    Column("available", lazy_gettext("Available"), NUMBER),
    Column(
        "lowStock",
        lazy_gettext("State"),
        STATUS,
        labels={True: lazy_gettext("Low"), False: ""},
        colours={True: "wrong"},
    ),
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


@blueprint.page("", access=READ)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the items."""
    return _render(caller, event_id)


@blueprint.act("", access=WRITE)
def save_numbers(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Save all numbers that are filled in, and show the same part of the table again, with those that are refused."""
    numbers = read_typed_numbers()
    try:
        saved = save_typed_numbers(caller, event_id, numbers)
    except FORM_ERRORS as error:
        return _render(caller, event_id, replace(numbers, error=error))
    done = ngettext("The number is saved.", "%(num)s numbers are saved.", saved.count)
    if saved.refused:
        if saved.count:
            flash(done)
        return _render(caller, event_id, mark_refused(numbers, saved.refused))
    query = request.query_string.decode("latin-1")
    return go_to(f"{request.path}?{query}#item-{next(iter(numbers.rows))}", done)


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
        is_id=is_id,
        refresh_seconds=REFRESH_SECONDS,
    )


def get_permissions(caller: Caller, event: OwnEvent) -> dict[str, Any]:
    """What the caller may do with the stock of the event, for the buttons."""
    return {
        name: caller.may(permission, organisation_id=event.organiser_id, event_id=event.id)
        for name, permission in (("may_write", STOCK_WRITE), ("may_remind", STOCK_REMINDERS))
    }


def _render(caller: Caller, event_id: str, numbers: TypedNumbers | None = None) -> Response:
    event, overview = events.get_event(caller, event_id), queries.load_overview(caller, event_id)
    return render_desk_table(
        "desk/stock.html",
        _build_table(overview.choices),
        partial(item_list.list_items, caller, event_id),
        event=event,
        record_file=partial(record_export, Action.STOCK_EXPORTED, event_id=event_id, subject=event_id),
        waiting_import=overview.waiting_import,
        row_form=numbers,
        numbers=numbers or TypedNumbers(NUMBER_FORM, {}),
        less_options=LESS_OPTIONS,
        numbers_key=secrets.token_urlsafe(16),
        refresh_seconds=0 if numbers else REFRESH_SECONDS,
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
