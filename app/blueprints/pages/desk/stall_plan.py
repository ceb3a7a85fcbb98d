"""The stalls that take part: who is open now, and the stall plan as a list to change and to print."""

from functools import partial
from typing import Any

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import STALLS_INVITE
from app.applications.placed_stalls import application_id_sql, find_stall_description, list_stalls_to_come
from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.desk.shell import go_to, render_desk, render_desk_form
from app.blueprints.pages.desk.stall_words import STATE_LABELS
from app.blueprints.pages.desk.stalls import READ, blueprint, get_permissions, link_application
from app.blueprints.pages.desk.tables import STATUS, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.languages import gettext, lazy_gettext, lazy_pgettext, mark_plural
from app.events import queries as events
from app.events.queries import OwnEvent
from app.invitations import stalls
from app.invitations.queries import ListQuery
from app.invitations.stalls import StallRecord
from app.merchants.states import FLOOR_STATUSES
from app.web.access import may
from app.web.fields import Boolean, Choice, Text
from app.web.schema import Query
from app.web.text_fields import Name

PLACE = may(STALLS_INVITE)
FLOOR_LABELS = {
    "open": lazy_gettext("Open"),
    "busy": lazy_gettext("Busy"),
    "paused": lazy_gettext("Paused"),
    "closed": lazy_gettext("Closed"),
}


class FilterSchema(Query):
    q = Text(max=120)
    floor_status = Choice(*FLOOR_STATUSES)


class PlaceSchema(VersionSchema):
    stall_number = Name(max=20)
    power = Name(max=80)
    water = Boolean(load_default=False)
    note = Text(max=500)


def link_stall_application(row: Row) -> str:
    """The page of the application from which the stall came, if there is one."""
    return link_application({"event_id": row["event_id"], "id": row["application_id"]}) if row["application_id"] else ""


PLAN = Table(
    "stall-plan",
    Column("stall_number", lazy_pgettext("stall", "Stall number"), sort="stallNumber"),
    Column("business_name", lazy_gettext("Business"), sort="businessName", link=link_stall_application),
    Column("stall_type", lazy_gettext("Stall type"), sort="stallType"),
    Column("power", lazy_gettext("Power")),
    Column("water", lazy_gettext("Water"), STATUS, labels={True: lazy_gettext("Yes"), False: ""}),
    Column("note", lazy_gettext("Note")),
    Column("floor_status", lazy_gettext("Now"), STATUS, labels=FLOOR_LABELS),
    sorts=stalls.STALL_SORTS,
    default_sort="businessName",
    counted=mark_plural("%(num)s stall", "%(num)s stalls"),
    filters=Form(
        FilterSchema,
        Input("q", lazy_gettext("Search"), type="search"),
        Input("floorStatus", lazy_gettext("Now"), options=[("", lazy_gettext("All")), *FLOOR_LABELS.items()]),
    ),
    empty=lazy_gettext(
        "Stalls appear here when the merchant takes part: documents sent, fee paid, account opened. See Stalls for those "
        "on the way."
    ),
)
PLACE_FORM = Form(
    PlaceSchema,
    Input(
        "stallNumber",
        lazy_pgettext("stall", "Stall number"),
        hint=lazy_gettext("For example: B12."),
        messages={"duplicate": lazy_gettext("Another stall has this number.")},
    ),
    Input("power", lazy_gettext("Power"), hint=lazy_gettext("For example: 16 A, or 2000 W.")),
    Input("water", lazy_gettext("The stall has water"), type="checkbox"),
    Input("note", lazy_gettext("Note"), type="textarea"),
    VERSION,
)


@blueprint.page("/plan", access=READ)
def show_plan(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the stalls with their places in the plan, and who is open now."""
    event = events.get_event(caller, event_id)
    view = partial(_list_stalls, caller, event_id)
    return render_desk_table(
        "desk/stall_plan.html",
        PLAN,
        view,
        event=event,
        stalls_to_come=list_stalls_to_come(caller, event_id),
        link_application=link_application,
        state_labels=STATE_LABELS,
        **get_permissions(caller, event),
    )


@blueprint.page("/plan/sheet", access=READ)
def show_sheet(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the whole plan on one page, to print."""
    event = events.get_event(caller, event_id)
    return render_desk(
        "desk/stall_sheet.html",
        event=event,
        rows=stalls.list_plan(caller, event_id),
        stalls_to_come=list_stalls_to_come(caller, event_id),
        state_labels=STATE_LABELS,
    )


@blueprint.page("/plan/<merchant_id>", access=PLACE)
def edit_place(caller: Caller, event_id: str, merchant_id: str) -> ResponseReturnValue:
    """Show the form with the place of a stall."""
    event, row = events.get_event(caller, event_id), stalls.get_stall(caller, event_id, merchant_id)
    form = PLACE_FORM.fill(
        stallNumber=row["stall_number"] or "",
        power=row["power"] or "",
        water="true" if row["water"] else "",
        note=row["note"] or "",
        version=str(row["version"]),
    )
    return _render(event, form, row)


@blueprint.act("/plan/<merchant_id>", access=PLACE)
def change_place(caller: Caller, event_id: str, merchant_id: str) -> ResponseReturnValue:
    """Save the place of a stall, unless somebody else has changed it since the form was opened."""
    event, row = events.get_event(caller, event_id), stalls.get_stall(caller, event_id, merchant_id)
    form = PLACE_FORM.from_request()
    try:
        values = {"stall_number": None, "power": None, "note": None, **form.load()}
        version = values.pop("version")
        stalls.place_stall(caller, event_id, merchant_id, expected_version=version, **values)
    except FORM_ERRORS as error:
        return _render(event, form.with_error(error), row)
    return go_to(url_for("desk_stalls.show_plan", event_id=event_id), gettext("The place is saved."))


def _list_stalls(caller: Caller, event_id: str, **filters: Any) -> ListQuery:
    statement = stalls.list_stalls_query(caller, event_id, **filters)
    return statement.add_columns(application_id_sql().label("application_id"))


def _render(event: OwnEvent, form: FilledForm, row: StallRecord) -> Response:
    back = url_for("desk_stalls.show_plan", event_id=event.id)
    name, description = row["business_name"], find_stall_description(event.id, row["id"])
    return render_desk_form(
        form,
        event=event,
        title=gettext("Place of %(name)s", name=name) if name else gettext("Place of the stall"),
        button=gettext("Save"),
        back=back,
        lead=gettext("Their application says: “%(description)s”", description=description) if description else "",
    )
