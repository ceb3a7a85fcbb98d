"""The ticket types of an event, and the phases of their prices: each added, changed and removed by itself.

The action takes the whole list with the version of the event, so a change by somebody else is never undone.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_READ, EVENTS_WRITE
from app.blueprints.pages.desk.event_form import format_local_time
from app.blueprints.pages.desk.form_parts import (
    REMOVAL,
    format_amount,
)
from app.blueprints.pages.desk.shell import (
    DeskPages,
    do_once,
    go_to,
    render_confirmation,
    render_desk,
    render_desk_form,
)
from app.blueprints.pages.desk.ticket_type_forms import PHASE, TYPE
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm
from app.core.errors import AppError, NotFound
from app.core.languages import gettext
from app.events import actions, queries
from app.events.queries import OwnEvent
from app.events.ticket_types import find_covering_phase, find_endless_phase, list_type_fields, list_types_outside
from app.web.access import may

blueprint = DeskPages("desk_ticket_types", __name__, url_prefix="/desk/events/<event_id>/ticket-types")
READ, WRITE = may(EVENTS_READ), may(EVENTS_WRITE)
TypeFields = dict[str, Any]
ONE_DAY = timedelta(days=1)


@blueprint.page("", access=READ)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the ticket types with their prices and figures."""
    event = queries.get_event(caller, event_id)
    may_write = caller.may(EVENTS_WRITE, organisation_id=event.organiser_id, event_id=event.id)
    return render_desk(
        "desk/ticket_types.html",
        event=event,
        may_write=may_write,
        find_covering_phase=find_covering_phase,
        find_endless_phase=find_endless_phase,
        types_outside=list_types_outside(event),
    )


@blueprint.page("/new", access=WRITE)
def add(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form for a new ticket type: empty, or like the type `copy`, whose times are a day later."""
    event = queries.get_event(caller, event_id)
    copied_id = request.args.get("copy")
    form = TYPE.fill(version=_get_version(event))
    if copied_id:
        copied = _find_type(list_type_fields(event), copied_id)
        zone = ZoneInfo(event.timezone)
        times = {
            name: copied[name] and copied[name].astimezone(zone) + ONE_DAY for name in ("valid_from", "valid_until")
        }
        form = _fill_type(event, {**copied, "name": "", **times})
    return _render_form(event, form, gettext("New ticket type"))


@blueprint.act("/new", access=WRITE)
def create(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Add a ticket type after the others."""
    return _save(
        caller,
        event_id,
        TYPE.from_request(),
        lambda types, fields: types.append(fields),
        title=gettext("New ticket type"),
        done=gettext("The ticket type is added."),
    )


@blueprint.page("/<type_id>", access=WRITE)
def edit(caller: Caller, event_id: str, type_id: str) -> ResponseReturnValue:
    """Show the form of a ticket type."""
    event = queries.get_event(caller, event_id)
    fields = _find_type(list_type_fields(event), type_id)
    return _render_form(event, _fill_type(event, fields), fields["name"])


@blueprint.act("/<type_id>", access=WRITE)
def change(caller: Caller, event_id: str, type_id: str) -> ResponseReturnValue:
    """Change a ticket type; its phases stay."""

    def replace_fields(types: list[TypeFields], fields: TypeFields) -> None:
        ticket_type = _find_type(types, type_id)
        ticket_type.update({**dict.fromkeys(ticket_type), "id": type_id, "phases": ticket_type["phases"], **fields})

    return _save(
        caller,
        event_id,
        TYPE.from_request(),
        replace_fields,
        title=gettext("Ticket type"),
        done=gettext("The ticket type is saved."),
    )


@blueprint.page("/<type_id>/remove", access=WRITE)
def confirm_removal(caller: Caller, event_id: str, type_id: str) -> ResponseReturnValue:
    """Ask whether to remove a ticket type."""
    event = queries.get_event(caller, event_id)
    return _render_type_removal(event, _find_type(list_type_fields(event), type_id))


@blueprint.act("/<type_id>/remove", access=WRITE)
def remove(caller: Caller, event_id: str, type_id: str) -> ResponseReturnValue:
    """Remove a ticket type without tickets."""
    return _remove(
        caller,
        event_id,
        lambda types: types.remove(_find_type(types, type_id)),
        lambda event, error: _render_type_removal(event, _find_type(list_type_fields(event), type_id), error),
        done=gettext("The ticket type is removed."),
    )


@blueprint.page("/<type_id>/phases/new", access=WRITE)
def add_phase(caller: Caller, event_id: str, type_id: str) -> ResponseReturnValue:
    """Show the form for a new phase."""
    event = queries.get_event(caller, event_id)
    fields = _find_type(list_type_fields(event), type_id)
    return _render_form(
        event, PHASE.fill(version=_get_version(event)), gettext("New phase of %(type)s", type=fields["name"])
    )


@blueprint.act("/<type_id>/phases/new", access=WRITE)
def create_phase(caller: Caller, event_id: str, type_id: str) -> ResponseReturnValue:
    """Add a phase after the others."""
    return _save(
        caller,
        event_id,
        PHASE.from_request(),
        lambda types, fields: _find_type(types, type_id)["phases"].append(fields),
        title=gettext("New phase"),
        done=gettext("The phase is added."),
    )


@blueprint.page("/<type_id>/phases/<int:position>", access=WRITE)
def edit_phase(caller: Caller, event_id: str, type_id: str, position: int) -> ResponseReturnValue:
    """Show the form of a phase."""
    event = queries.get_event(caller, event_id)
    phase = _find_phase(list_type_fields(event), type_id, position)
    return _render_form(event, _fill_phase(event, phase), phase["name"])


@blueprint.act("/<type_id>/phases/<int:position>", access=WRITE)
def change_phase(caller: Caller, event_id: str, type_id: str, position: int) -> ResponseReturnValue:
    """Change a phase."""

    def replace_fields(types: list[TypeFields], fields: TypeFields) -> None:
        phase = _find_phase(types, type_id, position)
        phase.update({**dict.fromkeys(phase), **fields})

    return _save(
        caller,
        event_id,
        PHASE.from_request(),
        replace_fields,
        title=gettext("Phase"),
        done=gettext("The phase is saved."),
    )


@blueprint.page("/<type_id>/phases/<int:position>/remove", access=WRITE)
def confirm_phase_removal(caller: Caller, event_id: str, type_id: str, position: int) -> ResponseReturnValue:
    """Ask whether to remove a phase."""
    event = queries.get_event(caller, event_id)
    return _render_phase_removal(event, _find_phase(list_type_fields(event), type_id, position))


@blueprint.act("/<type_id>/phases/<int:position>/remove", access=WRITE)
def remove_phase(caller: Caller, event_id: str, type_id: str, position: int) -> ResponseReturnValue:
    """Remove a phase."""

    def take_out(types: list[TypeFields]) -> None:
        _find_phase(types, type_id, position)
        del _find_type(types, type_id)["phases"][position]

    return _remove(
        caller,
        event_id,
        take_out,
        lambda event, error: _render_phase_removal(
            event, _find_phase(list_type_fields(event), type_id, position), error
        ),
        done=gettext("The phase is removed."),
    )


def _save(
    caller: Caller,
    event_id: str,
    form: FilledForm,
    apply: Callable[[list[TypeFields], TypeFields], object],
    *,
    title: str,
    done: str,
) -> ResponseReturnValue:
    """Save the ticket types after `apply` has put the values of the form in."""
    event = queries.get_event(caller, event_id)
    types = list_type_fields(event)
    try:
        fields = form.load()
        version = fields.pop("version")
        do_once(caller, lambda: _change_types(caller, event_id, version, types, lambda: apply(types, fields)))
    except FORM_ERRORS as error:
        return _render_form(event, form.with_error(error), title)
    return go_to(url_for("desk_ticket_types.show", event_id=event_id), done)


def _remove(
    caller: Caller,
    event_id: str,
    take_out: Callable[[list[TypeFields]], object],
    render: Callable[[OwnEvent, AppError], Response],
    *,
    done: str,
) -> ResponseReturnValue:
    event = queries.get_event(caller, event_id)
    types = list_type_fields(event)
    try:
        version = REMOVAL.from_request().load()["version"]
        do_once(caller, lambda: _change_types(caller, event_id, version, types, lambda: take_out(types)))
    except FORM_ERRORS as error:
        return render(queries.get_event(caller, event_id), error)
    return go_to(url_for("desk_ticket_types.show", event_id=event_id), done)


def _change_types(
    caller: Caller, event_id: str, version: int, types: list[TypeFields], change: Callable[[], object]
) -> str:
    """Save the types as `change` leaves them."""
    change()
    return actions.change_event(caller=caller, id=event_id, expected_version=version, ticket_types=types).id


def _find_type(types: list[TypeFields], type_id: str) -> TypeFields:
    ticket_type = next((fields for fields in types if fields["id"] == type_id), None)
    if ticket_type is None:
        raise NotFound()
    return ticket_type


def _find_phase(types: list[TypeFields], type_id: str, position: int) -> TypeFields:
    phases: list[TypeFields] = _find_type(types, type_id)["phases"]
    if position >= len(phases):
        raise NotFound()
    return phases[position]


def _get_version(event: OwnEvent) -> str:
    return str(queries.get_version(event))


def _fill_type(event: OwnEvent, fields: TypeFields) -> FilledForm:
    return TYPE.fill(
        name=fields["name"],
        description=fields["description"] or "",
        price=format_amount(fields["price_minor"]),
        quantity=str(fields["quantity"]),
        minPerOrder=_format_number(fields["min_per_order"]),
        maxPerOrder=_format_number(fields["max_per_order"]),
        validFrom=format_local_time(fields["valid_from"], event.timezone),
        validUntil=format_local_time(fields["valid_until"], event.timezone),
        version=_get_version(event),
    )


def _fill_phase(event: OwnEvent, fields: TypeFields) -> FilledForm:
    return PHASE.fill(
        name=fields["name"],
        price=format_amount(fields["price_minor"]),
        startsAt=format_local_time(fields["starts_at"], event.timezone),
        endsAt=format_local_time(fields["ends_at"], event.timezone),
        quantity=_format_number(fields["quantity"]),
        version=_get_version(event),
    )


def _format_number(number: int | None) -> str:
    return "" if number is None else str(number)


def _render_form(event: OwnEvent, form: FilledForm, title: str) -> Response:
    back = url_for("desk_ticket_types.show", event_id=event.id)
    return render_desk_form(form, event=event, title=title, button=gettext("Save"), back=back)


def _render_type_removal(event: OwnEvent, fields: TypeFields, error: AppError | None = None) -> Response:
    return _render_removal(
        event,
        gettext("Remove %(name)s?", name=fields["name"]),
        gettext(
            "Its price and its phases are removed. You cannot remove a type with tickets that are sold or kept "
            "for guests."
        ),
        error,
    )


def _render_phase_removal(event: OwnEvent, phase: TypeFields, error: AppError | None = None) -> Response:
    text = gettext("People who buy from now on pay the price of the next phase, or of the ticket type.")
    return _render_removal(event, gettext("Remove the phase %(name)s?", name=phase["name"]), text, error)


def _render_removal(event: OwnEvent, title: str, text: str, error: AppError | None) -> Response:
    """The page before a removal. After an error it keeps the version with which it was opened."""
    return render_confirmation(
        event=event,
        title=title,
        text=text,
        button=gettext("Remove"),
        back=url_for("desk_ticket_types.show", event_id=event.id),
        is_dangerous=True,
        values={"version": request.form.get("version") or _get_version(event)},
        error=error,
    )
