"""What organisers do with events: one verb, one transaction."""

from app.events.actions.change import change_event
from app.events.actions.create import create_event
from app.events.actions.remove import remove_event

__all__ = ["change_event", "create_event", "remove_event"]
