"""The stall types of an event with their places and their waitlists, each added, changed and removed by itself."""

from collections.abc import Callable
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_WRITE
from app.applications import stall_types, waitlist
from app.applications.open_events import is_event_closed
from app.blueprints.pages.desk.form_parts import (
    REMOVAL,
    VERSION,
    WRONG_NUMBER,
    WRONG_PRICE,
    VersionSchema,
    format_amount,
)
from app.blueprints.pages.desk.shell import go_to, render_confirmation, render_desk, render_desk_form
from app.blueprints.pages.desk.stalls import READ, blueprint, get_permissions
from app.blueprints.pages.desk.ticket_type_forms import MAX_TICKETS
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import Amount
from app.core.errors import AppError, NotFound
from app.core.languages import gettext, lazy_gettext
from app.events import actions
from app.events import queries as events
from app.events.errors import StallTypeInUse
from app.events.queries import OwnEvent
from app.web.access import may
from app.web.fields import WholeNumber
from app.web.text_fields import Name

WRITE = may(EVENTS_WRITE)
IN_USE = lazy_gettext("Somebody has this stall type or applies for it, so you cannot rename or remove it.")
Types = list[dict[str, Any]]


class TypeSchema(VersionSchema):
    name = Name(required=True, min=1, max=120)
    fee_minor = Amount(data_key="fee", required=True)
    quantity = WholeNumber(min=0, max=MAX_TICKETS)


TYPE = Form(
    TypeSchema,
    Input(
        "name",
        lazy_gettext("Name"),
        hint=lazy_gettext("For example: Food stall."),
        messages={
            "required": lazy_gettext("Enter a name."),
            "duplicate": lazy_gettext("The event has a stall type with this name."),
        },
        error_codes=(StallTypeInUse.code,),
    ),
    Input(
        "fee",
        lazy_gettext("Fee in N$"),
        hint=lazy_gettext("With VAT, if you are registered for it."),
        inputmode="decimal",
        messages=WRONG_PRICE,
    ),
    Input(
        "quantity",
        lazy_gettext("How many places there are"),
        hint=lazy_gettext("Empty: no limit, and no waitlist. New places are offered to the waitlist by mail at once."),
        inputmode="numeric",
        messages={"invalid_type": WRONG_NUMBER},
    ),
    VERSION,
)


@blueprint.page("/types", access=READ)
def show_types(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the stall types with their places, and who waits for them in which order."""
    event = events.get_event(caller, event_id)
    return render_desk(
        "desk/stall_types.html",
        event=event,
        types=stall_types.list_places(event.id, event.stall_types),
        lines=waitlist.list_waitlists(caller, event.id),
        find_next=waitlist.find_next,
        is_closed=is_event_closed(event),
        may_write=caller.may(EVENTS_WRITE, organisation_id=event.organiser_id, event_id=event.id),
        **get_permissions(caller, event),
    )


@blueprint.page("/types/new", access=WRITE)
def add_type(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form for a new stall type."""
    event = events.get_event(caller, event_id)
    return _render_form(event, TYPE.fill(version=_get_version(event)), gettext("New stall type"))


@blueprint.act("/types/new", access=WRITE)
def create_type(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Add a stall type after the others."""
    return _save(caller, event_id, lambda types, fields: types.append(fields), gettext("The stall type is added."))


@blueprint.page("/types/<int:position>", access=WRITE)
def edit_type(caller: Caller, event_id: str, position: int) -> ResponseReturnValue:
    """Show the form of a stall type."""
    event = events.get_event(caller, event_id)
    listed = _find(_list_fields(event), position)
    quantity = listed.get("quantity")
    form = TYPE.fill(
        name=listed["name"],
        fee=format_amount(listed["feeMinor"]),
        quantity="" if quantity is None else str(quantity),
        version=_get_version(event),
    )
    return _render_form(event, form, listed["name"])


@blueprint.act("/types/<int:position>", access=WRITE)
def change_type(caller: Caller, event_id: str, position: int) -> ResponseReturnValue:
    """Change a stall type."""

    def replace_fields(types: Types, fields: dict[str, Any]) -> None:
        types[types.index(_find(types, position))] = fields

    return _save(caller, event_id, replace_fields, gettext("The stall type is saved."))


@blueprint.page("/types/<int:position>/remove", access=WRITE)
def confirm_type_removal(caller: Caller, event_id: str, position: int) -> ResponseReturnValue:
    """Ask whether to remove a stall type."""
    event = events.get_event(caller, event_id)
    return _render_removal(event, _find(_list_fields(event), position))


@blueprint.act("/types/<int:position>/remove", access=WRITE)
def remove_type(caller: Caller, event_id: str, position: int) -> ResponseReturnValue:
    """Remove a stall type that nobody has."""
    event = events.get_event(caller, event_id)
    types = _list_fields(event)
    try:
        version = REMOVAL.from_request().load()["version"]
        listed = _find(types, position)
        kept = [other for other in types if other is not listed]
        actions.change_event(caller=caller, id=event_id, expected_version=version, stall_types=kept)
    except FORM_ERRORS as error:
        return _render_removal(event, _find(types, position), _reword(error))
    return go_to(url_for("desk_stalls.show_types", event_id=event_id), gettext("The stall type is removed."))


def _save(
    caller: Caller, event_id: str, apply: Callable[[Types, dict[str, Any]], object], done: str
) -> ResponseReturnValue:
    event, form = events.get_event(caller, event_id), TYPE.from_request()
    types = _list_fields(event)
    try:
        values = form.load()
        fields = {"name": values["name"], "feeMinor": values["fee_minor"], "quantity": values.get("quantity")}
        apply(types, fields)
        actions.change_event(caller=caller, id=event_id, expected_version=values["version"], stall_types=types)
    except FORM_ERRORS as error:
        return _render_form(event, form.with_error(_reword(error)), gettext("Stall type"))
    return go_to(url_for("desk_stalls.show_types", event_id=event_id), done)


def _list_fields(event: OwnEvent) -> Types:
    """The stall types as the action takes them."""
    return [dict(listed) for listed in event.stall_types]


def _find(types: Types, position: int) -> dict[str, Any]:
    if position >= len(types):
        raise NotFound()
    return types[position]


def _reword(error: AppError) -> AppError:
    return StallTypeInUse(str(IN_USE)) if isinstance(error, StallTypeInUse) else error


def _get_version(event: OwnEvent) -> str:
    return str(events.get_version(event))


def _render_form(event: OwnEvent, form: FilledForm, title: str) -> Response:
    back = url_for("desk_stalls.show_types", event_id=event.id)
    return render_desk_form(form, event=event, title=title, button=gettext("Save"), back=back)


def _render_removal(event: OwnEvent, listed: dict[str, Any], error: AppError | None = None) -> Response:
    return render_confirmation(
        event=event,
        title=gettext("Remove %(name)s?", name=listed["name"]),
        text=gettext(
            "Nobody can apply for this stall type any more. You cannot remove a stall type that somebody has or "
            "applies for."
        ),
        button=gettext("Remove"),
        back=url_for("desk_stalls.show_types", event_id=event.id),
        is_dangerous=True,
        values={"version": request.form.get("version") or _get_version(event)},
        error=error,
    )
