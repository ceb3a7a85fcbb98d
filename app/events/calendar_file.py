"""Calendar files (RFC 5545): one event that calendar programs import, for guests with a ticket and for everybody."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from flask import current_app

CALENDAR_TYPE = "text/calendar"
LINE_OCTETS = 75
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\x85\u2028\u2029]")
_ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})


@dataclass(frozen=True, kw_only=True)
class Appointment:
    """An event as it goes into the calendar. `sequence` grows with each change, so that a later file replaces it.

    `ticket_type_id` is that of a ticket with times of its own.
    """

    event_id: str
    sequence: int
    changed_at: datetime
    starts_at: datetime
    ends_at: datetime
    title: str
    place: str
    description: str
    url: str = ""
    latitude: float | None = None
    longitude: float | None = None
    is_cancelled: bool = False
    ticket_type_id: str = ""


def build_calendar_file(appointment: Appointment) -> bytes:
    """Return the file with one appointment, the same bytes for the same one.

    The UID is that of the event: its files from the page and from a ticket are one entry of the calendar. Tickets with
    times of their own have an entry for each type, so that Sunday does not replace Saturday. It has nothing of the guest,
    because people share their calendars.
    """
    uid = "-".join(filter(None, ("event", appointment.event_id, appointment.ticket_type_id)))
    host = urlsplit(current_app.extensions["settings"].PUBLIC_BASE_URL).hostname
    changed_at = _format_instant(appointment.changed_at)
    has_position = appointment.latitude is not None and appointment.longitude is not None
    lines = (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Event Commerce//Events//EN",
        "METHOD:PUBLISH",
        "BEGIN:VEVENT",
        f"UID:{uid}@{host}",
        f"DTSTAMP:{changed_at}",
        f"LAST-MODIFIED:{changed_at}",
        f"SEQUENCE:{appointment.sequence}",
        f"STATUS:{'CANCELLED' if appointment.is_cancelled else 'CONFIRMED'}",
        f"DTSTART:{_format_instant(appointment.starts_at)}",
        f"DTEND:{_format_instant(appointment.ends_at)}",
        f"SUMMARY:{_escape(appointment.title)}",
        f"LOCATION:{_escape(appointment.place)}",
        *((f"GEO:{appointment.latitude:.6f};{appointment.longitude:.6f}",) if has_position else ()),
        *((f"DESCRIPTION:{_escape(appointment.description)}",) if appointment.description else ()),
        *((f"URL:{appointment.url}",) if appointment.url else ()),
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
