"""How the desk names the states of an event, and the steps between them."""

from typing import NamedTuple

from app.core.languages import lazy_gettext
from app.events.validation import CATEGORIES
from app.events.visibility import ARCHIVED, CANCELLED, DRAFT, PUBLISHED, UNLISTED

VISIBILITY_LABELS = {
    DRAFT: lazy_gettext("Draft"),
    PUBLISHED: lazy_gettext("Published"),
    UNLISTED: lazy_gettext("Unlisted"),
    ARCHIVED: lazy_gettext("Archived"),
    CANCELLED: lazy_gettext("Cancelled"),
}


CATEGORY_LABELS = {
    "music": lazy_gettext("Music"),
    "food": lazy_gettext("Food"),
    "arts": lazy_gettext("Arts"),
    "sport": lazy_gettext("Sport"),
    "business": lazy_gettext("Business"),
    "community": lazy_gettext("Community"),
    "family": lazy_gettext("Family"),
    "other": lazy_gettext("Other"),
}
assert CATEGORY_LABELS.keys() == set(CATEGORIES)


class Step(NamedTuple):
    """A step to another state: the button that leads to it, the question, what will happen, and what is said then."""

    button: str
    title: str
    text: str
    done: str
    is_dangerous: bool = False


STEPS = {
    PUBLISHED: Step(
        lazy_gettext("Publish"),
        lazy_gettext("Publish this event?"),
        lazy_gettext(
            "Everybody can see the event, with its ticket types and prices. You can take it out of the lists again."
        ),
        lazy_gettext("The event is published."),
    ),
    UNLISTED: Step(
        lazy_gettext("Show by link only"),
        lazy_gettext("Show this event to people with the link only?"),
        lazy_gettext("The event is in no list and no search. You can publish it later."),
        lazy_gettext("The event is unlisted. Only people with the link see it."),
    ),
    ARCHIVED: Step(
        lazy_gettext("Archive"),
        lazy_gettext("Archive this event?"),
        lazy_gettext("The public no longer sees the event. You keep everything here. You cannot publish it again."),
        lazy_gettext("The event is archived."),
    ),
    CANCELLED: Step(
        lazy_gettext("Cancel the event"),
        lazy_gettext("Cancel this event?"),
        lazy_gettext(
            "The public no longer sees the event, and nobody can apply or pay any more. You cannot undo this. "
            "Nobody gets a mail by itself: afterwards the overview lists what is left to do."
        ),
        lazy_gettext("The event is cancelled. Nobody gets a mail by itself."),
        is_dangerous=True,
    ),
}
"""The step to each state, in the order of the buttons."""
