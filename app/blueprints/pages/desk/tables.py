"""Tables of the desk: columns declared once, with sort, filter, pages and CSV.

    EVENTS = Table(
        "events",
        Column("name", "Event", sort="name", link=lambda row: url_for("desk_event.show", event_id=row["id"])),
        Column("starts_at", "Starts", "time", sort="startsAt"),
        sorts=queries.SORTS,
        default_sort="-startsAt",
        filters=Form(FilterSchema, Input("q", "Search")),
        empty="Your events appear here.",
    )

    return render_desk_table("desk/events.html", EVENTS, partial(queries.list_events_query, caller))

The view of a table is a function of the filters that returns a select(), like the view of a `Listing` of the API. The
macro `table` of `desk/parts.html` draws it.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from io import StringIO
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from flask import Response, request

from app.blueprints.pages.desk.shell import DeskEvent, render_desk
from app.blueprints.pages.desk.status_colours import find_colour
from app.blueprints.pages.forms import FilledForm, Form
from app.core.clock import rfc3339
from app.core.csv_export import BYTE_ORDER_MARK
from app.core.errors import ValidationFailed
from app.core.formatting import HOME, format_money, format_number, format_short_time, format_table_day
from app.core.languages import mark_plural, ngettext
from app.core.spreadsheet_cells import escape
from app.web.paging import Listing, SortColumn, find_next_cursor, load_page
from app.web.schema import Query, Schema
from app.web.types import View

Row = Mapping[Any, Any]
TEXT, CODE, NUMBER, AMOUNT, MONEY, DAY, TIME, STATUS = KINDS = (
    "text",
    "code",
    "number",
    "amount",
    "money",
    "day",
    "time",
    "status",
)
PAGE_SIZE, CSV_PAGE_SIZE, MAX_CSV_ROWS = 50, 1000, 100_000


@dataclass(frozen=True)
class Column:
    """A column: the key of its value in a row, its label, the kind of its values, and the sort of the table it has.

    A code stays in one line. An amount is in N$, money in cents. Days and times are shown in the `timezone` of the row,
    if it has one. A status is shown by its word in `labels`, in its colour of `colours` or `status_colours`. `link`
    returns where the cell of a row leads, or nothing.
    """

    key: str
    label: str
    kind: str = TEXT
    sort: str = ""
    labels: Mapping[Any, str] = field(default_factory=dict)
    link: Callable[[Row], str] | None = None
    colours: Mapping[Any, str] = field(default_factory=dict)

    @property
    def is_number(self) -> bool:
        return self.kind in (NUMBER, AMOUNT, MONEY)

    def format(self, row: Row) -> str:
        """The text of the cell on the page."""
        value, zone = row[self.key], row.get("timezone")
        if value is None:
            return ""
        if self.kind == MONEY:
            return format_money(value)
        if self.kind == AMOUNT:
            return format_money(round(value * 100))
        if self.kind == NUMBER:
            return format_number(value)
        if self.kind == TIME:
            return format_short_time(value, zone)
        if self.kind == DAY:
            is_moment = isinstance(value, datetime)
            return format_table_day(value.astimezone(ZoneInfo(zone or HOME)).date() if is_moment else value)
        return str(self.labels.get(value, value))

    def find_colour(self, row: Row) -> str:
        """`done`, `wrong` or nothing: the class of the status in the cell."""
        value = row[self.key]
        return self.colours.get(value, find_colour(value))

    def format_csv(self, row: Row, zone: str = "") -> str:
        """The text of the cell in a file: amounts as 1234.50, times as 2026-11-28 10:20 in a zone or in UTC, no formulas."""
        value = row[self.key]
        if value is None:
            return ""
        if self.kind == MONEY:
            return f"{value / 100:.2f}"
        if isinstance(value, datetime):
            return f"{value.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}" if zone else rfc3339(value)
        if isinstance(value, date):
            return value.isoformat()
        if self.kind == NUMBER:
            digits = str(value)
            return digits.rstrip("0").rstrip(".") if "." in digits else digits
        return escape(str(self.labels.get(value, value)))


class NoFilters(Query):
    """The schema of a table without filters."""


ROWS = mark_plural("%(num)s row", "%(num)s rows")


class Table:
    """A table: its name, columns, sorts, filters, and what the page says while it is empty.

    `sorts` and `returns_page` are those of the `Listing` of the API. `counted` are the texts for one row and for several.
    """

    def __init__(
        self,
        name: str,
        *columns: Column,
        sorts: Mapping[str, SortColumn],
        default_sort: str,
        empty: str,
        counted: tuple[str, str] = ROWS,
        filters: Form | None = None,
        returns_page: bool = False,
    ) -> None:
        self.name, self.columns, self.empty, self.counted = name, columns, empty, counted
        self.filters = filters or Form(NoFilters)
        self.filters.marks_optional = False
        self.listing = Listing(name, Schema, sorts, default_sort, returns_page=returns_page)

    def with_columns(self, *columns: Column) -> "Table":
        """The table with these columns too, at the end."""
        table = copy(self)
        table.columns = (*self.columns, *columns)
        return table

    def with_options(self, name: str, options: Sequence[tuple[str, str]]) -> "Table":
        """The table with a filter whose choices are known only now."""
        table, inputs = copy(self), self.filters.inputs.values()
        table.filters = Form(
            self.filters.schema, *(replace(it, options=options) if it.name == name else it for it in inputs)
        )
        table.filters.marks_optional = False
        return table


@dataclass(frozen=True)
class TablePage:
    """One page of a table. `next_url` and `first_url` are empty where there is no such page."""

    table: Table
    rows: Sequence[Row]
    filters: FilledForm
    sort: str
    total: int
    next_url: str
    first_url: str
    csv_url: str
    all_url: str

    @property
    def count_label(self) -> str:
        """The number of all rows in words."""
        return ngettext(*self.table.counted, self.total)

    @property
    def is_filtered(self) -> bool:
        """Whether a filter is set, so that the table may have rows that are not here."""
        return any(self.filters.values.values())

    def find_sort(self, column: Column) -> str:
        """The value of `aria-sort` of a column."""
        directions = {column.sort: "ascending", f"-{column.sort}": "descending"}
        return directions.get(self.sort, "none") if column.sort else ""

    def build_sort_url(self, column: Column) -> str:
        """Where the heading of a column leads: its sort, or the other direction of it."""
        sort = f"-{column.sort}" if self.sort == column.sort else column.sort
        return _build_url(self.filters, sort=sort)


def render_desk_table(
    template: str,
    table: Table,
    view: View,
    *,
    event: DeskEvent | None = None,
    row_form: FilledForm | None = None,
    record_file: Callable[[], None] | None = None,
    **context: Any,
) -> Response:
    """Return the page of a table, or with `format=csv` the file of all its rows, for one event with times of its time zone.

    The template gets the `TablePage` as `page`. A filter with an error shows no rows. `row_form` is the form of a row
    after an error, which decides the HTTP status.
    `record_file` records the file as an export, only when it is sent.
    """
    filters, sort = table.filters.from_query(), request.args.get("sort", "")
    if sort not in table.listing.sort_choices:
        sort = table.listing.default_sort
    try:
        values = filters.load()
    except ValidationFailed as error:
        filters = filters.with_error(error)
        empty_page = TablePage(table, (), filters, sort, 0, "", "", "", request.path)
        return render_desk(template, event=event, form=filters, page=empty_page, **context)
    if request.args.get("format") == "csv":
        if record_file is not None and request.method != "HEAD":
            record_file()
        return _build_csv(table, _list_all_rows(table, view, sort, values), event.timezone if event else "")
    page = _load_table_page(table, view, filters, sort, values)
    return render_desk(template, event=event, form=row_form or filters, page=page, **context)


def _load_table_page(
    table: Table, view: View, filters: FilledForm, sort: str, values: Mapping[str, object]
) -> TablePage:
    cursor = request.args.get("cursor") or None
    page, _ = load_page(view, table.listing, limit=PAGE_SIZE, sort=sort, filters=values, with_total=True, cursor=cursor)
    next_cursor = find_next_cursor(page, table.listing, sort)
    return TablePage(
        table=table,
        rows=page.rows,
        filters=filters,
        sort=sort,
        total=page.total or 0,
        next_url=_build_url(filters, sort=sort, cursor=next_cursor) if next_cursor else "",
        first_url=_build_url(filters, sort=sort) if cursor else "",
        csv_url=_build_url(filters, sort=sort, format="csv"),
        all_url=request.path,
    )


def _list_all_rows(table: Table, view: View, sort: str, values: Mapping[str, object]) -> Iterator[Row]:
    cursor, count = None, 0
    while count < MAX_CSV_ROWS:
        page, _ = load_page(view, table.listing, limit=CSV_PAGE_SIZE, sort=sort, filters=values, cursor=cursor)
        yield from page.rows
        count += len(page.rows)
        cursor = find_next_cursor(page, table.listing, sort)
        if cursor is None:
            return


def _build_csv(table: Table, rows: Iterator[Row], zone: str) -> Response:
    file = StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([str(column.label) for column in table.columns])
    writer.writerows([column.format_csv(row, zone) for column in table.columns] for row in rows)
    headers = {"Content-Disposition": f'attachment; filename="{table.name}.csv"', "Cache-Control": "no-store"}
    return Response(BYTE_ORDER_MARK + file.getvalue().encode(), content_type="text/csv; charset=utf-8", headers=headers)


def _build_url(filters: FilledForm, **arguments: str) -> str:
    values = {name: value for name, value in {**filters.values, **arguments}.items() if value}
    return f"{request.path}?{urlencode(values)}" if values else request.path
