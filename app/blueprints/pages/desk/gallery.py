"""All macros of the desk in their states, for those who build pages: `/dev/desk`. Not available in production."""

from collections.abc import Sequence
from datetime import UTC, datetime
from types import SimpleNamespace

from flask import Response, url_for

from app.blueprints.pages.desk.charts import LINE, Point, build_chart
from app.blueprints.pages.desk.event_words import VISIBILITY_LABELS
from app.blueprints.pages.desk.navigation import Link
from app.blueprints.pages.desk.row_forms import RowList
from app.blueprints.pages.desk.shell import Frame
from app.blueprints.pages.desk.tables import MONEY, NUMBER, STATUS, TIME, Column, Row, Table, TablePage
from app.blueprints.pages.forms import FilledForm, Form, Input
from app.blueprints.pages.rendering import REFRESH_POLICY, Pages, render_page
from app.core.errors import ValidationFailed
from app.core.formatting import format_money
from app.core.languages import mark_plural
from app.web.fields import Boolean, Choice, Text, TimeField
from app.web.schema import Query

blueprint = Pages("desk_gallery", __name__, url_prefix="/dev/desk")
EVENT_ID = "0" * 24
SALES = [("1 May", 120_00), ("2 May", 845_00), ("3 May", 0), ("4 May", 2_310_00), ("5 May", 1_560_00)]
ROWS = [
    {
        "name": "Weekend pass",
        "state": "published",
        "sold": 12_345,
        "takings": 555_525_00,
        "starts_at": datetime(2026, 12, 4, 16, tzinfo=UTC),
    },
    {"name": "Tent", "state": "draft", "sold": 0, "takings": 0, "starts_at": None},
]


class SampleFilters(Query):
    q = Text(max=20)
    state = Choice(*VISIBILITY_LABELS)


class SampleSchema(Query):
    name = Text(required=True, min=2)
    kind = Choice("food", "craft", required=True)
    opens_at = TimeField()
    note = Text()
    needs_power = Boolean()


STATE_OPTIONS = [("", "All"), *VISIBILITY_LABELS.items()]
FORM = Form(
    SampleSchema,
    Input("name", "Name", hint="What people call it.", messages={"required": "Enter a name."}),
    Input("kind", "Kind", options=[("food", "Food"), ("craft", "Craft")]),
    Input("opensAt", "Opens", type="datetime-local"),
    Input("note", "Note", type="textarea"),
    Input("needsPower", "It needs power", type="checkbox"),
)


ROWS_OF_FIELDS = RowList(
    "stalls",
    SampleSchema,
    "Stall %(number)s",
    10,
    *(FORM.inputs[name] for name in ("name", "kind", "opensAt")),
)


def _link_row(row: Row) -> str:
    return url_for("desk_gallery.show", _anchor="tables")


TABLE = Table(
    "sample",
    Column("name", "Ticket type", sort="name", link=_link_row),
    Column("state", "State", STATUS, labels=VISIBILITY_LABELS),
    Column("sold", "Sold", NUMBER, sort="sold"),
    Column("takings", "Takings", MONEY),
    Column("starts_at", "Starts", TIME),
    sorts={},
    default_sort="-sold",
    counted=mark_plural("%(num)s ticket type", "%(num)s ticket types"),
    filters=Form(SampleFilters, Input("q", "Search", type="search"), Input("state", "State", options=STATE_OPTIONS)),
    empty="Ticket types appear here when you add one.",
)


@blueprint.get("")
def show() -> Response:
    """Show the page with all macros."""
    event = SimpleNamespace(id=EVENT_ID, name="Windhoek Lights", organiser_id=EVENT_ID)
    points = [Point(label, value) for label, value in SALES]
    response = render_page(
        "desk/gallery.html",
        frame=Frame(
            organiser_id="",
            may_change_organisation=True,
            links=[Link("Home", "/desk", ""), Link("Events", "/desk/events", "true")],
            event=event,
            event_links=[Link("Overview", "/dev/desk", "page"), Link("Sales", "/dev/desk", "")],
        ),
        page_organiser=SimpleNamespace(name="Namib Events", logo_path=None),
        table=_build_page(ROWS, next_url="#tables", first_url="#tables"),
        filtered_table=_build_page((), q="tent"),
        empty_table=_build_page(()),
        form=FORM.fill(name="Kapana corner", kind="food"),
        wrong_form=FORM.fill(name="").with_error(ValidationFailed.of("name", "required", "Enter a name.")),
        row_form=ROWS_OF_FIELDS.fill(
            [{"name": "Kapana corner", "kind": "food"}, {"kind": "craft"}], version="1"
        ).with_error(ValidationFailed.of("stalls[1].name", "required", "Enter a name.")),
        bars=build_chart("Takings each day", points, format_value=format_money),
        line=build_chart("Takings each day", points, kind=LINE, format_value=format_money),
        no_chart=build_chart("Takings each day", []),
        path="/dev/desk",
    )
    response.headers["Content-Security-Policy"] = REFRESH_POLICY
    return response


def _build_page(rows: Sequence[Row], *, next_url: str = "", first_url: str = "", q: str = "") -> TablePage:
    filters: FilledForm = TABLE.filters.fill(q=q)
    return TablePage(TABLE, rows, filters, "-sold", len(rows), next_url, first_url, "#tables", "/dev/desk")
