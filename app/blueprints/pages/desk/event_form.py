"""The form with the facts of an event, for a new event and for changes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.blueprints.pages.forms import FilledForm, Form, Input
from app.events import countries
from app.events.queries import OwnEvent, get_version
from app.events.validation import CATEGORIES
from app.web.fields import Choice, EndTimeField, Text, TimeField, WholeNumber
from app.web.schema import Query
from app.web.text_fields import Name

DEFAULT_COUNTRY = "NA"
MAX_CAPACITY = 1_000_000_000
END_MESSAGE = "The end must be after the start."
OPTIONAL_FIELDS = ("category", "capacity", "description")


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
    version = WholeNumber(required=True)


INPUTS = (
    Input("name", "Name", messages={"required": "Enter the name of the event."}),
    Input(
        "startsAt",
        "Starts",
        hint="On the clock of the place.",
        type="datetime-local",
        messages={"required": "Enter when the event starts.", "contradiction": END_MESSAGE},
    ),
    Input(
        "endsAt",
        "Ends",
        type="datetime-local",
        messages={"required": "Enter when the event ends.", "contradiction": END_MESSAGE},
    ),
    Input("venue", "Venue", hint="For example: River grounds.", messages={"required": "Enter the venue."}),
    Input("city", "City", messages={"required": "Enter the city."}),
    Input("country", "Country", options=countries.list_countries(), messages={"required": "Choose a country."}),
    Input("category", "Category", options=[("", "None"), *((name, name.capitalize()) for name in CATEGORIES)]),
    Input(
        "capacity",
        "Capacity",
        hint="How many people may come in all. It limits all ticket types together.",
        inputmode="numeric",
        messages={"invalid_type": "Enter a whole number."},
        error_codes=("CAPACITY_COMMITTED",),
    ),
    Input("description", "Description", hint="Up to 2000 characters.", type="textarea"),
)
ZONE = Input("timezone", "Time zone", options=[(name, name.replace("_", " ")) for name in countries.list_zones()])
VERSION = Input("version", "", type="hidden")
NEW_EVENT = Form(NewEventSchema, *INPUTS)
EVENT_CHANGES = Form(EventChangesSchema, *INPUTS, ZONE, VERSION)


def fill_event_form(event: OwnEvent) -> FilledForm:
    """The form with the facts of an event, and its version."""
    return EVENT_CHANGES.fill(
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
        version=str(get_version(event)),
    )


def with_cleared_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the form for a change: a field that was left empty clears what was there."""
    return {**dict.fromkeys(OPTIONAL_FIELDS), **values}


def format_local_time(moment: datetime | None, zone: str) -> str:
    """The value of a field of the type `datetime-local`: the time on the clock of the zone."""
    if moment is None:
        return ""
    local_time = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return local_time.isoformat(timespec="seconds" if local_time.second else "minutes")
