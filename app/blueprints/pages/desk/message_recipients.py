"""Who got a message: its recipients with what became of it on each channel, to look somebody up."""

from functools import partial

from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import GUESTS_READ
from app.blueprints.pages.desk.message_deliveries import record_addresses
from app.blueprints.pages.desk.message_words import CHANNEL_LABELS, EXCLUSION_LABELS, RECIPIENT_LABELS
from app.blueprints.pages.desk.messages import READ, blueprint
from app.blueprints.pages.desk.tables import STATUS, TIME, Column, Table, render_desk_table
from app.blueprints.pages.forms import Form, Input
from app.campaigns import queries
from app.campaigns.delivery import SENDER_NOT_VERIFIED
from app.core.languages import lazy_gettext, mark_plural
from app.events import queries as events
from app.web.fields import Choice, Text
from app.web.schema import Query


class FilterSchema(Query):
    q = Text(max=254)
    state = Choice(*RECIPIENT_LABELS)


REASONS = {**EXCLUSION_LABELS, SENDER_NOT_VERIFIED: lazy_gettext("The address of the organisation is not confirmed")}
RESULT = (
    Column("channel", lazy_gettext("Channel"), labels=CHANNEL_LABELS),
    Column("state", lazy_gettext("State"), STATUS, labels=RECIPIENT_LABELS),
    Column("reason", lazy_gettext("Why"), labels=REASONS),
    Column("settled_at", lazy_gettext("When"), TIME),
)
ADDRESS = Column("address", lazy_gettext("Address"), sort="address")
RECIPIENTS = Table(
    "recipients",
    Column("name", lazy_gettext("Person")),
    sorts=queries.PERSON_SORTS,
    default_sort="address",
    counted=mark_plural("%(num)s message", "%(num)s messages"),
    filters=Form(
        FilterSchema,
        Input("q", lazy_gettext("Search"), type="search"),
        Input("state", lazy_gettext("State"), options=[("", lazy_gettext("All")), *RECIPIENT_LABELS.items()]),
    ),
    empty=lazy_gettext("The people appear here when sending starts."),
)


@blueprint.page("/<campaign_id>/recipients", access=READ)
def show_recipients(caller: Caller, event_id: str, campaign_id: str) -> ResponseReturnValue:
    """Show who got a message. Addresses are for those who may see the guests; others find a person by their whole address."""
    event = events.get_event(caller, event_id)
    sees_addresses = caller.may(GUESTS_READ, organisation_id=event.organiser_id, event_id=event.id)
    return render_desk_table(
        "desk/message_recipients.html",
        RECIPIENTS.with_columns(*([ADDRESS] if sees_addresses else []), *RESULT),
        partial(queries.list_recipients_query, caller, event_id, campaign_id, finds_addresses=sees_addresses),
        event=event,
        record_file=partial(record_addresses, event) if sees_addresses else None,
        campaign=queries.get_campaign(caller, event_id, campaign_id),
        sees_addresses=sees_addresses,
    )
