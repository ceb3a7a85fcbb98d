"""How the desk names the states of an event, and the steps between them."""

from typing import NamedTuple

from app.events.visibility import ARCHIVED, CANCELLED, DRAFT, PUBLISHED, UNLISTED

VISIBILITY_LABELS = {
    DRAFT: "Draft",
    PUBLISHED: "Published",
    UNLISTED: "Unlisted",
    ARCHIVED: "Archived",
    CANCELLED: "Cancelled",
}


class Step(NamedTuple):
    """A step to another state: the button that leads to it, the question, what will happen, and what is said then."""

    button: str
    title: str
    text: str
    done: str
    is_dangerous: bool = False


STEPS = {
    PUBLISHED: Step(
        "Publish",
        "Publish this event?",
        "Everybody can see it, with its ticket types and prices. You can take it out of the lists again.",
        "The event is published.",
    ),
    UNLISTED: Step(
        "Show by link only",
        "Show this event to people with the link only?",
        "It is in no list and no search. You can publish it later.",
        "The event is unlisted. Only people with the link see it.",
    ),
    ARCHIVED: Step(
        "Archive",
        "Archive this event?",
        "The public no longer sees it. You keep all of it here. It cannot be published again.",
        "The event is archived.",
    ),
    CANCELLED: Step(
        "Cancel the event",
        "Cancel this event?",
        "The public no longer sees it, and nobody can apply or pay any more. This cannot be undone.",
        "The event is cancelled.",
        is_dangerous=True,
    ),
}
"""The step to each state, in the order of the buttons."""
