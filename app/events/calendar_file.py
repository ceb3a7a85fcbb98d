"""Calendar files (RFC 5545): one appointment that calendar programs import."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

LINE_BYTES = 75
_BREAKS = re.compile(r"\r\n|\r|\n")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, kw_only=True)
class Appointment:
    """What goes into the calendar. `sequence` grows with each change, and `uid` stays, so an import again replaces it."""

    uid: str
    sequence: int
    changed_at: datetime
    starts_at: datetime
    ends_at: datetime
    title: str
    place: str
    description: str
    url: str
    latitude: float | None = None
    longitude: float | None = None


def build_calendar_file(appointment: Appointment) -> bytes:
    """Return the file with one appointment."""
    has_position = appointment.latitude is not None and appointment.longitude is not None
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Event Commerce//Events//EN",
        "METHOD:PUBLISH",
        "BEGIN:VEVENT",
        f"UID:{_escape(appointment.uid)}",
        f"SEQUENCE:{appointment.sequence}",
        f"DTSTAMP:{_format_time(appointment.changed_at)}",
        f"DTSTART:{_format_time(appointment.starts_at)}",
        f"DTEND:{_format_time(appointment.ends_at)}",
        f"SUMMARY:{_escape(appointment.title)}",
        f"LOCATION:{_escape(appointment.place)}",
        *([f"GEO:{appointment.latitude:.6f};{appointment.longitude:.6f}"] if has_position else []),
        *([f"DESCRIPTION:{_escape(appointment.description)}"] if appointment.description else []),
        f"URL:{appointment.url}",
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return b"".join(_fold(line) for line in lines)


def _escape(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return _CONTROLS.sub("", _BREAKS.sub("\\\\n", escaped))


def _format_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _fold(line: str) -> bytes:
    """The line in parts of at most 75 bytes, none of which splits a character."""
    parts: list[bytes] = []
    part = b""
    for character in line:
        encoded = character.encode()
        # The parts after the first begin with a blank.
        if len(part) + len(encoded) > LINE_BYTES - bool(parts):
            parts.append(part)
            part = b""
        part += encoded
    return b"\r\n ".join([*parts, part]) + b"\r\n"
