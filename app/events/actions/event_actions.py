"""Creating an event.

Changing an event.

Removing an event.
"""

from typing import Any

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


def create_event(*, caller: Caller, said: dict[str, str], **fields: Any) -> Event:
    """The new event of this organiser: a draft, unless `visibility` says otherwise.

    Raises ValidationFailed, NotPublishable, EmailNotVerified, VisibilityNotReachable.
    """
    zone = fields.pop("timezone", None) or countries.main_zone(fields["country"])
    event = Event(organiser_id=caller.id, visibility=DRAFT, timezone=zone, ticket_types=[])
    for name in event_writer.LISTS:
        setattr(event, name, [])
    with transaction() as session:
        count_unverified_use(session, caller, EVENTS_QUOTA)
        event_writer.apply_changes(session, event, caller, fields, said)
    return event


def change_event(
    *, caller: Caller, id: str, expected_version: int | None, said: dict[str, str], **fields: Any
) -> Event:
    """The event with these fields changed; what is not named stays.

    Raises NotFound, StaleVersion, ValidationFailed, TicketsCommitted, NotPublishable, EmailNotVerified,
    VisibilityNotReachable.
    """
    with transaction() as session:
        event = queries.locked(session, caller, id)
        event_writer.publish_if_due(event)
        if expected_version not in (None, event.version):
            raise StaleVersion()
        if event_writer.apply_changes(session, event, caller, fields, said):
            event.version += 1
    return event


def remove_event(*, caller: Caller, id: str, expected_version: int | None) -> dict[str, str]:
    """Deletes an event that nothing hangs on and cancels any other; `outcome` says which.

    Raises NotFound, StaleVersion.
    """
    with transaction() as session:
        event = queries.locked(session, caller, id)
        event_writer.publish_if_due(event)
        if expected_version not in (None, event.version):
            raise StaleVersion()
        invalidate(session, event_writer.CATALOGUE)
        if _deleted(session, event):
            return {"id": id, "outcome": "deleted"}
        if event.visibility != CANCELLED:
            event.visibility = CANCELLED
            event.version += 1
    return {"id": id, "outcome": "cancelled"}


def _deleted(session: Session, event: Event) -> bool:
    """Tickets, allocations and whatever else belongs to an event refuse its deletion by their foreign keys."""
    try:
        with session.begin_nested():
            session.execute(delete(Event).where(Event.id == event.id))
    except IntegrityError:
        return False
    session.expunge(event)
    return True
