"""Handlers of other domains for an event whose time zone changes.

    @on_timezone_change
    def move_reminder(session, event_id, zone):
        session.execute(update(…))

Handlers run in the transaction that changes the event; it has locked the event's row. Register them in a module that the
domain's actions import.
"""

from collections.abc import Callable

from sqlalchemy.orm import Session

Handler = Callable[[Session, str, str], None]
_handlers: list[Handler] = []


def on_timezone_change(handler: Handler) -> Handler:
    """Registers a handler that moves a domain's times which follow the clock of an event."""
    _handlers.append(handler)
    return handler


def notify_timezone_change(session: Session, event_id: str, zone: str) -> None:
    """Runs all handlers: the event is in `zone` from now on."""
    for handler in _handlers:
        handler(session, event_id, zone)
