"""The public reads of one event, and the ready JSON of all public reads of events.

Each read runs one statement on the driver, and rows become the response without a schema. This is the only module
of events that knows the names of the API's fields. The keys are allow-lists.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from app.core.clock import rfc3339
from app.core.db import fetch_rows
from app.core.errors import NotFound
from app.core.replica import may_be_stale
from app.events.capacity import CapacityUse
from app.events.sql import EVENT_PAGE, TICKET_INVENTORY
from app.events.ticket_types import current_phase, sale_status

JsonObject = dict[str, object]
Row = tuple[Any, ...]
SUMMARY_KEYS = ("id", "name", "city", "venue", "startsAt", "coverImageUrl", "isCashless")
PAGE_KEYS = (
    "id",
    "name",
    "description",
    "coverImageUrl",
    "posterImageUrl",
    "venue",
    "city",
    "country",
    "latitude",
    "longitude",
    "timezone",
    "startsAt",
    "endsAt",
    "salesEndAt",
    "applicationsEndAt",
    "category",
    "keywords",
    "isCashless",
    "allowedPaymentOptionSlugs",
    "organiserName",
    "bulkDiscounts",
    "paymentMethodDiscounts",
    "sponsors",
    "stallTypes",
    "tables",
    "lineup",
    "promotion",
    "slug",
    "ticketsUrl",
)
TYPE_KEYS = ("id", "name", "description", "priceMinor", "minPerOrder", "maxPerOrder", "validFrom", "validUntil")
PHASE_KEYS = ("name", "startsAt", "endsAt", "priceMinor", "quantity")


class PhaseRow(NamedTuple):
    """A price phase as it comes from the database."""

    name: str
    starts_at: datetime | None
    ends_at: datetime | None
    price_minor: int
    quantity: int | None


class InventoryTypeRow(NamedTuple):
    """A ticket type with what it needs of its event, in the order of TICKET_INVENTORY."""

    sales_end_at: datetime
    id: str
    name: str
    price_minor: int
    total: int
    sold: int
    allocated: int
    public: int
    capacity: int | None


def serialize_summary(row: Row) -> JsonObject:
    """An event of a discovery page, from the first columns of its row."""
    return dict(zip(SUMMARY_KEYS, row, strict=False))


def serialize_public_event(row: Row) -> JsonObject:
    """The public page of an event, from a row of EVENT_PAGE."""
    *columns, types = row
    return {
        **{
            key: _format_time(value) if isinstance(value, datetime) else value
            for key, value in zip(PAGE_KEYS, columns, strict=True)
        },
        "currency": "NAD",
        "ticketTypes": [
            {
                **dict(zip(TYPE_KEYS, type_columns, strict=True)),
                "phases": [dict(zip(PHASE_KEYS, phase, strict=True)) for phase in phases or ()],
            }
            for *type_columns, phases in types or ()
        ],
    }


def serialize_ticket_inventory(event_id: str, rows: Sequence[Row]) -> JsonObject:
    """The ticket inventory of an event, from all its rows of TICKET_INVENTORY."""
    width = len(InventoryTypeRow._fields)
    types = [
        (InventoryTypeRow(*type_row), [PhaseRow(*row[width:-1]) for row in phase_rows if row[width] is not None])
        for type_row, phase_rows in groupby(rows, key=lambda row: row[:width])
        if type_row[1] is not None
    ]
    use = CapacityUse(rows[0][8], sum(row.sold for row, _ in types), sum(row.allocated for row, _ in types))
    return {
        "eventId": event_id,
        "currency": "NAD",
        "salesEndAt": _format_time(rows[0][0]),
        "ticketTypes": [_serialize_type(row, phases, use, now=rows[0][-1]) for row, phases in types],
    }


def _serialize_type(row: InventoryTypeRow, phases: Sequence[PhaseRow], use: CapacityUse, now: datetime) -> JsonObject:
    available = use.available(row.public)
    places = row.total if row.capacity is None else min(row.total, row.capacity)
    phase = current_phase(phases, sold=row.sold, now=now)
    return {
        "id": row.id,
        "name": row.name,
        "phase": phase.name if phase else None,
        "phaseEndsAt": _format_time(phase.ends_at) if phase else None,
        "priceMinor": phase.price_minor if phase else row.price_minor,
        "total": row.total,
        "sold": row.sold,
        "allocated": row.allocated,
        "available": available,
        "status": sale_status(phases, public=available, total=places, sales_end_at=row.sales_end_at, now=now),
    }


def _format_time(time: datetime | None) -> str | None:
    return None if time is None else rfc3339(time)


@may_be_stale("events")
def load_public_event(id: str) -> JsonObject:
    """The public page of an event as JSON. Raises NotFound for an event that is not public."""
    rows = fetch_rows(EVENT_PAGE, (id,))
    if not rows:
        raise NotFound()
    return serialize_public_event(rows[0])


@may_be_stale("events", "tickets")
def load_ticket_inventory(id: str) -> JsonObject:
    """The ticket inventory of an event as JSON, per ticket type. Raises NotFound for an event that is not public."""
    rows = fetch_rows(TICKET_INVENTORY, (id,))
    if not rows:
        raise NotFound()
    return serialize_ticket_inventory(id, rows)
