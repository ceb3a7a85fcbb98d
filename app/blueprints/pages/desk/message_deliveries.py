"""What did not arrive, and who gets no messages: undelivered messages, sending again, the suppression list."""

from functools import partial
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.message_words import CHANNEL_LABELS, SUPPRESSION_LABELS, UNDELIVERED_LABELS
from app.blueprints.pages.desk.messages import ORGANISATION, WRITE, blueprint, link_message
from app.blueprints.pages.desk.shell import go_to, may_use, render_confirmation, render_desk_form
from app.blueprints.pages.desk.tables import STATUS, TIME, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.campaigns import actions, queries, suppressions
from app.campaigns.delivery_sql import MAX_RESENT
from app.core.errors import AppError, NotFound
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext, mark_plural, ngettext
from app.events import queries as events
from app.events.queries import OwnEvent
from app.web.fields import Choice, Id
from app.web.schema import Query
from app.web.suppression_fields import RemovableEntry, StoppedAddress, SuppressionFilters

MAX_CHOSEN = 50


class UndeliveredSchema(Query):
    state = Choice(*UNDELIVERED_LABELS)
    campaign_id = Id()


class AddressSchema(Query, StoppedAddress):
    pass


class EntrySchema(Query, RemovableEntry):
    pass


def _link_campaign(row: Row) -> str:
    return link_message({"event_id": row["event_id"], "id": row["campaign_id"]})


UNDELIVERED = Table(
    "undelivered",
    Column("address", lazy_gettext("Address")),
    Column("name", lazy_gettext("Person")),
    Column("channel", lazy_gettext("Channel"), labels=CHANNEL_LABELS),
    Column("campaign_name", lazy_gettext("Message"), link=_link_campaign),
    Column("state", lazy_gettext("State"), STATUS, labels=UNDELIVERED_LABELS),
    Column("reason", lazy_gettext("Why")),
    Column("settled_at", lazy_gettext("When"), TIME),
    sorts=queries.RECIPIENT_SORTS,
    default_sort="-id",
    counted=mark_plural("%(num)s message", "%(num)s messages"),
    filters=Form(
        UndeliveredSchema,
        Input("state", lazy_gettext("State"), options=[("", lazy_gettext("All")), *UNDELIVERED_LABELS.items()]),
        Input("campaignId", "", type="hidden"),
    ),
    empty=lazy_gettext("Messages that failed or are uncertain appear here. There are none now."),
)
SUPPRESSIONS = Table(
    "suppression-list",
    Column("address", lazy_gettext("Address"), sort="address"),
    Column("reason", lazy_gettext("Why"), STATUS, labels=SUPPRESSION_LABELS),
    Column(
        "channel", lazy_gettext("Channel"), labels={**CHANNEL_LABELS, suppressions.ALL_CHANNELS: lazy_gettext("All")}
    ),
    Column("details", lazy_gettext("Answer of the mail server")),
    Column("since", lazy_gettext("Since"), TIME, sort="since"),
    sorts=suppressions.SORTS,
    default_sort="-since",
    counted=mark_plural("%(num)s address", "%(num)s addresses"),
    filters=Form(
        SuppressionFilters,
        Input("q", lazy_gettext("Search"), type="search"),
        Input("reason", lazy_gettext("Why"), options=[("", lazy_gettext("All")), *SUPPRESSION_LABELS.items()]),
    ),
    empty=lazy_gettext("Addresses appear here when somebody unsubscribes, or when an address refuses all messages."),
)
ADDRESS = Form(
    AddressSchema,
    Input(
        "address",
        lazy_gettext("E-mail address"),
        type="email",
        messages={"required": lazy_gettext("Enter an e-mail address.")},
    ),
)


@blueprint.page("/undelivered", access=WRITE)
def show_undelivered(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the messages that failed, or that may not have arrived."""
    event = events.get_event(caller, event_id)
    view = partial(queries.list_undelivered_query, caller, event_id)
    campaign_id = request.args.get("campaignId", "")
    return render_desk_table(
        "desk/undelivered.html",
        UNDELIVERED,
        view,
        event=event,
        record_file=partial(record_addresses, event),
        campaign_id=campaign_id if is_id(campaign_id) else "",
        may_stop=may_use(ORGANISATION),
    )


@blueprint.page("/<campaign_id>/resend", access=WRITE)
def confirm_resending(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Ask before uncertain messages are sent again: those that were chosen, or all."""
    return _render_resending(caller, event_id, campaign_id, request.args.getlist("id"))


@blueprint.act("/<campaign_id>/resend", access=WRITE)
def resend(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Send uncertain messages again. A second time finds nothing uncertain any more."""
    ids = request.form.get("ids", "")
    chosen_ids = read_ids(ids.split(","))
    if ids and not chosen_ids:
        raise NotFound()
    try:
        resent = actions.resend_uncertain(
            caller=caller, event_id=event_id, campaign_id=campaign_id, recipient_ids=chosen_ids or None
        )
    except FORM_ERRORS as error:
        return _render_resending(caller, event_id, campaign_id, chosen_ids, error)
    path = url_for("desk_messages.show_message", event_id=event_id, campaign_id=campaign_id)
    return go_to(path, gettext("Sent again: %(num)s.", num=resent["resent"]))


@blueprint.page("/suppressions", access=ORGANISATION)
def show_suppressions(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the addresses that get no messages of the organisation, why, and since when."""
    event = events.get_event(caller, event_id)
    view = partial(suppressions.list_suppressions_query, caller, event_id)
    record_file = partial(record_addresses, event)
    return render_desk_table(
        "desk/suppressions.html", SUPPRESSIONS, view, event=event, record_file=record_file, suppressions=suppressions
    )


@blueprint.page("/suppressions/add", access=ORGANISATION)
def add_address(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form for an address that gets no more messages."""
    return _render_address(caller, event_id, ADDRESS.fill())


@blueprint.act("/suppressions/add", access=ORGANISATION)
def stop_address(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Send no more messages to an address."""
    form = ADDRESS.from_request()
    try:
        is_new = suppressions.stop_address(caller, event_id, **form.load())
    except FORM_ERRORS as error:
        return _render_address(caller, event_id, form.with_error(error))
    done = gettext("The address gets no more messages.") if is_new else gettext("The address was on the list already.")
    return go_to(url_for("desk_messages.show_suppressions", event_id=event_id), done)


@blueprint.page("/suppressions/remove", access=ORGANISATION)
def confirm_removal(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Ask before an address gets messages again."""
    event = events.get_event(caller, event_id)
    entry = _read_entry(request.args)
    texts = {
        suppressions.STOPPED: gettext(
            "Your next message goes to this address again. Make sure that the person wants it."
        ),
        suppressions.BOUNCED: gettext(
            "Your next message goes to this address again. If the address refuses it, the address is on the list again."
        ),
    }
    return render_confirmation(
        event=event,
        title=gettext("Write to %(address)s again?", address=entry["address"]),
        text=texts[entry["reason"]],
        button=gettext("Take it off the list"),
        back=url_for("desk_messages.show_suppressions", event_id=event_id),
        values=entry,
    )


@blueprint.act("/suppressions/remove", access=ORGANISATION)
def allow_address(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Let an address get messages again. If that was done already, it is as it should be."""
    path = url_for("desk_messages.show_suppressions", event_id=event_id)
    entry = _read_entry(request.form)
    suppressions.allow_address(caller, event_id, **entry)
    return go_to(path, gettext("The address can get messages again."))


def read_ids(ids: list[str]) -> list[str]:
    """The ids among these texts, each once, at most fifty."""
    return [id for id in dict.fromkeys(ids) if is_id(id)][:MAX_CHOSEN]


def _read_entry(values: Any) -> dict[str, str]:
    """The entry that a link or a form names. Raises NotFound."""
    schema = EntrySchema()
    if schema.validate(values):
        raise NotFound()
    loaded: dict[str, str] = schema.load(values)
    return loaded


def record_addresses(event: OwnEvent) -> None:
    """Record that a file with addresses of an event was made."""
    record_export(
        Action.MESSAGE_ADDRESSES_EXPORTED, organisation_id=event.organiser_id, event_id=event.id, subject=event.id
    )


def _render_address(caller: Caller, event_id: str, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=events.get_event(caller, event_id),
        title=gettext("Stop messages to an address"),
        lead=gettext(
            "The address gets none of the messages that you write here, on any channel and for any event. "
            "Tickets, codes and answers to requests still arrive."
        ),
        button=gettext("Stop the messages"),
        back=url_for("desk_messages.show_suppressions", event_id=event_id),
    )


def _render_resending(
    caller: Caller, event_id: str, campaign_id: str, ids: list[str], error: AppError | None = None
) -> Response:
    event, campaign = events.get_event(caller, event_id), queries.get_campaign(caller, event_id, campaign_id)
    chosen_ids = read_ids(ids)
    count = sum(variant["uncertain"] for variant in (campaign["tallies"] or {}).values())
    title = (
        ngettext("Send the chosen message again?", "Send the %(num)s chosen messages again?", len(chosen_ids))
        if chosen_ids
        else ngettext("Send the uncertain message again?", "Send all %(num)s uncertain messages again?", count)
    )
    return render_confirmation(
        event=event,
        title=title,
        text=gettext(
            "We got no answer when we sent them, so they may have arrived. Some people may get the message twice. "
            "At most %(num)s are sent at once.",
            num=MAX_RESENT,
        ),
        button=gettext("Send them again"),
        back=link_message(campaign),
        values={"ids": ",".join(chosen_ids)},
        error=error,
    )
