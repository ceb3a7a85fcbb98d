"""Writes of events; each function is one transaction."""

from app.events.actions.copy_event import copy_event
from app.events.actions.event_actions import (
    RemovedEvent,
    change_event,
    create_event,
    list_missing_facts,
    remove_event,
)

__all__ = ["RemovedEvent", "change_event", "copy_event", "create_event", "list_missing_facts", "remove_event"]
