"""Changing an event."""

from typing import Any

from app.accounts.caller import Caller
from app.core.errors import StaleVersion
from app.core.transaction import transaction
from app.events import queries, writing
from app.events.models import Event


def change_event(
    *, caller: Caller, id: str, expected_version: int | None, said: dict[str, str], **fields: Any
) -> Event:
    """The event with these fields changed; what is not named stays.

    Raises NotFound, StaleVersion, ValidationFailed, TicketsCommitted, NotPublishable, EmailNotVerified,
    VisibilityNotReachable.
    """
    with transaction() as session:
        event = queries.locked(session, caller, id)
        writing.settle(event)
        if expected_version not in (None, event.version):
            raise StaleVersion()
        if writing.put(session, event, caller, fields, said):
            event.version += 1
    return event
