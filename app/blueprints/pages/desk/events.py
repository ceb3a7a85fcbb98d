"""The list of an organisation's events, and the form for a new one."""

from functools import partial

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_READ, EVENTS_WRITE
from app.blueprints.pages.desk.event_form import DEFAULT_COUNTRY, NEW_EVENT, describe_moved_times
from app.blueprints.pages.desk.event_words import VISIBILITY_LABELS
from app.blueprints.pages.desk.shell import DeskPages, do_once, go_to, may_use, render_desk_form
from app.blueprints.pages.desk.tables import STATUS, TIME, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.languages import gettext, lazy_gettext, mark_plural
from app.events import actions, countries, queries
from app.events.discovery_sql import EventFilters
from app.events.visibility import VISIBILITIES
from app.web.access import may
from app.web.fields import Choice, Text
from app.web.schema import Query, to_camel_case

blueprint = DeskPages("desk_events", __name__, url_prefix="/desk/events")
READ = may(EVENTS_READ)
CREATE = may(EVENTS_WRITE, whole_organisation=True)


class FilterSchema(Query):
    q = Text(max=200)
    state = Choice(*VISIBILITIES)


def _link_event(row: Row) -> str:
    return url_for("desk_event.show", event_id=row["id"])


EVENTS = Table(
    "events",
    Column("name", lazy_gettext("Event"), sort="name", link=_link_event),
    Column("visibility", lazy_gettext("State"), STATUS, labels=VISIBILITY_LABELS),
    Column("starts_at", lazy_gettext("Starts"), TIME, sort="startsAt"),
    Column("ends_at", lazy_gettext("Ends"), TIME),
    Column("venue", lazy_gettext("Venue")),
    Column("city", lazy_gettext("City")),
    sorts={to_camel_case(name): column for name, column in queries.SORTS.items()},
    default_sort="-startsAt",
    counted=mark_plural("%(num)s event", "%(num)s events"),
    filters=Form(
        FilterSchema,
        Input("q", lazy_gettext("Search"), type="search"),
        Input("state", lazy_gettext("State"), options=[("", lazy_gettext("All")), *VISIBILITY_LABELS.items()]),
    ),
    empty=lazy_gettext("Your events appear here when you have created one."),
)


def _list_events(caller: Caller, q: str | None = None, state: str | None = None) -> queries.ListQuery:
    return queries.list_events_query(caller, EventFilters(q=q), mine=True, visibility_filter=state)


@blueprint.page("", access=READ)
def show(caller: Caller) -> ResponseReturnValue:
    """Show the events."""
    may_create = may_use(CREATE)
    return render_desk_table("desk/events.html", EVENTS, partial(_list_events, caller), may_create=may_create)


@blueprint.page("/new", access=CREATE)
def add(caller: Caller) -> ResponseReturnValue:
    """Show the form for a new event."""
    return _render_form(NEW_EVENT.fill(country=DEFAULT_COUNTRY))


@blueprint.act("/new", access=CREATE)
def create(caller: Caller) -> ResponseReturnValue:
    """Create an event."""
    form = NEW_EVENT.from_request()
    try:
        event_id = do_once(caller, lambda: actions.create_event(caller=caller, **form.load()).id)
    except FORM_ERRORS as error:
        return _render_form(form.with_error(error))
    done = (
        gettext("The event is created. Only your team can see it."),
        describe_moved_times(form, countries.main_zone(form.values["country"])),
    )
    return go_to(url_for("desk_event.show", event_id=event_id), " ".join(filter(None, done)))


def _render_form(form: FilledForm) -> Response:
    return render_desk_form(
        form,
        title=gettext("New event"),
        lead=gettext("Nobody outside of your team sees it until you publish it."),
        button=gettext("Create the event"),
        back=url_for("desk_events.show"),
    )
