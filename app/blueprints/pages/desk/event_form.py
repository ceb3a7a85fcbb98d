"""The form with the facts of an event, for a new event and for changes."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from marshmallow import ValidationError, validates_schema

from app.blueprints.pages.desk.event_words import CATEGORY_LABELS
from app.blueprints.pages.desk.form_parts import VERSION
from app.blueprints.pages.forms import FilledForm, Form, Input
from app.blueprints.pages.inputs import TypedHttpsLink
from app.core.clock import utcnow
from app.core.errors import AppError, ValidationFailed
from app.core.formatting import HOME, format_time
from app.core.languages import gettext, lazy_gettext, mark_for_translation
from app.events import countries
from app.events.queries import OwnEvent, get_version
from app.events.validation import CATEGORIES
from app.events.visibility import PUBLISHED, UNLISTED
from app.web.fields import Boolean, Choice, EndTimeField, Number, Text, TimeField, WholeNumber, field_error
from app.web.schema import Query, to_camel_case, to_snake_case
from app.web.text_fields import Name
from app.web.types import RawData

ENDS, MOVED = ("salesEndAt", "applicationsEndAt"), "moved_with_event"
MOVED_END = mark_for_translation(
    "%(time)s is after the end of the event now. We have moved it with the event: check it, and save again."
)
START_INSTEAD = mark_for_translation(
    "%(time)s is after the end of the event now, and moved with the event it would be over already. We propose the start "
    "of the event: check it, and save again."
)
NOTHING_INSTEAD = mark_for_translation(
    "%(time)s is after the end of the event now, and moved with the event it would be over already. The field is empty "
    "now, so the end of the event counts: check it, and save again."
)
DEFAULT_COUNTRY = "NA"
MAX_CAPACITY = 1_000_000_000
END_MESSAGE = lazy_gettext("The end must be after the start.")
POSITION_MESSAGE = lazy_gettext("Enter latitude and longitude, or neither of them.")
OPTIONAL_FIELDS = (
    "category",
    "capacity",
    "description",
    "sales_end_at",
    "applications_end_at",
    "publish_at",
    "tickets_url",
    "latitude",
    "longitude",
)
MAX_KEYWORDS, MAX_KEYWORD_LENGTH = 50, 80


class Keywords(Text):
    """Words with commas between them, as a list."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        words = [word.strip() for word in text.split(",") if word.strip()]
        if len(words) > MAX_KEYWORDS or any(len(word) > MAX_KEYWORD_LENGTH for word in words):
            raise field_error("too_long", "Too many keywords, or one of them is too long.")
        return words


class NewEventSchema(Query):
    name = Name(required=True, min=2, max=200)
    starts_at = TimeField(required=True)
    ends_at = EndTimeField(required=True)
    venue = Text(required=True, min=2, max=200)
    city = Text(required=True, min=2, max=120)
    country = Choice(*(code for code, _ in countries.list_countries()), required=True)
    category = Choice(*CATEGORIES)
    capacity = WholeNumber(min=0, max=MAX_CAPACITY)
    description = Text(max=2000)


class EventChangesSchema(NewEventSchema):
    timezone = Choice(*countries.list_zones(), required=True)
    sales_end_at = EndTimeField()
    applications_end_at = EndTimeField()
    publish_at = TimeField()
    tickets_url = TypedHttpsLink()
    keywords = Keywords(load_default=list)
    latitude = Number(min=-90, max=90)
    longitude = Number(min=-180, max=180)
    is_cashless = Boolean(load_default=False)
    version = WholeNumber(required=True)

    @validates_schema
    def check_position(self, values: dict[str, Any], **_: Any) -> None:
        for name, other in (("latitude", "longitude"), ("longitude", "latitude")):
            if name in values and other not in values:
                raise ValidationError({other: field_error("contradiction", str(POSITION_MESSAGE)).messages})


INPUTS = (
    Input("name", lazy_gettext("Name"), messages={"required": lazy_gettext("Enter the name of the event.")}),
    Input(
        "startsAt",
        lazy_gettext("Starts"),
        hint=lazy_gettext("On the clock of the place."),
        type="datetime-local",
        messages={"required": lazy_gettext("Enter when the event starts."), "contradiction": END_MESSAGE},
    ),
    Input(
        "endsAt",
        lazy_gettext("Ends"),
        type="datetime-local",
        messages={"required": lazy_gettext("Enter when the event ends."), "contradiction": END_MESSAGE},
    ),
    Input(
        "venue",
        lazy_gettext("Venue"),
        hint=lazy_gettext("For example: River grounds."),
        messages={"required": lazy_gettext("Enter the venue.")},
    ),
    Input("city", lazy_gettext("City"), messages={"required": lazy_gettext("Enter the city.")}),
    Input(
        "country",
        lazy_gettext("Country"),
        options=countries.list_countries(),
        messages={"required": lazy_gettext("Choose a country.")},
    ),
    Input(
        "category",
        lazy_gettext("Category"),
        options=[("", lazy_gettext("None")), *CATEGORY_LABELS.items()],
    ),
    Input(
        "capacity",
        lazy_gettext("Capacity"),
        hint=lazy_gettext(
            "How many tickets there may be of all types together. A ticket for several days counts once. If you sell a "
            "ticket for each day, add up the days."
        ),
        inputmode="numeric",
        messages={"invalid_type": lazy_gettext("Enter a whole number.")},
        error_codes=("CAPACITY_COMMITTED",),
    ),
    Input("description", lazy_gettext("Description"), hint=lazy_gettext("Up to 2000 characters."), type="textarea"),
)
ZONE = Input(
    "timezone", lazy_gettext("Time zone"), options=[(name, name.replace("_", " ")) for name in countries.list_zones()]
)
EXTRA_INPUTS = (
    Input(
        "publishAt",
        lazy_gettext("Publish at"),
        hint=lazy_gettext("The draft is published at this time. Empty: when you press Publish."),
        type="datetime-local",
        messages={
            "not_in_future": lazy_gettext("Choose a time in the future."),
            "contradiction": lazy_gettext("The event is public already."),
        },
        error_codes=("NOT_PUBLISHABLE", "EMAIL_NOT_VERIFIED"),
    ),
    Input(
        "salesEndAt",
        lazy_gettext("Sales end"),
        hint=lazy_gettext("Empty: when the event ends."),
        type="datetime-local",
        messages={"contradiction": lazy_gettext("Sales must end no later than the event.")},
    ),
    Input(
        "applicationsEndAt",
        lazy_gettext("Applications for stalls end"),
        hint=lazy_gettext("Empty: when the event ends. People whom you invite can answer later too."),
        type="datetime-local",
        messages={"contradiction": lazy_gettext("Applications must end no later than the event.")},
    ),
    Input(
        "ticketsUrl",
        lazy_gettext("Where people buy tickets"),
        hint=lazy_gettext("The page of your ticket seller. The button on the page of the event leads there."),
        type="url",
        inputmode="url",
        messages={"invalid_url": lazy_gettext("Enter a web address like https://example.com.")},
    ),
    Input(
        "keywords",
        lazy_gettext("Keywords"),
        hint=lazy_gettext("People find the event by them. Put commas between them."),
        messages={"too_long": lazy_gettext("Enter at most 50 keywords, each up to 80 characters long.")},
    ),
    Input(
        "latitude",
        lazy_gettext("Latitude"),
        hint=lazy_gettext("For the map, for example -22.5609. Empty: the map searches for the venue."),
        inputmode="decimal",
        messages={"contradiction": POSITION_MESSAGE},
    ),
    Input(
        "longitude",
        lazy_gettext("Longitude"),
        hint=lazy_gettext("For example 17.0658."),
        inputmode="decimal",
        messages={"contradiction": POSITION_MESSAGE},
    ),
    Input("isCashless", lazy_gettext("The event is cashless"), type="checkbox"),
)
PUBLISHED_AT = replace(EXTRA_INPUTS[0], type="hidden")
NEW_EVENT = Form(NewEventSchema, *INPUTS)
EVENT_CHANGES = Form(EventChangesSchema, *INPUTS, ZONE, *EXTRA_INPUTS, VERSION)
PUBLIC_EVENT_CHANGES = Form(EventChangesSchema, *INPUTS, ZONE, PUBLISHED_AT, *EXTRA_INPUTS[1:], VERSION)


def get_event_form(event: OwnEvent) -> Form:
    """The form of the facts; that of a public event does not ask when it is published."""
    return PUBLIC_EVENT_CHANGES if event.visibility in (PUBLISHED, UNLISTED) else EVENT_CHANGES


def fill_event_form(event: OwnEvent) -> FilledForm:
    """The form with the facts of an event, and its version."""
    return get_event_form(event).fill(
        name=event.name,
        startsAt=format_local_time(event.starts_at, event.timezone),
        endsAt=format_local_time(event.ends_at, event.timezone),
        venue=event.venue,
        city=event.city,
        country=event.country,
        category=event.category or "",
        capacity="" if event.capacity is None else str(event.capacity),
        description=event.description or "",
        timezone=event.timezone,
        publishAt=format_local_time(event.publish_at, event.timezone),
        salesEndAt=format_local_time(event.sales_end_at, event.timezone),
        applicationsEndAt=format_local_time(event.applications_end_at, event.timezone),
        ticketsUrl=event.tickets_url or "",
        keywords=", ".join(event.keywords),
        latitude="" if event.latitude is None else str(event.latitude),
        longitude="" if event.longitude is None else str(event.longitude),
        isCashless="true" if event.is_cashless else "",
        version=str(get_version(event)),
    )


def with_cleared_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the form for a change: a field that was left empty clears what was there."""
    return {**dict.fromkeys(OPTIONAL_FIELDS), **values}


def check_publish_time(event: OwnEvent, form: FilledForm) -> None:
    """Refuse another time of publishing for an event that is public. Raises ValidationFailed."""
    typed = form.values["publishAt"].strip()
    if event.visibility in (PUBLISHED, UNLISTED) and typed not in (
        "",
        format_local_time(event.publish_at, event.timezone),
    ):
        raise ValidationFailed.of("publishAt", "contradiction", "It is public already.")


def with_moved_ends(form: FilledForm, event: OwnEvent, error: AppError) -> FilledForm:
    """The form with its error. An end of sales or applications that is after the event now, because the event moves, has
    as its value the time as long before the start as it was, or the end of the event.

    A time that is over is not proposed, but the start of the event, or nothing if that is over too.
    """
    previous_values, values, problems = fill_event_form(event).values, dict(form.values), []
    for problem in error.data.get("errors", ()):
        name = to_camel_case(problem["path"])
        if problem["code"] == "contradiction" and name in ENDS and values[name] == previous_values[name]:
            typed = form.load()
            starts, ends = (typed[key].replace(tzinfo=None) for key in ("starts_at", "ends_at"))
            previous_start, previous_end = (datetime.fromisoformat(previous_values[key]) for key in ("startsAt", name))
            now = utcnow().astimezone(ZoneInfo(typed["timezone"])).replace(tzinfo=None)
            moved_end = _add_time(starts, previous_end - previous_start, ends)
            proposal = next((time for time in (moved_end, starts) if time > now), None)
            values[name] = _write_time(proposal) if proposal else ""
            text = MOVED_END if proposal == moved_end else START_INSTEAD if proposal else NOTHING_INSTEAD
            previous_time = format_time(getattr(event, to_snake_case(name)), event.timezone)
            problem = {**problem, "code": MOVED, "message": gettext(text, time=previous_time)}
        problems.append(problem)
    return replace(form, values=values).with_error(ValidationFailed(problems) if problems else error)


def _add_time(start: datetime, duration: timedelta, latest: datetime) -> datetime:
    """The time so long after the start, or the latest one if that is later, or after the last year."""
    try:
        return min(start + duration, latest)
    except OverflowError:
        return latest if duration > timedelta() else datetime.min


def describe_moved_times(form: FilledForm, zone: str) -> str:
    """What to say about times that no clock shows, because it goes forward then; such a time is stored as a later one."""
    texts = []
    for name, typed in form.load().items():
        if isinstance(typed, datetime) and typed.tzinfo is None:
            stored = typed.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
            clock_text = format_local_time(stored, zone)
            if datetime.fromisoformat(clock_text) != typed:
                label = form.form.inputs[to_camel_case(name)].label
                texts.append(
                    gettext(
                        "%(field)s: clocks go forward then and skip this time, so it is %(time)s.",
                        field=label,
                        time=clock_text[11:],
                    )
                )
    return " ".join(texts)


def format_local_time(moment: datetime | None, zone: str) -> str:
    """The value of a field of the type `datetime-local`: the time on the clock of the zone."""
    if moment is None:
        return ""
    return _write_time(moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None))


def _write_time(local_time: datetime) -> str:
    return local_time.isoformat(timespec="seconds" if local_time.second else "minutes")


def format_today(zone: str) -> str:
    """The value of a field of the type `date`: today in the zone, unless that is tomorrow for the service."""
    return min(utcnow().astimezone(ZoneInfo(name)).date() for name in (zone, HOME)).isoformat()
