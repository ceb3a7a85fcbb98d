"""Messages to many people of an event: the table, one message with its figures and previews, cancelling, copying."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from flask import Response, make_response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import MESSAGES_READ, MESSAGES_WRITE
from app.blueprints.pages.desk.message_words import (
    ACT_LABELS,
    CAMPAIGN_STATES,
    CHANNEL_LABELS,
    CHANNEL_LISTS,
    EXCLUSION_LABELS,
    FIGURE_LABELS,
    describe_audience,
    describe_channels,
)
from app.blueprints.pages.desk.shell import (
    DeskPages,
    count_like,
    do_once,
    go_to,
    may_use,
    render_confirmation,
    render_desk,
)
from app.blueprints.pages.desk.tables import NUMBER, STATUS, TIME, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, Form, Input
from app.blueprints.pages.rendering import describe_error
from app.campaigns import actions, audience_counts, campaign_store, previews, queries, states, validation
from app.core.errors import AppError, NotFound
from app.core.languages import gettext, lazy_gettext, mark_plural
from app.events import queries as events
from app.events.queries import OwnEvent
from app.media.actions import MAX_PICTURE_FORM_BYTES
from app.web.access import may
from app.web.fields import Choice
from app.web.schema import Query

blueprint = DeskPages(
    "desk_messages", __name__, url_prefix="/desk/events/<event_id>/messages", max_bytes=MAX_PICTURE_FORM_BYTES
)
"""The modules `message_…` add their pages to it."""
READ, WRITE, STOP = may(MESSAGES_READ), may(MESSAGES_WRITE).with_verified_email(), may(MESSAGES_WRITE)
ORGANISATION = may(MESSAGES_WRITE, whole_organisation=True)
"""For the suppression list, which is that of the whole organisation."""
FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src https: data: 'self'; frame-ancestors 'self'"
)
"""The policy of a mail in its frame: its styles are inline, and nothing in it can run or open a page."""
VARIANTS = ("A", "B")


class FilterSchema(Query):
    status = Choice(*CAMPAIGN_STATES)


def link_message(row: Row) -> str:
    """The page of a message."""
    return url_for("desk_messages.show_message", event_id=row["event_id"], campaign_id=row["id"])


MESSAGES = Table(
    "messages",
    Column("name", lazy_gettext("Message"), link=link_message),
    Column("status", lazy_gettext("State"), STATUS, labels=CAMPAIGN_STATES),
    Column("channel_names", lazy_gettext("Channels"), labels=CHANNEL_LISTS),
    Column("scheduled_at", lazy_gettext("Scheduled for"), TIME),
    Column("sent", lazy_gettext("Sent"), NUMBER),
    Column("failed", lazy_gettext("Failed"), NUMBER),
    Column("uncertain", lazy_gettext("Uncertain"), NUMBER),
    Column("created_at", lazy_gettext("Written"), TIME, sort="createdAt"),
    sorts={"createdAt": queries.SORTS["created_at"]},
    default_sort="-createdAt",
    counted=mark_plural("%(num)s message", "%(num)s messages"),
    filters=Form(
        FilterSchema,
        Input("status", lazy_gettext("State"), options=[("", lazy_gettext("All")), *CAMPAIGN_STATES.items()]),
    ),
    empty=lazy_gettext("Messages appear here when you write one."),
)


@blueprint.page("", access=READ)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the messages of the event, the newest first."""
    event = events.get_event(caller, event_id)
    view = partial(queries.list_campaigns_with_sums_query, caller, event_id)
    return render_desk_table(
        "desk/messages.html",
        MESSAGES,
        view,
        event=event,
        may_write=may_write(caller, event),
        may_stop=may_use(ORGANISATION),
    )


@blueprint.page("/<campaign_id>", access=READ)
def show_message(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Show one message: what it says, who gets it, what became of it, and what can be done."""
    return render_message(caller, event_id, campaign_id)


@blueprint.page("/<campaign_id>/mail/<variant>", access=READ)
def show_mail(caller: Caller, event_id: str, campaign_id: str, variant: str) -> ResponseReturnValue:
    """Show the mail of a variant as it will look, for the frame on the page of the message."""
    campaign = queries.get_campaign(caller, event_id, campaign_id)
    preview = next((it for it in previews.preview_variants(caller, campaign) if it.name == variant), None)
    if preview is None:
        raise NotFound()
    response = make_response(preview.email.html)
    response.headers["Content-Security-Policy"] = FRAME_POLICY
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.page("/<campaign_id>/cancel", access=STOP)
def confirm_cancellation(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Ask before a message is cancelled."""
    campaign = queries.get_campaign(caller, event_id, campaign_id)
    if campaign["status"] not in states.OPEN:
        return explain_closed(campaign)
    return _render_cancellation(caller, event_id, campaign_id)


@blueprint.act("/<campaign_id>/cancel", access=STOP)
def cancel(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Cancel a message that is not being sent yet."""
    try:
        actions.cancel_campaign(caller=caller, event_id=event_id, campaign_id=campaign_id)
    except FORM_ERRORS as error:
        return _render_cancellation(caller, event_id, campaign_id, error)
    return go_to(url_for("desk_messages.show", event_id=event_id), gettext("The message is cancelled. Nobody gets it."))


@blueprint.act("/<campaign_id>/duplicate", access=WRITE)
def duplicate(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Copy a message as a draft, and show it."""
    copy = partial(actions.duplicate, caller=caller, event_id=event_id, campaign_id=campaign_id, send_now=False)
    copy_id = do_once(caller, lambda: str(copy()["id"]))
    return go_to(link_message({"event_id": event_id, "id": copy_id}), gettext("This is the copy, a draft."))


def explain_closed(campaign: Mapping[Any, Any]) -> ResponseReturnValue:
    """Show the message, and why it can no longer be changed, sent or cancelled."""
    if campaign["status"] == states.CANCELED:
        text = gettext("The message is cancelled. Copy it if you want to send it after all.")
    elif campaign["status"] == states.SENDING:
        text = gettext("The message is being sent. It can no longer be changed or cancelled.")
    else:
        text = gettext("The message was sent. It can no longer be changed or cancelled.")
    return go_to(link_message(campaign), text)


def may_write(caller: Caller, event: OwnEvent) -> bool:
    """Whether the caller may write messages at the event, for the buttons."""
    return caller.may(MESSAGES_WRITE, organisation_id=event.organiser_id, event_id=event.id)


def count_people(
    caller: Caller, campaign: Mapping[Any, Any]
) -> audience_counts.AudiencePreview | audience_counts.AudiencePreviewWithSample | None:
    """The counts of the audience: now while the message can be changed, later those from the start of sending."""
    if campaign["status"] not in states.OPEN:
        stored: audience_counts.AudiencePreview | None = campaign["audience"]
        return stored
    count_like(caller, "campaigns.preview_audience")
    return audience_counts.preview_audience(caller, campaign["event_id"], campaign_store.build_audience(campaign))


def render_message(caller: Caller, event_id: str, campaign_id: str, error: AppError | None = None) -> Response:
    """The page of a message, or why an act on it was not possible."""
    event = events.get_event(caller, event_id)
    campaign = queries.get_campaign_with_results(caller, event_id, campaign_id)
    figures = {
        name: {
            **queries.build_figures((campaign["tallies"] or {}).get(name, {})),
            "unsubscribed": campaign["unsubscribed_people"].get(name, 0),
        }
        for name in VARIANTS
    }
    totals = {name: sum(figures[variant][name] for variant in VARIANTS) for name in FIGURE_LABELS}
    return render_desk(
        "desk/message.html",
        event=event,
        status=error.status if error else 200,
        error=describe_error(error) if error else "",
        campaign=campaign,
        state_label=CAMPAIGN_STATES[campaign["status"]],
        is_open=campaign["status"] in states.OPEN,
        states=states,
        channels=describe_channels(campaign["channels"]),
        audience=describe_audience(campaign, queries.list_audience_choices(caller, event_id)),
        counts=count_people(caller, campaign),
        totals=totals,
        percent=_find_percent(campaign, totals),
        variants=figures if campaign["ab_test_enabled"] else {},
        previews=previews.preview_variants(caller, campaign),
        is_unfilled=bool(validation.find_unfilled(dict(campaign))),
        history=_list_history(campaign),
        figure_labels=FIGURE_LABELS,
        channel_labels=CHANNEL_LABELS,
        exclusion_labels=EXCLUSION_LABELS,
        may_write=may_write(caller, event),
    )


def _list_history(campaign: Mapping[Any, Any]) -> list[tuple[datetime, str]]:
    """What happened to a message, the oldest first."""
    acts = [(datetime.fromisoformat(act["at"]), str(ACT_LABELS[act["verb"]])) for act in campaign["history"] or ()]
    sending = [
        (campaign["started_at"], gettext("Sending began")),
        (campaign["finished_at"], gettext("Sending ended")),
    ]
    return sorted([*acts, *((moment, text) for moment, text in sending if moment is not None)])


def _find_percent(campaign: Mapping[Any, Any], totals: Mapping[str, int]) -> int:
    """How far sending is. The number of messages is known from the counts before all of them are written."""
    reachable = (campaign["audience"] or {}).get("reachable") or {}
    expected = max(totals["total"], sum(reachable.values()))
    return 100 * (totals["total"] - totals["pending"]) // expected if expected else 0


def _render_cancellation(caller: Caller, event_id: str, campaign_id: str, error: AppError | None = None) -> Response:
    event = events.get_event(caller, event_id)
    campaign = queries.get_campaign(caller, event_id, campaign_id)
    return render_confirmation(
        event=event,
        title=gettext("Cancel “%(name)s”?", name=campaign["name"]),
        text=gettext("Nobody gets it. It stays in the list, and you can copy it."),
        button=gettext("Cancel the message"),
        back=link_message(campaign),
        is_dangerous=True,
        error=error,
    )
