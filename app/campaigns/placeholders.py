"""Placeholders: `{firstName}` becomes the person's name, and that is all. Nothing is ever evaluated.

What stands in doubled braces is text, braces and all, and so is a brace that holds no plain name. A value is put in
once: one that looks like a placeholder stays as it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

from app.clients.email_templates import one_line, safe_display_name
from app.core.date_format import format_day, format_time

PLACEHOLDERS = {
    "firstName": "the first word of the person's name, or “there”",
    "name": "the person's name, or “there”",
    "tickets": "how many the person has: “one ticket”, “3 tickets”",
    "ticketCount": "the same as a figure",
    "eventName": "the event's name",
    "startsAt": "when it begins, with the time zone's city",
    "startDate": "the day on which it begins",
    "endsAt": "when it ends",
    "venue": "where it is",
    "city": "in which city",
    "organiserName": "who organises it",
}
NOBODY = "there"
_TOKEN = re.compile(r"\{\{.*?\}\}|\{([A-Za-z][A-Za-z0-9_]*)\}", re.DOTALL)


@dataclass(frozen=True)
class Facts:
    """What a text can tell: of the event, and of the person who reads it. The zone is the event's."""

    event_name: str
    starts_at: datetime
    ends_at: datetime
    zone: str
    venue: str
    city: str
    organiser_name: str
    person_name: str | None
    places: int


def placeholders_in(text: str) -> list[str]:
    """Names of placeholders, each once, in the order of first use."""
    return list(dict.fromkeys(result[1] for result in _TOKEN.finditer(text) if result[1]))


def unknown_in(text: str) -> dict[str, str | None]:
    """Placeholders that nobody knows, each with the nearest one that is known."""
    return {name: _nearest(name) for name in placeholders_in(text) if name not in PLACEHOLDERS}


def placeholder_values(facts: Facts) -> dict[str, str]:
    """A value for every placeholder, each on one line."""
    name = safe_display_name(one_line(facts.person_name or "")) or NOBODY
    values = {
        "firstName": name.split()[0],
        "name": name,
        "tickets": "one ticket" if facts.places == 1 else f"{facts.places} tickets",
        "ticketCount": str(facts.places),
        "eventName": facts.event_name,
        "startsAt": format_time(facts.starts_at, facts.zone),
        "startDate": format_day(facts.starts_at, facts.zone),
        "endsAt": format_time(facts.ends_at, facts.zone),
        "venue": facts.venue,
        "city": facts.city,
        "organiserName": facts.organiser_name,
    }
    return {name: one_line(value) for name, value in values.items()}


def fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled in, once."""
    return _TOKEN.sub(lambda result: values.get(result[1], result[0]) if result[1] else result[0], text)


def _nearest(name: str) -> str | None:
    plain = {placeholder.lower(): placeholder for placeholder in PLACEHOLDERS}
    near = get_close_matches(name.lower()[:40].replace("_", ""), plain, n=1, cutoff=0.6)
    return plain[near[0]] if near else None
