"""What helps guests to come to an event: a link to a map of the place, and a calendar file (RFC 5545)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from flask import current_app
from sqlalchemy import Row

from app.core.formatting import format_period
from app.core.languages import gettext
from app.events.map_links import build_map_link
from app.events.models import Event
from app.events.visibility import CANCELLED

CALENDAR_TYPE = "text/calendar"
LINE_OCTETS = 75
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\x85\u2028\u2029]")
_ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})


@dataclass(frozen=True, kw_only=True)
class Visit:
    """An event as its guests need it. `event_version` and `updated_at` are those of the event's row."""

    event_id: str
    event_name: str
    starts_at: datetime
    ends_at: datetime
    timezone: str
    venue: str
    city: str
    latitude: float | None
    longitude: float | None
    visibility: str
    event_version: int
    updated_at: datetime

    @property
    def when(self) -> str:
        """Beginning and end in the time zone of the event, in the language in use."""
        return format_period(self.starts_at, self.ends_at, self.timezone)

    @property
    def place(self) -> str:
        return ", ".join(part for part in (self.venue, self.city) if part)

    @property
    def map_url(self) -> str:
        """The address of a map: with a marker if the event has coordinates, else a search for venue and city."""
        return build_map_link(self.latitude, self.longitude, filter(None, (self.venue, self.city)))


VISIT_COLUMNS = (
    Event.id.label("event_id"),
    Event.name.label("event_name"),
    Event.starts_at,
    Event.ends_at,
    Event.timezone,
    Event.venue,
    Event.city,
    Event.latitude,
    Event.longitude,
    Event.visibility,
    Event.version.label("event_version"),
    Event.updated_at,
)
"""The fields of `Visit`."""


def build_visit(row: Row[*tuple[Any, ...]]) -> Visit:
    """Return the visit of a row that has VISIT_COLUMNS."""
    return Visit(**{field.name: getattr(row, field.name) for field in fields(Visit)})


def build_calendar_file(visit: Visit, *, organiser: str, contact: str) -> bytes:
    """Return the calendar file of an event, the same bytes for the same event.

    The UID is that of the event, so a file that is opened again changes the entry. It has nothing of the guest, because
    people share their calendars.
    """
    host = urlsplit(current_app.extensions["settings"].PUBLIC_BASE_URL).hostname
    questions = gettext("Questions? %(organiser)s, %(contact)s", organiser=organiser, contact=contact)
    description = f"{questions}\n{visit.map_url}"
    changed_at = _format_instant(visit.updated_at)
    has_coordinates = visit.latitude is not None and visit.longitude is not None
    lines = (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Event Commerce//Tickets//EN",
        "METHOD:PUBLISH",
        "BEGIN:VEVENT",
        f"UID:event-{visit.event_id}@{host}",
        f"DTSTAMP:{changed_at}",
        f"LAST-MODIFIED:{changed_at}",
        f"SEQUENCE:{visit.event_version}",
        f"STATUS:{'CANCELLED' if visit.visibility == CANCELLED else 'CONFIRMED'}",
        f"DTSTART:{_format_instant(visit.starts_at)}",
        f"DTEND:{_format_instant(visit.ends_at)}",
        f"SUMMARY:{_escape(visit.event_name)}",
        f"LOCATION:{_escape(visit.place)}",
        *((f"GEO:{visit.latitude:.6f};{visit.longitude:.6f}",) if has_coordinates else ()),
        f"DESCRIPTION:{_escape(description)}",
        "END:VEVENT",
        "END:VCALENDAR",
    )
    return b"".join(folded + b"\r\n" for line in lines for folded in _fold(line))


def _format_instant(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _escape(text: str) -> str:
    return _CONTROL.sub(" ", text.replace("\r\n", "\n")).translate(_ESCAPES)


def _fold(line: str) -> Iterator[bytes]:
    """Yield the parts of a line of at most 75 octets, which never divide a character; all but the first begin blank."""
    part = b""
    for character in line:
        octets = character.encode()
        if len(part) + len(octets) > LINE_OCTETS:
            yield part
            part = b" "
        part += octets
    yield part
