"""Drafts of messages to many: written, changed, tested, scheduled and sent."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.blueprints.pages.desk.event_form import format_local_time
from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.desk.message_form import (
    build_message_form,
    fill_message_form,
    fill_new_message,
    has_named_people,
    name_unknown_words,
    read_message,
    store_picture,
)
from app.blueprints.pages.desk.message_words import (
    CHANNEL_LABELS,
    EXCLUSION_LABELS,
    TEMPLATE_LABELS,
    describe_channels,
)
from app.blueprints.pages.desk.messages import (
    WRITE,
    blueprint,
    count_people,
    explain_closed,
    link_message,
    render_message,
)
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, find_upload_error
from app.campaigns import actions, queries, states, validation
from app.campaigns.message_templates import PLACEHOLDERS
from app.core.errors import AppError, ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.events import queries as events
from app.events.queries import OwnEvent
from app.media.actions import MAX_PICTURE_FORM_BYTES
from app.web.fields import TimeField

LATE_ERRORS = ("STALE_VERSION", "CAMPAIGN_FROZEN")


class ScheduleSchema(VersionSchema):
    scheduled_at = TimeField()


SCHEDULE = Form(
    ScheduleSchema,
    Input(
        "scheduledAt",
        lazy_gettext("Send it at"),
        hint=lazy_gettext("On the clock of the event. Empty: it is a draft again."),
        type="datetime-local",
        messages={
            "too_small": lazy_gettext("Choose a time in the future."),
            "too_large": lazy_gettext("Choose a time within a year."),
            "invalid_time": lazy_gettext("There is no such time on the clock of the event."),
        },
    ),
    VERSION,
)
SEND = Form(VersionSchema, VERSION)


@blueprint.page("/new", access=WRITE)
def write(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form of a new message, with the texts of a template."""
    form = build_message_form(queries.list_audience_choices(caller, event_id))
    return _render_new(
        caller, event_id, fill_new_message(form, request.args.get("template", ""), request.args.getlist("roles"))
    )


@blueprint.act("/new", access=WRITE)
def create(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Save a new message as a draft, and show it with its previews."""
    form = build_message_form(queries.list_audience_choices(caller, event_id)).from_request()
    try:
        form = store_picture(caller, event_id, form)
        fields = read_message(form)
        draft = partial(actions.broadcast, caller=caller, event_id=event_id, send_now=False, **fields)
        campaign_id = do_once(caller, lambda: str(draft()["id"]))
    except FORM_ERRORS as error:
        return _render_new(caller, event_id, form.with_error(error))
    path = link_message({"event_id": event_id, "id": campaign_id})
    return go_to(path, gettext("The draft is saved. Look at it before you send it."))


@blueprint.page("/<campaign_id>/edit", access=WRITE)
def edit(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Show the form of a draft or a scheduled message."""
    campaign = queries.get_campaign(caller, event_id, campaign_id)
    if campaign["status"] not in states.OPEN:
        return explain_closed(campaign)
    form = _build_form(caller, campaign)
    return _render_edit(caller, campaign, fill_message_form(form, campaign))


@blueprint.act("/<campaign_id>/edit", access=WRITE)
def change(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Save a draft or a scheduled message, unless somebody else has changed it since the form was opened."""
    campaign = queries.get_campaign(caller, event_id, campaign_id)
    form = _build_form(caller, campaign).from_request()
    try:
        form = store_picture(caller, event_id, form)
        fields, version = read_message(form), _read_version(form)
        do_once(caller, lambda: _change_campaign(caller, campaign, version, **fields))
    except FORM_ERRORS as error:
        return _render_edit(caller, campaign, form.with_error(error))
    return go_to(link_message(campaign), gettext("The message is saved."))


@blueprint.act("/<campaign_id>/test", access=WRITE)
def send_test(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Send the message to the person at the screen."""
    campaign = queries.get_campaign(caller, event_id, campaign_id)
    try:
        done = do_once(caller, lambda: _send_test(caller, campaign))
    except FORM_ERRORS as error:
        return render_message(caller, event_id, campaign_id, error)
    return go_to(link_message(campaign), done)


@blueprint.page("/<campaign_id>/schedule", access=WRITE)
def choose_time(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Show the form with the time of sending."""
    event, campaign = events.get_event(caller, event_id), queries.get_campaign(caller, event_id, campaign_id)
    if campaign["status"] not in states.OPEN:
        return explain_closed(campaign)
    time = format_local_time(campaign["scheduled_at"], event.timezone)
    return _render_schedule(event, campaign, SCHEDULE.fill(scheduledAt=time, version=str(campaign["version"])))


@blueprint.act("/<campaign_id>/schedule", access=WRITE)
def schedule(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Schedule the message, give it another time, or make it a draft again."""
    event, campaign = events.get_event(caller, event_id), queries.get_campaign(caller, event_id, campaign_id)
    form = SCHEDULE.from_request()
    try:
        values = {"scheduled_at": None, **form.load()}
        version, scheduled_at = values["version"], values["scheduled_at"]
        do_once(caller, lambda: _change_campaign(caller, campaign, version, scheduled_at=scheduled_at))
    except FORM_ERRORS as error:
        return _render_schedule(event, campaign, form.with_error(error))
    done = gettext("The message is scheduled.") if scheduled_at else gettext("The message is a draft again.")
    return go_to(link_message(campaign), done)


@blueprint.page("/<campaign_id>/send", access=WRITE)
def confirm_sending(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Say how many people get the message by which channel, and who does not, before it is sent."""
    campaign = queries.get_campaign(caller, event_id, campaign_id)
    if campaign["status"] not in states.OPEN:
        return explain_closed(campaign)
    return _render_send(caller, campaign)


@blueprint.act("/<campaign_id>/send", access=WRITE)
def send(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Send the message now. Sending the form twice sends it once: the second finds it changed."""
    campaign = queries.get_campaign(caller, event_id, campaign_id)
    try:
        version = SEND.from_request().load()["version"]
        actions.change_campaign(
            caller=caller, event_id=event_id, campaign_id=campaign_id, expected_version=version, send_now=True
        )
    except FORM_ERRORS as error:
        now = queries.get_campaign(caller, event_id, campaign_id)
        if error.code in LATE_ERRORS and now["status"] in (states.SENDING, states.SENT):
            return go_to(link_message(campaign), gettext("It was sent already. Nobody gets it twice."))
        return _render_send(caller, now, error)
    return go_to(link_message(campaign), gettext("Sending has started."))


def _change_campaign(caller: Caller, campaign: Mapping[Any, Any], version: int, **fields: Any) -> str:
    where = {"event_id": campaign["event_id"], "campaign_id": campaign["id"]}
    actions.change_campaign(caller=caller, expected_version=version, **where, **fields)
    return str(campaign["id"])


def _send_test(caller: Caller, campaign: Mapping[Any, Any]) -> str:
    """Send the test, and return what the page says about it."""
    names = (*actions.TEST_FIELDS, "ab_test_enabled", "variant_b_title", "variant_b_body")
    texts = {name: campaign[name] for name in names}
    test = actions.send_test(caller=caller, event_id=campaign["event_id"], channels=campaign["channels"], **texts)
    return gettext(
        "The test goes to you (%(address)s) by: %(channels)s.",
        address=test["to"],
        channels=describe_channels(test["channels"]),
    )


def _build_form(caller: Caller, campaign: Mapping[Any, Any]) -> Form:
    choices = queries.list_audience_choices(caller, campaign["event_id"])
    return build_message_form(choices, with_audience=not has_named_people(campaign))


def _read_version(form: FilledForm) -> int:
    version: int | None = form.load().get("version")
    if version is None:
        raise ValidationFailed.of("version", "required", gettext("Open the page again."))
    return version


def _render_new(caller: Caller, event_id: str, form: FilledForm) -> Response:
    back = url_for("desk_messages.show", event_id=event_id)
    return _render_form(
        caller,
        event_id,
        form,
        title=gettext("Write a message"),
        button=gettext("Save the draft"),
        back=back,
        is_new=True,
    )


def _render_edit(caller: Caller, campaign: Mapping[Any, Any], form: FilledForm) -> Response:
    title, back = gettext("Change “%(name)s”", name=campaign["name"]), link_message(campaign)
    return _render_form(caller, campaign["event_id"], form, title=title, button=gettext("Save"), back=back)


def _render_form(caller: Caller, event_id: str, form: FilledForm, **context: Any) -> Response:
    upload_error = find_upload_error(MAX_PICTURE_FORM_BYTES)
    return render_desk_form(
        form.with_error(upload_error) if upload_error else name_unknown_words(form),
        event=events.get_event(caller, event_id),
        template="desk/message_form.html",
        templates=TEMPLATE_LABELS,
        placeholders=PLACEHOLDERS,
        **context,
    )


def _render_schedule(event: OwnEvent, campaign: Mapping[Any, Any], form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("When to send “%(name)s”", name=campaign["name"]),
        lead=gettext("Who gets it is chosen at that time."),
        button=gettext("Save the time"),
        back=link_message(campaign),
    )


def _render_send(caller: Caller, campaign: Mapping[Any, Any], error: AppError | None = None) -> Response:
    form = SEND.fill(version=str(campaign["version"]))
    return render_desk(
        "desk/message_send.html",
        event=events.get_event(caller, campaign["event_id"]),
        form=form.with_error(error) if error else form,
        campaign=campaign,
        counts=count_people(caller, campaign),
        is_unfilled=bool(validation.find_unfilled(campaign)),
        channel_labels=CHANNEL_LABELS,
        exclusion_labels=EXCLUSION_LABELS,
        path=request.path,
        back=link_message(campaign),
    )
