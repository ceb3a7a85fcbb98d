"""Placeholders in texts of campaigns: `{firstName}` becomes the person's first name. Nothing is evaluated.

Text in doubled braces stays as it is, and so does a brace without a plain name. A text is filled once: a value that
looks like a placeholder stays.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

from app.clients.email_templates import one_line, safe_display_name
from app.core.formatting import format_day, format_time

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
UNNAMED = "there"
_TOKEN = re.compile(r"\{\{.*?\}\}|\{([A-Za-z][A-Za-z0-9_]*)\}", re.DOTALL)


@dataclass(frozen=True)
class Facts:
    """The facts of the event and the recipient that fill placeholders. The zone is the event's."""

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
    """The names of the placeholders, each once, in the order of first use."""
    return list(dict.fromkeys(match[1] for match in _TOKEN.finditer(text) if match[1]))


def unknown_in(text: str) -> dict[str, str | None]:
    """Unknown placeholders, each with the most similar known one."""
    return {name: _nearest(name) for name in placeholders_in(text) if name not in PLACEHOLDERS}


def placeholder_values(facts: Facts) -> dict[str, str]:
    """A value for every placeholder, each on one line."""
    name = safe_display_name(one_line(facts.person_name or "")) or UNNAMED
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
    return _TOKEN.sub(lambda match: values.get(match[1], match[0]) if match[1] else match[0], text)


def _nearest(name: str) -> str | None:
    by_lower_name = {placeholder.lower(): placeholder for placeholder in PLACEHOLDERS}
    matches = get_close_matches(name.lower()[:40].replace("_", ""), by_lower_name, n=1, cutoff=0.6)
    return by_lower_name[matches[0]] if matches else None
