"""What helps guests to come to an event: when and where it is, a link to a map, and its entry in a calendar."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from app.core.formatting import format_period
from app.core.languages import gettext, lazy_gettext
from app.events.calendar_file import Appointment
from app.events.map_links import build_map_link
from app.events.models import Event
from app.events.reentry import COUNTED_REENTRY, DAILY_REENTRY, FREE_REENTRY, NO_REENTRY
from app.events.visibility import CANCELLED

ENTRY_RULES = {
    NO_REENTRY: lazy_gettext("The ticket admits once."),
    DAILY_REENTRY: lazy_gettext("The ticket admits once a day."),
    COUNTED_REENTRY: lazy_gettext("To come in again, have the ticket scanned at the exit when you leave."),
    FREE_REENTRY: lazy_gettext("You may come in again as often as you like."),
}


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
    reentry: str = NO_REENTRY

    @property
    def when(self) -> str:
        """Beginning and end in the time zone of the event, in the language in use."""
        return format_period(self.starts_at, self.ends_at, self.timezone)

    @property
    def entry_rule(self) -> str:
        """How often the ticket admits."""
        return str(ENTRY_RULES[self.reentry])

    @property
    def place(self) -> str:
        return ", ".join(part for part in (self.venue, self.city) if part)

    @property
    def map_url(self) -> str:
        """The address of a map: with a marker if the event has coordinates, else a search for venue and city."""
        return build_map_link(self.latitude, self.longitude, filter(None, (self.venue, self.city)))

    def build_appointment(self, *, organiser: str, contact: str) -> Appointment:
        """The event for the calendar of a guest, with the map and whom to ask."""
        questions = gettext("Questions? %(organiser)s, %(contact)s", organiser=organiser, contact=contact)
        return Appointment(
            event_id=self.event_id,
            sequence=self.event_version,
            changed_at=self.updated_at,
            starts_at=self.starts_at,
            ends_at=self.ends_at,
            title=self.event_name,
            place=self.place,
            description=f"{questions}\n{self.map_url}",
            latitude=self.latitude,
            longitude=self.longitude,
            is_cancelled=self.visibility == CANCELLED,
        )


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
    Event.reentry,
)
"""The fields of `Visit`."""


def build_visit(row: Row[*tuple[Any, ...]]) -> Visit:
    """Return the visit of a row that has VISIT_COLUMNS."""
    return Visit(**{field.name: getattr(row, field.name) for field in fields(Visit)})
