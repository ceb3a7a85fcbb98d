"""The calendar of an application: when documents and the stall fee are due, and when their links end.

Everything is due at the end of a day in the event's time zone, or earlier when the event begins or ends. A link never
ends before the due time of its purpose, and never after the event. Pages, mails and the API take both times from here.

Both follow from the event's days, the decision, the chosen day and the time of the link alone. So an event that moves
and moves back leaves nothing behind (`app.applications.moved_events`).
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import func

from app.applications.states import ACTIVATION, DOCUMENTS, OFFER, PAYMENT
from app.core.formatting import HOME, format_day, format_time
from app.core.languages import gettext
from app.events.models import Event

TIME_TO_ACT = timedelta(days=14)
"""After the approval, and the least that a new link is valid for."""
TIME_TO_ACTIVATE = timedelta(days=7)
OFFER_TIME, LEAST_OFFER_TIME = timedelta(days=3), timedelta(hours=12)
LAST_OFFER_BEFORE_EVENT = timedelta(days=2)
SCHEDULE_GRACE = timedelta(days=7)
"""A payment link is valid for so long after the day that the applicant chose."""
LAST_CALL = timedelta(days=1)
"""An approval this close to the beginning of the event is due at its end."""
ONE_SECOND = timedelta(seconds=1)
REMINDER_HOUR = 9


@dataclass(frozen=True)
class EventCalendar:
    """The event's days and time zone, None without event, and the database's time."""

    starts_at: datetime | None
    ends_at: datetime | None
    timezone: str | None
    now: datetime


EVENT_CALENDAR_COLUMNS = (Event.starts_at, Event.ends_at, Event.timezone, func.now())
"""The fields of `EventCalendar`."""


@dataclass(frozen=True)
class Deadline:
    """When something is due, and when the link for it ends."""

    purpose: str
    due_at: datetime | None
    link_end: datetime
    calendar: EventCalendar

    def __str__(self) -> str:
        """The deadline in one sentence, in the language in use."""
        timezone = self.calendar.timezone
        end = format_deadline(self.link_end, timezone)
        due = end if self.due_at is None else format_deadline(self.due_at, timezone)
        if self.purpose == OFFER:
            return gettext("Answer by %(end)s.", end=end)
        if self.purpose not in (DOCUMENTS, PAYMENT) or self.due_at is None:
            return gettext("The link works until %(end)s.", end=end)
        is_payment = self.purpose == PAYMENT
        if self.due_at < self.calendar.now:
            if is_payment:
                return gettext("The fee was due by %(due)s; the link works until %(end)s.", due=due, end=end)
            return gettext("The documents were due by %(due)s; the link works until %(end)s.", due=due, end=end)
        if due == end:
            if is_payment:
                return gettext("Pay by %(due)s; the link works until then.", due=due)
            return gettext("Send the documents by %(due)s; the link works until then.", due=due)
        if is_payment:
            return gettext("Pay by %(due)s; the link works until %(end)s.", due=due, end=end)
        return gettext("Send the documents by %(due)s; the link works until %(end)s.", due=due, end=end)


def calculate_due_at(
    purpose: str, calendar: EventCalendar, *, decided_at: datetime | None, scheduled_for: datetime | None
) -> datetime | None:
    """When documents or the fee are due: two weeks after the approval, and before the event begins.

    A fee that the applicant pays on a chosen day is due at the end of that day; if the event has moved to before that
    day, when the event begins. None for an activation, and before the approval.
    """
    if purpose in (ACTIVATION, OFFER):
        return None
    is_early = calendar.starts_at is not None and (decided_at is None or calendar.starts_at - decided_at >= LAST_CALL)
    last_time = calendar.starts_at if is_early else calendar.ends_at
    if purpose == PAYMENT and scheduled_for is not None:
        end_of_chosen_day = end_of_day(scheduled_for, calendar.timezone)
        if decided_at is None or end_of_chosen_day > decided_at:
            return last_time if is_after_event(scheduled_for, calendar) else _cap(end_of_chosen_day, calendar.ends_at)
    if decided_at is None:
        return None
    return _cap(end_of_day(decided_at + TIME_TO_ACT, calendar.timezone), last_time)


def calculate_link_end(
    purpose: str, calendar: EventCalendar, *, decided_at: datetime | None, scheduled_for: datetime | None
) -> datetime:
    """When a link that is made now ends: not before its purpose is due, and not after the event.

    For a link that was made earlier, `calendar.now` is that time.
    """
    if purpose == ACTIVATION:
        return _cap(calendar.now + TIME_TO_ACTIVATE, calendar.ends_at)
    if purpose == OFFER:
        return _cap(end_of_day(calendar.now + OFFER_TIME, calendar.timezone), _get_last_offer_time(calendar))
    times = [calendar.now + TIME_TO_ACT]
    due_at = calculate_due_at(purpose, calendar, decided_at=decided_at, scheduled_for=scheduled_for)
    if due_at is not None:
        times.append(due_at)
    if purpose == PAYMENT and scheduled_for is not None:
        times.append(scheduled_for + SCHEDULE_GRACE)
    return _cap(end_of_day(max(times), calendar.timezone), calendar.ends_at)


def calculate_offer_end(calendar: EventCalendar) -> datetime | None:
    """Until when an offer of a place can be answered: for three days, and until two days before the event.

    None if that is too soon.
    """
    offer_end = calculate_link_end(OFFER, calendar, decided_at=None, scheduled_for=None)
    return offer_end if offer_end - calendar.now >= LEAST_OFFER_TIME else None


def build_deadline(
    purpose: str,
    link_end: datetime,
    calendar: EventCalendar,
    *,
    decided_at: datetime | None,
    scheduled_for: datetime | None,
) -> Deadline:
    """The deadline of a link as people see it; the event may have moved since the link was made."""
    due_at = calculate_due_at(purpose, calendar, decided_at=decided_at, scheduled_for=scheduled_for)
    last_time = _get_last_offer_time(calendar) if purpose == OFFER else calendar.ends_at
    return Deadline(purpose, due_at, _cap(link_end, last_time), calendar)


def is_after_event(scheduled_for: datetime, calendar: EventCalendar) -> bool:
    """Whether the event is over on the day that the applicant chose, because it has moved since."""
    zone = ZoneInfo(calendar.timezone or HOME)
    return (
        calendar.ends_at is not None
        and scheduled_for.astimezone(zone).date() > calendar.ends_at.astimezone(zone).date()
    )


def find_last_day(calendar: EventCalendar) -> date:
    """The last day of the event, or today after it: documents must be valid then."""
    last_time = calendar.now if calendar.ends_at is None else max(calendar.now, calendar.ends_at)
    return last_time.astimezone(ZoneInfo(calendar.timezone or HOME)).date()


def end_of_day(moment: datetime, zone: str | None) -> datetime:
    """The last second of the moment's day in the time zone."""
    timezone = ZoneInfo(zone or HOME)
    next_day = moment.astimezone(timezone).date() + timedelta(days=1)
    return datetime(next_day.year, next_day.month, next_day.day, tzinfo=timezone).astimezone(UTC) - ONE_SECOND


def format_deadline(moment: datetime, zone: str | None) -> str:
    """The day if the moment is its end, else day and time."""
    return format_day(moment, zone) if moment == end_of_day(moment, zone) else format_time(moment, zone)


def calculate_reminder_at(due_at: datetime, days: int, zone: str | None) -> datetime:
    """Nine o'clock in the time zone, so many days before the day on which something is due."""
    timezone = ZoneInfo(zone or HOME)
    day = due_at.astimezone(timezone).date() - timedelta(days=days)
    return datetime(day.year, day.month, day.day, REMINDER_HOUR, tzinfo=timezone).astimezone(UTC)


def _get_last_offer_time(calendar: EventCalendar) -> datetime | None:
    return None if calendar.starts_at is None else calendar.starts_at - LAST_OFFER_BEFORE_EVENT


def _cap(moment: datetime, last_time: datetime | None) -> datetime:
    return moment if last_time is None else min(moment, last_time)
