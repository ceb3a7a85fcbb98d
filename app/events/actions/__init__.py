"""Writes of events; each function is one transaction."""

from app.events.actions.event_actions import change_event, create_event, remove_event

__all__ = ["change_event", "create_event", "remove_event"]
