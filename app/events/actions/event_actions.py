"""Creating, changing and removing an event."""

from typing import Any, Literal, TypedDict

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.quotas import EVENTS_QUOTA, count_unverified_use
from app.core.cache_invalidation import invalidate
from app.core.errors import StaleVersion
from app.core.transaction import transaction
from app.events import countries, event_writer, queries
from app.events.models import Event
from app.events.visibility import CANCELLED, DRAFT


class RemovedEvent(TypedDict):
    """The id of a removed event, and whether it was deleted or only cancelled."""

    id: str
    outcome: Literal["deleted", "cancelled"]


def create_event(*, caller: Caller, **fields: Any) -> Event:
    """The new event of this organiser: a draft, unless `visibility` says otherwise.

    Raises ValidationFailed, NotPublishable, EmailNotVerified, VisibilityNotReachable.
    """
    zone = fields.pop("timezone", None) or countries.main_zone(fields["country"])
    event = Event(organiser_id=caller.id, visibility=DRAFT, timezone=zone, ticket_types=[])
    for name in event_writer.LISTS:
        setattr(event, name, [])
    with transaction() as session:
        count_unverified_use(session, caller, EVENTS_QUOTA)
        event_writer.apply_changes(session, event, caller, fields)
    return event


def change_event(*, caller: Caller, id: str, expected_version: int | None, **fields: Any) -> Event:
    """The event with these fields changed; other fields stay.

    Raises NotFound, StaleVersion, ValidationFailed, TicketsCommitted, NotPublishable, EmailNotVerified,
    VisibilityNotReachable.
    """
    with transaction() as session:
        event = queries.lock_own_event(session, caller, id)
        event_writer.publish_if_due(event)
        if expected_version not in (None, event.version):
            raise StaleVersion()
        if event_writer.apply_changes(session, event, caller, fields):
            event.version += 1
    return event


def remove_event(*, caller: Caller, id: str, expected_version: int | None) -> RemovedEvent:
    """Deletes an event that no other row refers to, and cancels any other.

    Raises NotFound, StaleVersion.
    """
    with transaction() as session:
        event = queries.lock_own_event(session, caller, id)
        event_writer.publish_if_due(event)
        if expected_version not in (None, event.version):
            raise StaleVersion()
        invalidate(session, event_writer.CATALOGUE)
        if _try_delete(session, event):
            return {"id": id, "outcome": "deleted"}
        if event.visibility != CANCELLED:
            event.visibility = CANCELLED
            event.version += 1
    return {"id": id, "outcome": "cancelled"}


def _try_delete(session: Session, event: Event) -> bool:
    """Deletes the event; False when the foreign key of a ticket, an allocation or another row refuses it."""
    try:
        with session.begin_nested():
            session.execute(delete(Event).where(Event.id == event.id))
    except IntegrityError:
        return False
    session.expunge(event)
    return True
