"""The gate of an event: how many are in, by ticket type, gate and quarter of an hour, and whether tickets enter again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import DEVICES, EVENTS_WRITE, GATE_ADMIT, GATE_READ
from app.admissions.stats import admission_stats
from app.blueprints.pages.desk.charts import Chart, Point, build_chart
from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.desk.shell import DeskPages, go_to, render_desk, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.formatting import format_time
from app.core.languages import gettext, lazy_gettext
from app.events import actions, queries
from app.events.queries import OwnEvent, get_version
from app.events.reentry import COUNTED_REENTRY, DAILY_REENTRY, FREE_REENTRY, NO_REENTRY, REENTRY_MODES
from app.gate.conflicts import count_conflicts
from app.gate.early_scans import are_scans_early
from app.web.access import may
from app.web.fields import Choice

MAX_UPLOAD_BYTES = 1024 * 1024
blueprint = DeskPages("desk_gate", __name__, url_prefix="/desk/events/<event_id>/gate", max_bytes=MAX_UPLOAD_BYTES)
"""The modules `gate_…` add their pages to it."""
READ, ADMIT, WRITE = may(GATE_READ), may(GATE_ADMIT), may(EVENTS_WRITE)
QUARTER, MIN_QUARTERS, MAX_QUARTERS = timedelta(minutes=15), 8, 48
MAX_DAYS = 14
REENTRY_WORDS = {
    NO_REENTRY: lazy_gettext("Each ticket admits once"),
    DAILY_REENTRY: lazy_gettext("Each ticket admits once a day. A day ends at 5 in the morning"),
    COUNTED_REENTRY: lazy_gettext("Again after a scan at the exit. The gate counts who is inside"),
    FREE_REENTRY: lazy_gettext("As often as guests like"),
}


class ReentrySchema(VersionSchema):
    reentry = Choice(*REENTRY_MODES, required=True)


REENTRY = Form(
    ReentrySchema,
    Input("reentry", lazy_gettext("How often may a guest enter with a ticket?"), options=list(REENTRY_WORDS.items())),
    VERSION,
)


@blueprint.page("", access=READ)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the figures of the gate. They bring themselves up to date."""
    event = queries.get_event(caller, event_id)
    figures, permissions = admission_stats(caller, event_id), get_permissions(caller, event)
    today = next((day for day in figures["days"] if day["date"] == figures["today"]), None)
    days = _choose_days(figures["days"])
    return render_desk(
        "desk/gate.html",
        event=event,
        are_scans_early=are_scans_early(event),
        total=figures["total"],
        types=figures["ticketTypes"],
        gates=figures["gates"],
        days=days,
        today=today if event.ends_at - event.starts_at > timedelta(days=1) else None,
        chart=_build_chart(event, figures["quarters"]),
        conflicts=count_conflicts(event_id) if permissions["may_admit"] else 0,
        reentry_text=REENTRY_WORDS[event.reentry],
        **permissions,
    )


@blueprint.page("/reentry", access=WRITE)
def edit_reentry(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Ask how often a ticket may enter."""
    event = queries.get_event(caller, event_id)
    return _render_reentry(event, REENTRY.fill(reentry=event.reentry, version=str(get_version(event))))


@blueprint.act("/reentry", access=WRITE)
def change_reentry(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Save how often a ticket may enter, unless somebody else has changed the event since the form was opened."""
    form = REENTRY.from_request()
    try:
        values = form.load()
        actions.change_event(caller=caller, id=event_id, expected_version=values.pop("version"), **values)
    except FORM_ERRORS as error:
        return _render_reentry(queries.get_event(caller, event_id), form.with_error(error))
    return go_to(url_for("desk_gate.show", event_id=event_id), gettext("Saved. It counts from the next scan on."))


def get_permissions(caller: Caller, event: OwnEvent) -> dict[str, Any]:
    """What the caller may do at the gate of the event, for the buttons."""
    permissions = {"may_admit": GATE_ADMIT, "may_pair": DEVICES, "may_write": EVENTS_WRITE}
    return {
        name: caller.may(permission, organisation_id=event.organiser_id, event_id=event.id)
        for name, permission in permissions.items()
    }


def _choose_days(days: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The days of an event of several days; of a long one the last days with entries."""
    days = days if len(days) > 1 else []
    return days if len(days) <= MAX_DAYS else [day for day in days if day["entries"]][-MAX_DAYS:]


def _build_chart(event: OwnEvent, quarters: Sequence[dict[str, Any]]) -> Chart:
    """The entries of up to 12 hours before the last one, also the quarters without any."""
    entries: dict[datetime, int] = {quarter["from"]: quarter["entries"] for quarter in quarters}
    if not entries:
        return build_chart(gettext("Entries each quarter of an hour"), [])
    last = max(entries)
    first = max(min(*entries, last - (MIN_QUARTERS - 1) * QUARTER), last - (MAX_QUARTERS - 1) * QUARTER)
    starts = [first + number * QUARTER for number in range((last - first) // QUARTER + 1)]
    zone = ZoneInfo(event.timezone)
    points = [Point(f"{start.astimezone(zone):%H:%M}", entries.get(start, 0)) for start in starts]
    return build_chart(
        gettext("Entries each quarter of an hour since %(time)s", time=format_time(first, event.timezone)), points
    )


def _render_reentry(event: OwnEvent, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("Coming back in"),
        lead=gettext("It counts for all tickets of the event, from the next scan on."),
        button=gettext("Save"),
        back=url_for("desk_gate.show", event_id=event.id),
    )
