"""Slugs: the readable part of the address of an event's page, `windhoek-lights` in `/e/windhoek-lights`.

A slug is made from the name when an event is created, and stays when the name changes. The organiser can choose another
one. All slugs are unique, also those of events that are not public.
"""

import re

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from app.core.ids import is_id
from app.core.transaction import lock_name
from app.events.errors import SlugTaken
from app.events.search_words import folded
from app.events.sql import IS_SLUG_TAKEN, LIST_NUMBERED_SLUGS

MAX_LENGTH, MAX_NAME_LENGTH = 80, 60
"""The length of a slug, and of the part that comes from a name, which leaves room for a number."""
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
RESERVED = frozenset({"admin", "all", "api", "apply", "event", "events", "new", "search", "static", "tickets"})
_NUMBERS = re.compile(r"(?:-\d+)+$")


def is_available_word(slug: str) -> bool:
    """Whether events may have this slug: it is not reserved and does not look like an id."""
    return slug not in RESERVED and not is_id(slug)


def assign_slug(session: Session, *, event_id: str, name: str, chosen: str | None) -> str:
    """The slug for an event: the chosen one, or else one made from its name. Others cannot take it until the transaction
    ends. Raises SlugTaken for a chosen one of another event.
    """
    base = chosen or _slugify(name) or event_id
    # A flush here would hide from the caller that the event has changed.
    with session.no_autoflush:
        # Everything that could get the same slug shares this name: `lights`, `lights-2` and `lights-2-2`.
        lock_name(session, f"event-slug:{_NUMBERS.sub('', base)}")
        if chosen is None:
            return find_free_slug(session, name, event_id)
        if session.scalar(IS_SLUG_TAKEN, {"slug": chosen}):
            raise SlugTaken()
    return chosen


def find_free_slug(connection: Session | Connection, name: str, event_id: str) -> str:
    """A slug from the name that no event has: `windhoek-lights`, else `windhoek-lights-2` and so on. The id of the event
    if the name has no letter of a to z, with or without an accent.
    """
    base = _slugify(name)
    if not base:
        return event_id
    if is_available_word(base) and not connection.scalar(IS_SLUG_TAKEN, {"slug": base}):
        return base
    taken = set(connection.scalars(LIST_NUMBERED_SLUGS, {"slug": base}))
    number = 2
    while f"{base}-{number}" in taken:
        number += 1
    return f"{base}-{number}"


def _slugify(name: str) -> str:
    """The words of a name in the letters a to z and digits; empty without a letter."""
    slug = "-".join(re.findall(r"[a-z0-9]+", folded(name)))[:MAX_NAME_LENGTH].strip("-")
    return slug if re.search(r"[a-z]", slug) and not is_id(slug) else ""
