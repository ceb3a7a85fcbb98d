"""Creating an event."""

from typing import Any

from app.accounts.caller import Caller
from app.accounts.quotas import EVENTS_QUOTA, count_unverified_use
from app.core.transaction import transaction
from app.events import places, writing
from app.events.models import Event
from app.events.visibility import DRAFT


def create_event(*, caller: Caller, said: dict[str, str], **fields: Any) -> Event:
    """The new event of this organiser: a draft, unless `visibility` says otherwise.

    Raises ValidationFailed, NotPublishable, EmailNotVerified, VisibilityNotReachable.
    """
    zone = fields.pop("timezone", None) or places.main_zone(fields["country"])
    event = Event(organiser_id=caller.id, visibility=DRAFT, timezone=zone, ticket_types=[])
    for name in writing.LISTS:
        setattr(event, name, [])
    with transaction() as session:
        count_unverified_use(session, caller, EVENTS_QUOTA)
        writing.put(session, event, caller, fields, said)
    return event
