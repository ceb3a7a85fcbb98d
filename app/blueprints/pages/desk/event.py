"""One event: its facts and figures, what is missing before it can be published, its states, its copy."""

from datetime import datetime, timedelta

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.organisation_details import load_contact, load_organisation_details
from app.accounts.permissions import EVENTS_READ, EVENTS_WRITE
from app.blueprints.pages.desk.after_event import COPY, list_next_steps
from app.blueprints.pages.desk.cancelled_event import list_effects
from app.blueprints.pages.desk.event_form import (
    check_publish_time,
    describe_moved_times,
    fill_event_form,
    get_event_form,
    with_cleared_fields,
    with_moved_ends,
)
from app.blueprints.pages.desk.event_words import CATEGORY_LABELS, STEPS, VISIBILITY_LABELS
from app.blueprints.pages.desk.home import list_cancellation_tasks
from app.blueprints.pages.desk.settings import ACCESS as SETTINGS
from app.blueprints.pages.desk.shell import (
    DeskPages,
    do_once,
    go_to,
    may_use,
    render_confirmation,
    render_desk,
    render_desk_form,
)
from app.blueprints.pages.event_metadata import find_upload_path
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm
from app.core.errors import AppError, NotFound
from app.core.languages import gettext, lazy_gettext
from app.events import actions, queries, visibility
from app.events.capacity import capacity_use
from app.events.queries import OwnEvent
from app.events.reentry import NO_REENTRY
from app.events.ticket_types import list_types_outside
from app.events.validation import find_times_outside
from app.web.access import may
from app.web.schema import to_camel_case

blueprint = DeskPages("desk_event", __name__, url_prefix="/desk/events/<event_id>")
READ, WRITE = may(EVENTS_READ), may(EVENTS_WRITE)
REQUIRED_LABELS = {
    "name": lazy_gettext("A name"),
    "venue": lazy_gettext("A venue"),
    "city": lazy_gettext("A city"),
    "starts_at": lazy_gettext("When it starts"),
    "ends_at": lazy_gettext("When it ends"),
    "ticket_types": lazy_gettext("A ticket type, or a capacity"),
}


@blueprint.page("", access=READ)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the facts, the figures and the state of an event."""
    event = queries.get_event(caller, event_id)
    state = visibility.PUBLISHED if queries.is_due(event) else event.visibility
    may_write = caller.may(EVENTS_WRITE, organisation_id=event.organiser_id, event_id=event.id)
    is_prepared = state == visibility.DRAFT and may_write
    has_begun, is_over = queries.has_begun_and_ended(event)
    return render_desk(
        "desk/event.html",
        event=event,
        state=state,
        is_public=state in (visibility.PUBLISHED, visibility.UNLISTED),
        state_label=VISIBILITY_LABELS[state],
        cover_path=find_upload_path(event.cover_image_url),
        steps=[
            (target, step)
            for target, step in STEPS.items()
            if target in visibility.STEPS[state] and not (is_over and target == visibility.CANCELLED)
        ],
        next_steps=list_next_steps(caller, event) if is_over and state != visibility.DRAFT else [],
        cancellation_tasks=list_cancellation_tasks(caller, event.id) if state == visibility.CANCELLED else [],
        warning=_describe_past(has_begun, is_over) if is_prepared else "",
        requirements=_list_requirements(event) if is_prepared else [],
        suggestions=_list_suggestions(event) if is_prepared else [],
        still_free=capacity_use(event).available(sum(type_.public for type_ in event.ticket_types)),
        category_label=CATEGORY_LABELS.get(event.category or ""),
        may_write=may_write,
        may_copy=may_use(COPY),
    )


@blueprint.page("/edit", access=WRITE)
def edit(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form with the facts."""
    event = queries.get_event(caller, event_id)
    return _render_form(event, fill_event_form(event))


@blueprint.act("/edit", access=WRITE)
def change(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Save the facts, unless somebody else has changed the event since the form was opened."""
    event = queries.get_event(caller, event_id)
    form = get_event_form(event).from_request()
    previous_times = event.starts_at, event.ends_at
    try:
        values = with_cleared_fields(form.load())
        check_publish_time(event, form)
        version = values.pop("version")

        def save() -> str:
            changed = actions.change_event(caller=caller, id=event_id, expected_version=version, **values)
            return _describe_move(changed, previous_times)

        advice = do_once(caller, save)
    except FORM_ERRORS as error:
        event = queries.get_event(caller, event_id)
        return _render_form(event, with_moved_ends(form, event, error))
    done = gettext("The facts are saved."), describe_moved_times(form, values["timezone"]), advice
    return go_to(url_for("desk_event.show", event_id=event_id), " ".join(filter(None, done)))


def _describe_move(event: OwnEvent, previous_times: tuple[datetime, datetime]) -> str:
    """What is left to do when an event has moved: acts outside it, and people with tickets; else nothing."""
    if previous_times == (event.starts_at, event.ends_at):
        return ""
    advice = []
    if event.visibility != visibility.DRAFT:
        advice.append(_describe_past(*queries.has_begun_and_ended(event)))
    if find_times_outside(event):
        advice.append(gettext("Acts are now before or after the event. Change their times under Line-up."))
    if outside := [event.ticket_types[position].name for position in list_types_outside(event)]:
        advice.append(
            gettext(
                "The gate does not admit these tickets during the event: %(names)s. Change their times under Ticket types.",
                names=", ".join(outside),
            )
        )
    if any(ticket_type.sold or ticket_type.allocated for ticket_type in event.ticket_types):
        advice.append(
            gettext(
                "People have tickets for the times before. Write to them under Messages, with the text “Change”; "
                "merchants get one mail, an hour after the first change."
            )
        )
    return " ".join(filter(None, advice))


def _describe_past(has_begun: bool, is_over: bool) -> str:
    """What to check about an event that begins in the past; else nothing."""
    if is_over:
        return gettext("This event is in the past: nobody can apply for a stall or claim a ticket. Check its times.")
    return gettext("This event begins in the past. Check when it starts.") if has_begun else ""


@blueprint.page("/state/<target>", access=WRITE)
def confirm_state(caller: Caller, event_id: str, target: str) -> ResponseReturnValue:
    """Say what another state means, before it is set."""
    return _render_step(queries.get_event(caller, event_id), target)


@blueprint.act("/state/<target>", access=WRITE)
def change_state(caller: Caller, event_id: str, target: str) -> ResponseReturnValue:
    """Publish, unlist, archive or cancel the event."""
    if target not in STEPS:
        raise NotFound()
    try:
        actions.change_event(caller=caller, id=event_id, expected_version=None, visibility=target)
    except FORM_ERRORS as error:
        return _render_step(queries.get_event(caller, event_id), target, error)
    return go_to(url_for("desk_event.show", event_id=event_id), STEPS[target].done)


@blueprint.page("/copy", access=COPY)
def confirm_copy(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Say what the copy of an event has."""
    event = queries.get_event(caller, event_id)
    return render_confirmation(
        event=event,
        title=gettext("Copy this event for the next year?"),
        text=gettext(
            "The copy is a draft with the same facts, ticket types, prices and stall types, 52 weeks later. "
            "Sales, stalls, guests, stock and messages stay here."
        ),
        button=gettext("Make the copy"),
        back=url_for("desk_event.show", event_id=event_id),
    )


@blueprint.act("/copy", access=COPY)
def copy(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Copy the event."""
    copy_id = do_once(caller, lambda: actions.copy_event(caller=caller, id=event_id).id)
    return go_to(url_for("desk_event.show", event_id=copy_id), gettext("This is the copy. Check its dates and prices."))


@blueprint.page("/delete", access=WRITE)
def confirm_deletion(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Say what the deletion of an event means."""
    event = queries.get_event(caller, event_id)
    return render_confirmation(
        event=event,
        title=gettext("Delete this event?"),
        text=gettext(
            "An event with tickets, stalls or guests is cancelled and not deleted. Any other event is deleted, "
            "and you cannot restore it."
        ),
        items=list_effects(event),
        button=gettext("Delete the event"),
        back=url_for("desk_event.show", event_id=event_id),
        is_dangerous=True,
    )


@blueprint.act("/delete", access=WRITE)
def delete(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Delete the event, or cancel it."""
    outcome = do_once(
        caller, lambda: actions.remove_event(caller=caller, id=event_id, expected_version=None)["outcome"]
    )
    if outcome == "cancelled":
        done = gettext("The event has tickets, stalls or guests, so it is cancelled and not deleted.")
        return go_to(url_for("desk_event.show", event_id=event_id), done)
    return go_to(url_for("desk_events.show"), gettext("The event is deleted."))


def _list_requirements(event: OwnEvent) -> list[tuple[str, bool, str]]:
    """What publishing needs: its label, whether it is there, and where to add it."""
    missing = actions.list_missing_facts(event)
    edit_url = url_for("desk_event.edit", event_id=event.id)
    ticket_url = url_for("desk_ticket_types.show", event_id=event.id)
    return [
        (label, name not in missing, ticket_url if name == "ticket_types" else f"{edit_url}#{to_camel_case(name)}")
        for name, label in REQUIRED_LABELS.items()
    ]


def _list_suggestions(event: OwnEvent) -> list[tuple[str, bool, str]]:
    """What most events have, and publishing does not need. The organisation's are for those who may change them."""
    tickets_url = f"{url_for('desk_event.edit', event_id=event.id)}#ticketsUrl"
    suggestions = [(gettext("Where people buy tickets"), bool(event.tickets_url), tickets_url)]
    if may_use(SETTINGS):
        details, contact = load_organisation_details(event.organiser_id), load_contact(event.organiser_id)
        contact_label = gettext("A public contact address; now it is %(address)s", address=contact)
        contact_url = f"{url_for('desk_settings.show')}#contactEmail"
        suggestions.append((contact_label, details.contact_email is not None, contact_url))
        suggestions.append((gettext("Bank details"), details.bank is not None, url_for("desk_settings.show_bank")))
    if event.reentry == NO_REENTRY and event.ends_at - event.starts_at > timedelta(days=1):
        reentry_url = url_for("desk_gate.edit_reentry", event_id=event.id)
        suggestions.append(
            (gettext("How guests come back on the next day; now each ticket enters once"), False, reentry_url)
        )
    types_url = url_for("desk_stalls.show_types", event_id=event.id)
    return [*suggestions, (gettext("Stall types"), bool(event.stall_types), types_url)]


def _render_form(event: OwnEvent, form: FilledForm) -> Response:
    back = url_for("desk_event.show", event_id=event.id)
    return render_desk_form(form, event=event, title=gettext("Facts of the event"), button=gettext("Save"), back=back)


def _render_step(event: OwnEvent, target: str, error: AppError | None = None) -> Response:
    if target not in STEPS:
        raise NotFound()
    step = STEPS[target]
    is_made_public = event.visibility == visibility.DRAFT and target in (visibility.PUBLISHED, visibility.UNLISTED)
    warning = _describe_past(*queries.has_begun_and_ended(event)) if is_made_public else ""
    return render_confirmation(
        event=event,
        title=step.title,
        text=" ".join(filter(None, (str(step.text), warning))),
        items=list_effects(event) if target == visibility.CANCELLED else (),
        button=step.button,
        back=url_for("desk_event.show", event_id=event.id),
        is_dangerous=step.is_dangerous,
        error=error,
    )
