"""Demo events of two organisers, with tickets sold over the last weeks.

    seed(account_id, LIGHTS)

Seeding twice changes nothing: an event is recognised by its organiser and its name.
"""

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any

from sqlalchemy import select

from app.accounts.caller import Caller, build_caller
from app.accounts.models import Account
from app.core.clock import utcnow
from app.core.db import db
from app.events.actions import create_event
from app.events.actions.import_tickets import import_tickets
from app.events.models import Event
from app.events.ticket_files import SoldTicket
from app.events.ticket_import_result import ImportSource

NAMES = (
    "Frieda Amupolo",
    "Petrus Shilongo",
    "Zoë Großmann",
    "Tjizembua Kauaria",
    "Johanna Beukes",
    "Elago Nghipandulwa",
)
WINDHOEK = {"city": "Windhoek", "country": "NA", "latitude": -22.5609, "longitude": 17.0658}
SWAKOPMUND = {"city": "Swakopmund", "country": "NA", "latitude": -22.6784, "longitude": 14.5266}
DemoEvents = Sequence[Mapping[str, Any]]
"""Fields of an event; `days` until it starts and its `length` in days; `sold` tickets of a type; `hours` from the start
of the event to the beginning and the end of an act, or of the time in which a ticket type admits, whose day is in the
name of the type."""

LIGHTS: DemoEvents = (
    {
        **WINDHOEK,
        "name": "Windhoek Lights",
        "venue": "River grounds",
        "days": 20,
        "length": 3,
        "category": "music",
        "description": "Three nights of music and light by the river, with food from all over the country.",
        "capacity": 5000,
        "is_cashless": True,
        "keywords": ["kwaito", "reggae", "lights"],
        "visibility": "published",
        "ticket_types": [
            {
                "name": "Weekend pass",
                "price_minor": 85000,
                "quantity": 2000,
                "max_per_order": 10,
                "sold": 340,
                "phases": [{"name": "Early bird", "price_minor": 65000, "quantity": 300}],
            },
            {"name": "Day ticket %A", "price_minor": 45000, "quantity": 1500, "sold": 190, "hours": (23, 34)},
            {"name": "Camping add-on", "price_minor": 12000, "quantity": 120, "sold": 111},
        ],
        "promo_codes": [{"code": "STUDENT", "percentOff": 15, "maxUses": 200}],
        "bulk_discounts": [{"minQuantity": 10, "percentOff": 5}],
        "lineup": [
            {"name": "Ees", "stage": "River stage", "hours": (2, 3.5)},
            {"name": "Gazza", "stage": "River stage", "hours": (26, 27.5)},
            {"name": "Elemotho", "stage": "Camelthorn stage", "hours": (28, 30)},
            {"name": "Shishani", "stage": "Camelthorn stage", "hours": (51, 53)},
        ],
        "sponsors": [
            {"name": "Kalahari Coffee", "tier": "gold", "href": "https://kalahari-coffee.example"},
            {"name": "Namib Brews", "tier": "silver", "href": "https://namib-brews.example"},
            {"name": "Etosha Air", "tier": "silver"},
        ],
        "stall_types": [
            {"name": "Food stall", "feeMinor": 150000, "quantity": 40},
            {"name": "Craft stall", "feeMinor": 60000, "quantity": 30},
        ],
        "applications_end": timedelta(days=-7),
        "tables": [{"name": "Front row", "seats": 8, "priceMinor": 800000, "quantity": 10}],
    },
    {
        **WINDHOEK,
        "name": "Katutura Food Weekend",
        "venue": "Oshetu market",
        "days": -1,
        "length": 3,
        "category": "food",
        "description": "Kapana, fat cakes and oshikundu, all weekend long.",
        "visibility": "published",
        "ticket_types": [{"name": "Entry", "price_minor": 5000, "quantity": 800, "sold": 420}],
        "stall_types": [{"name": "Food stall", "feeMinor": 80000, "quantity": 12}],
    },
    {
        **WINDHOEK,
        "city": "Okahandja",
        "name": "Okahandja Night Market",
        "venue": "Show grounds",
        "days": -2,
        "length": 4,
        "category": "food",
        "description": "Food, crafts and music under the camelthorn trees.",
        "visibility": "published",
        "ticket_types": [
            {"name": "Adult", "price_minor": 6000, "quantity": 400, "sold": 260},
            {"name": "Child", "price_minor": 2000, "quantity": 200, "sold": 90},
        ],
        "stall_types": [
            {"name": "Food stall", "feeMinor": 90000, "quantity": 10},
            {"name": "Craft stall", "feeMinor": 40000, "quantity": 10},
        ],
    },
    {
        **WINDHOEK,
        "name": "Lights rehearsal",
        "venue": "River grounds",
        "days": 18,
        "length": 1,
        "capacity": 200,
        "category": "community",
        "visibility": "unlisted",
    },
    {
        **WINDHOEK,
        "name": "Windhoek Lights, winter edition",
        "venue": "River grounds",
        "days": 200,
        "length": 2,
        "category": "music",
        "capacity": 2500,
        "visibility": "draft",
    },
)
JAZZ: DemoEvents = (
    {
        **SWAKOPMUND,
        "name": "Swakop Jazz Days",
        "venue": "Old station hall",
        "days": 60,
        "length": 2,
        "category": "music",
        "keywords": ["jazz"],
        "visibility": "published",
        "is_cashless": False,
        "ticket_types": [{"name": "Both days", "price_minor": 60000, "quantity": 400, "sold": 75}],
        "lineup": [{"name": "Tate Buti"}, {"name": "Lize Ehlers"}],
    },
)


def seed(organiser_id: str, events: DemoEvents = LIGHTS) -> int:
    """Creates the events that this organiser does not have; returns how many."""
    known = set(db.session.scalars(select(Event.name).where(Event.organiser_id == organiser_id)))
    missing = [event for event in events if event["name"] not in known]
    for event in missing:
        _create(build_caller(db.session.get_one(Account, organiser_id)), dict(event))
    return len(missing)


def _create(caller: Caller, fields: dict[str, Any]) -> None:
    start = datetime.combine(utcnow().date() + timedelta(days=fields.pop("days")), time(17))
    end = start + timedelta(days=fields.pop("length") - 1, hours=6)
    if "applications_end" in fields:
        fields["applications_end_at"] = start + fields.pop("applications_end")
    fields["lineup"] = [_place_act(dict(act), start) for act in fields.get("lineup", [])]
    types = [_place_type(dict(type_), start) for type_ in fields.pop("ticket_types", [])]
    sold_counts = {type_["name"]: type_.pop("sold", 0) for type_ in types}
    event = create_event(caller=caller, starts_at=start, ends_at=end, ticket_types=types, **fields)
    prices = {type_["name"]: type_["price_minor"] for type_ in types}
    tickets = list(_generate_tickets(sold_counts, prices))
    if not tickets:
        return
    import_tickets(
        event_id=event.id,
        tickets=tickets,
        source=ImportSource("orders.csv", "own", hashlib.sha256(repr(tickets).encode()).hexdigest(), caller.name),
        create_types=False,
        allow_oversell=False,
        dry_run=False,
    )


def _place_act(act: dict[str, Any], start: datetime) -> dict[str, Any]:
    times = zip(("startsAt", "endsAt"), act.pop("hours", ()), strict=False)
    return {**act, **{name: start + timedelta(hours=hours) for name, hours in times}}


def _place_type(type_: dict[str, Any], start: datetime) -> dict[str, Any]:
    if "hours" in type_:
        type_["valid_from"], type_["valid_until"] = (start + timedelta(hours=hours) for hours in type_.pop("hours"))
        type_["name"] = type_["valid_from"].strftime(type_["name"])
    return type_


def _generate_tickets(counts: Mapping[str, int], prices: Mapping[str, int]) -> Iterator[SoldTicket]:
    """Tickets sold over the last three weeks, most of them recently."""
    random_numbers, row = random.Random(2026), 1
    for name, count in counts.items():
        for number in range(count):
            row += 1
            age = timedelta(days=21 * (1 - random_numbers.random() ** 0.5))
            buyer = random_numbers.choice(NAMES)
            email = f"fan{random_numbers.randrange(400)}@example.com"
            reference = f"DEMO-{name[:3].upper()}-{number + 1:04}"
            sold_at, order_number = utcnow() - age, f"D{row // 2:05}"
            yield SoldTicket(row, reference, name, buyer, email, prices[name], sold_at, "sold", order_number)
