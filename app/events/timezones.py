"""What the domains above do when an event gets another time zone.

    @on_timezone_change
    def move_reminder(session, event_id, zone):
        session.execute(update(…))

They run in the transaction that changes the event, which holds the event's row locked. Register them in a module that
the domain's actions import.
"""

from collections.abc import Callable

from sqlalchemy.orm import Session

Handler = Callable[[Session, str, str], None]
_handlers: list[Handler] = []


def on_timezone_change(handler: Handler) -> Handler:
    """Registers what a domain does with what it keeps by the clock of an event."""
    _handlers.append(handler)
    return handler


def notify_timezone_change(session: Session, event_id: str, zone: str) -> None:
    """Tells every domain that an event's clock is that of `zone` from now on."""
    for handler in _handlers:
        handler(session, event_id, zone)
