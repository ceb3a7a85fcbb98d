"""The desk: the pages with which an organiser runs festivals, under `/desk`. docs/desk.md says how to add one."""

from app.blueprints.pages.desk import event, events, gallery, home, ticket_types

DESK_PAGES = (
    home,
    events,
    event,
    ticket_types,
)
"""The modules of the desk, each with one blueprint. `gallery` is registered in development only."""
__all__ = ["DESK_PAGES", "gallery"]
