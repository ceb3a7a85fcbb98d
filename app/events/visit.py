"""What helps guests to come to an event: when and where it is, a link to a map, and its entry in a calendar."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from app.core.formatting import format_period, format_time
from app.core.languages import gettext, lazy_gettext
from app.events.calendar_file import Appointment
from app.events.map_links import build_map_link
from app.events.models import Event, TicketType
from app.events.reentry import (
    COUNTED_REENTRY,
    DAILY_REENTRY,
    FREE_REENTRY,
    NO_REENTRY,
    get_entry_day,
    get_last_entry_day,
)
from app.events.visibility import CANCELLED

ENTRY_RULES = {
    NO_REENTRY: lazy_gettext("The ticket admits once."),
    DAILY_REENTRY: lazy_gettext("The ticket admits once a day."),
    COUNTED_REENTRY: lazy_gettext("To come in again, have the ticket scanned at the exit when you leave."),
    FREE_REENTRY: lazy_gettext("You may come in again as often as you like."),
}


@dataclass(frozen=True, kw_only=True)
class Visit:
    """An event as the guests with a ticket of one type need it.

    `event_version` and `updated_at` are those of the event's row. The gate admits the ticket from `valid_from` until
    `valid_until`; without them while the event lasts.
    """

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
    ticket_type_id: str = ""
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    @property
    def when(self) -> str:
        """When the ticket is admitted, in the time zone of the event and the language in use."""
        validity = format_validity(self.valid_from, self.valid_until, self.timezone)
        return validity or format_period(self.starts_at, self.ends_at, self.timezone)

    @property
    def is_cancelled(self) -> bool:
        return self.visibility == CANCELLED

    @property
    def entry_rule(self) -> str:
        """How often the ticket admits. A ticket that enters once a day, and is valid on one day only, admits once."""
        is_daily_once = self.reentry == DAILY_REENTRY and self._is_valid_on_one_day
        return str(ENTRY_RULES[NO_REENTRY if is_daily_once else self.reentry])

    @property
    def _is_valid_on_one_day(self) -> bool:
        if self.valid_from is None:
            return False
        last_day = get_last_entry_day(self.valid_until or self.ends_at, self.timezone)
        return last_day <= get_entry_day(self.valid_from, self.timezone)

    @property
    def place(self) -> str:
        return ", ".join(part for part in (self.venue, self.city) if part)

    @property
    def map_url(self) -> str:
        """The address of a map: with a marker if the event has coordinates, else a search for venue and city."""
        return build_map_link(self.latitude, self.longitude, filter(None, (self.venue, self.city)))

    def build_appointment(self, *, organiser: str, contact: str) -> Appointment:
        """The event for the calendar of a guest, at the times of their ticket, with the map and whom to ask."""
        questions = gettext("Questions? %(organiser)s, %(contact)s", organiser=organiser, contact=contact)
        return Appointment(
            event_id=self.event_id,
            ticket_type_id=self.ticket_type_id if self.valid_from or self.valid_until else "",
            sequence=self.event_version,
            changed_at=self.updated_at,
            starts_at=self.valid_from or min(self.starts_at, self.valid_until or self.starts_at),
            ends_at=self.valid_until or max(self.ends_at, self.valid_from or self.ends_at),
            title=self.event_name,
            place=self.place,
            description=f"{questions}\n{self.map_url}",
            latitude=self.latitude,
            longitude=self.longitude,
            is_cancelled=self.is_cancelled,
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
    TicketType.id.label("ticket_type_id"),
    TicketType.valid_from,
    TicketType.valid_until,
)
"""The fields of `Visit`, of a query that joins the event and the ticket type."""


def build_visit(row: Row[*tuple[Any, ...]]) -> Visit:
    """Return the visit of a row that has VISIT_COLUMNS."""
    return Visit(**{field.name: getattr(row, field.name) for field in fields(Visit)})


def format_validity(valid_from: datetime | None, valid_until: datetime | None, zone: str) -> str:
    """Return when the gate admits tickets of a type, in the language in use; empty if the type has no times of its own."""
    if valid_from and valid_until:
        return gettext("Valid %(time)s", time=format_period(valid_from, valid_until, zone))
    if valid_from:
        return gettext("Valid from %(time)s", time=format_time(valid_from, zone))
    return gettext("Valid until %(time)s", time=format_time(valid_until, zone)) if valid_until else ""
