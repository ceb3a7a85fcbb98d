"""The sales of an event: figures and charts, the imported tickets, and the imports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_READ, EVENTS_WRITE, GUESTS_READ
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.charts import BARS, LINE, Chart, Point, build_chart
from app.blueprints.pages.desk.sales_words import FORMAT_LABELS, STATE_LABELS
from app.blueprints.pages.desk.shell import DeskPages, render_desk
from app.blueprints.pages.desk.tables import DAY, MONEY, STATUS, TIME, Column, Table, render_desk_table
from app.blueprints.pages.forms import Form, Input
from app.core.formatting import format_number, format_short_day
from app.core.languages import gettext, mark_plural, ngettext
from app.events import queries as events
from app.events import stats, tickets
from app.events.actions.ticket_uploads import MAX_BYTES
from app.events.queries import OwnEvent
from app.web.access import may
from app.web.fields import Boolean, Choice, Id, Text
from app.web.schema import Query

# A form is a little larger than the file in it.
MAX_UPLOAD_BYTES = MAX_BYTES + 1024 * 1024
blueprint = DeskPages("desk_sales", __name__, url_prefix="/desk/events/<event_id>/sales", max_bytes=MAX_UPLOAD_BYTES)
"""The modules `sales_…` add their pages to it."""
READ, READ_TICKETS = may(EVENTS_READ), may(GUESTS_READ)
MAX_BARS, MAX_DAYS = 31, 400


class FilterSchema(Query):
    q = Text(max=200)
    ticket_type_id = Id()
    status = Choice(*STATE_LABELS)
    admitted = Boolean()
    import_id = Id()


def _build_tickets_table(event: OwnEvent) -> Table:
    """The table of tickets, whose filter has the ticket types of the event."""
    types = [(ticket_type.id, ticket_type.name) for ticket_type in event.ticket_types]
    return Table(
        "tickets",
        Column("reference", gettext("Ticket number"), sort="reference"),
        Column("order_number", gettext("Order")),
        Column("name", gettext("Name")),
        Column("email", gettext("E-mail")),
        Column("ticket_type", gettext("Ticket type")),
        Column("status", gettext("State"), STATUS, labels=STATE_LABELS),
        Column("price_minor", gettext("Price"), MONEY),
        Column("known_sold_at", gettext("Sold"), DAY),
        Column("admitted_at", gettext("Entered"), TIME),
        sorts=tickets.SORTS,
        default_sort="reference",
        counted=mark_plural("%(num)s ticket", "%(num)s tickets"),
        filters=Form(
            FilterSchema,
            Input(
                "q",
                gettext("Search"),
                hint=gettext("Part of the name, beginning of ticket or order number or e-mail, or the whole code."),
                type="search",
            ),
            Input("ticketTypeId", gettext("Ticket type"), options=[("", gettext("All")), *types]),
            Input("status", gettext("State"), options=[("", gettext("All")), *STATE_LABELS.items()]),
            Input(
                "admitted",
                gettext("Entered"),
                options=[("", gettext("All")), ("true", gettext("Yes")), ("false", gettext("No"))],
            ),
            Input("importId", "", type="hidden"),
        ),
        empty=gettext("Tickets appear here when you have imported the sales."),
    )


@blueprint.page("", access=READ)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the figures by ticket type, day and source."""
    event = events.get_event(caller, event_id)
    figures = stats.ticket_stats(caller, event_id)
    return render_desk(
        "desk/sales.html",
        event=event,
        totals=figures["totals"],
        charts=_build_charts(figures),
        imported=_describe_imported(figures, tickets.count_unsold(event)),
        **get_permissions(caller, event),
    )


@blueprint.page("/tickets", access=READ_TICKETS)
def list_tickets(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the imported tickets."""
    event = events.get_event(caller, event_id)
    record_file = partial(record_export, Action.SALES_EXPORTED, organisation_id=event.organiser_id, event_id=event.id)
    view = partial(tickets.list_tickets_query, caller, event_id)
    return render_desk_table(
        "desk/sales_tickets.html", _build_tickets_table(event), view, event=event, record_file=record_file
    )


def get_permissions(caller: Caller, event: OwnEvent) -> dict[str, Any]:
    """What the caller may do with the sales of the event, for the buttons."""
    permissions = {"may_import": EVENTS_WRITE, "may_read_tickets": GUESTS_READ}
    return {
        name: caller.may(permission, organisation_id=event.organiser_id, event_id=event.id)
        for name, permission in permissions.items()
    }


def _describe_imported(figures: Mapping[str, Any], unsold: Mapping[str, int]) -> str:
    """Why more tickets were imported than are sold; nothing if all of them are."""
    parts = []
    if count := unsold.get("cancelled"):
        parts.append(ngettext("%(num)s is cancelled", "%(num)s are cancelled", count))
    if count := unsold.get("refunded"):
        parts.append(ngettext("%(num)s is refunded", "%(num)s are refunded", count))
    if not parts:
        return ""
    total = sum(source["tickets"] for source in figures["sources"])
    return gettext(
        "Imported tickets: %(total)s, of which %(parts)s.", total=format_number(total), parts=", ".join(parts)
    )


def _build_charts(figures: Mapping[str, Any]) -> list[tuple[Chart, str]]:
    """The charts with the names of what their points are."""
    sold_by_day: Counter[date] = Counter()
    for row in figures["series"]:
        sold_by_day[row["day"]] += row["sold"]
    days = _list_days(sorted(day for day, count in sold_by_day.items() if count > 0))
    types = [Point(row["name"], row["sold"], limit=row["total"]) for row in figures["ticket_types"]]
    by_day = [Point(format_short_day(day), max(sold_by_day[day], 0)) for day in days]
    sources = [
        Point(str(FORMAT_LABELS.get(row["format"], row["format"])), row["tickets"]) for row in figures["sources"]
    ]
    return [
        (build_chart(gettext("Sold of each ticket type, and how many there are"), types), gettext("Ticket type")),
        (build_chart(gettext("Sold each day"), by_day, kind=BARS if len(by_day) <= MAX_BARS else LINE), gettext("Day")),
        (build_chart(gettext("Where the imported tickets come from"), sources), gettext("Source")),
    ]


def _list_days(days: Sequence[date]) -> Sequence[date]:
    """The days from the first to the last; with a very long time only those with sales."""
    if not days or (days[-1] - days[0]).days > MAX_DAYS:
        return days
    return [days[0] + timedelta(days=number) for number in range((days[-1] - days[0]).days + 1)]
