"""Writes of events; each function is one transaction."""

from app.events.actions.event_actions import RemovedEvent, change_event, create_event, remove_event

__all__ = ["RemovedEvent", "change_event", "create_event", "remove_event"]
