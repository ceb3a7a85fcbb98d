"""The suppression list of an organisation: addresses that get none of its messages, why, and since when.

- `unsubscribed`: the person used the link of a message. Only they can take it back.
- `stopped`: a member of the organisation entered the address, and can remove it.
- `bounced`: a message of the organisation failed, because the address does not exist. It can be tried again.

Addresses that failed for others only, and people who unsubscribed from all organisers, are not listed.
"""

from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Select, case, delete, exists, literal, literal_column, select, union_all
from sqlalchemy.dialects.postgresql import insert

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record
from app.campaigns.models import Campaign, Recipient
from app.campaigns.states import FAILED
from app.core.db import Timestamp, db
from app.core.errors import NotFound
from app.core.transaction import transaction
from app.events.models import Event
from app.events.queries import owned
from app.subscriptions.models import Suppression, Unsubscribe

UNSUBSCRIBED, STOPPED, BOUNCED = REASONS = ("unsubscribed", "stopped", "bounced")
ALL_CHANNELS = "all"
SORTS: dict[str, ColumnElement[Any]] = {
    "since": literal_column("entry.since", Timestamp),
    "address": literal_column("entry.address"),
}


def list_suppressions_query(
    caller: Caller, event_id: str, *, q: str | None = None, reason: str | None = None
) -> Select[Any]:
    """The suppression list of the organisation of an event. `q` is a part of an address. Raises NotFound."""
    entry = _select_entries(_get_organiser_id(caller, event_id))
    statement = select(*entry.c)
    if q:
        statement = statement.where(entry.c.address.contains(q.lower(), autoescape=True))
    return statement if reason is None else statement.where(entry.c.reason == reason)


def stop_address(caller: Caller, event_id: str, address: str) -> bool:
    """Send no more messages of the event's organisation to this e-mail address, on any channel.

    Returns whether that is new: an address that is on the list already stays as it is. Raises NotFound.
    """
    organiser_id = _get_organiser_id(caller, event_id)
    values = {"address": address, "organiser_id": organiser_id, "by_organiser": True}
    with transaction() as session:
        statement = insert(Unsubscribe).values(values).on_conflict_do_nothing().returning(Unsubscribe.id)
        id = session.scalar(statement)
        if id is not None:
            record(session, Action.ADDRESS_STOPPED, organisation_id=organiser_id, subject=id)
    return id is not None


def allow_address(caller: Caller, event_id: str, *, reason: str, channel: str, address: str) -> None:
    """Let messages go to an address again that was `stopped`, or that `bounced` for this organisation.

    Raises NotFound if there is no such entry, and for people who unsubscribed: only they can take that back.
    """
    organiser_id = _get_organiser_id(caller, event_id)
    if reason == STOPPED:
        removal = delete(Unsubscribe).where(
            Unsubscribe.address == address, Unsubscribe.organiser_id == organiser_id, Unsubscribe.by_organiser
        )
    elif reason == BOUNCED:
        removal = delete(Suppression).where(
            Suppression.channel == channel, Suppression.address == address, _has_failed(organiser_id)
        )
    else:
        raise NotFound()
    with transaction() as session:
        count: int = session.execute(removal.execution_options(synchronize_session=False)).rowcount  # type: ignore[attr-defined]
        if not count:
            raise NotFound()
        record(
            session, Action.ADDRESS_ALLOWED, organisation_id=organiser_id, data={"reason": reason, "channel": channel}
        )


def _get_organiser_id(caller: Caller, event_id: str) -> str:
    """The organisation of an event, whose list it is. Raises NotFound, also for callers who have only some of its events."""
    whole_caller = replace(caller, grant=caller.grant._replace(event_ids=()))
    organiser_id = db.session.scalar(select(Event.organiser_id).where(Event.id == event_id, owned(whole_caller)))
    if organiser_id is None:
        raise NotFound()
    return organiser_id


def _select_entries(organiser_id: str) -> Any:
    """The entries of an organisation as a subquery: `id, address, channel, reason, details, since`."""
    unsubscribed = select(
        Unsubscribe.id.label("id"),
        Unsubscribe.address.label("address"),
        literal(ALL_CHANNELS).label("channel"),
        case((Unsubscribe.by_organiser, STOPPED), else_=UNSUBSCRIBED).label("reason"),
        literal("").label("details"),
        Unsubscribe.created_at.label("since"),
    ).where(Unsubscribe.organiser_id == organiser_id)
    bounced = select(
        (Suppression.channel + ":" + Suppression.address).label("id"),
        Suppression.address,
        Suppression.channel,
        literal(BOUNCED),
        Suppression.reason,
        Suppression.created_at,
    ).where(_has_failed(organiser_id))
    return union_all(unsubscribed, bounced).subquery("entry")


def _has_failed(organiser_id: str) -> ColumnElement[bool]:
    """Whether a message of the organisation to the suppressed address failed."""
    failed = (
        select(Recipient.channel, Recipient.address)
        .join(Campaign, (Campaign.id == Recipient.campaign_id) & (Campaign.event_id == Recipient.event_id))
        .join(Event, Event.id == Campaign.event_id)
        .where(Event.organiser_id == organiser_id, Recipient.state == FAILED)
        .distinct()
        .subquery("failed")
    )
    return exists().where(failed.c.channel == Suppression.channel, failed.c.address == Suppression.address)
