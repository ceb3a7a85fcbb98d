"""What the public reads of one event: its page, and what tickets there still are. Allow-lists, by hand.

Each is one statement run by the driver; what comes out is what goes out.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from app.core.clock import rfc3339
from app.core.db import fetch_rows
from app.core.errors import NotFound
from app.core.replica_routing import may_be_stale
from app.events.capacity import CapacityUse
from app.events.pricing import current_phase, sale_status
from app.events.visibility import BY_ID

PAGE = f"""
    SELECT e.id, e.name, e.description, coalesce(e.cover_image_url, ''), coalesce(e.poster_image_url, ''), e.venue,
           e.city, e.country, e.latitude, e.longitude, e.timezone, e.starts_at, e.ends_at, e.sales_end_at, e.category,
           e.keywords, e.is_cashless, e.allowed_payment_option_slugs, coalesce(o.org_name, a.name), e.bulk_discounts,
           e.payment_method_discounts, e.sponsors, e.stall_types, e.tables, e.lineup, e.promotion
      FROM event e JOIN account a ON a.id = e.organiser_id LEFT JOIN organiser_profile o ON o.account_id = a.id
     WHERE e.id = %s AND {BY_ID}
"""
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
)
TYPES = """
    SELECT t.id, t.name, t.description, t.price_minor, t.min_per_order, t.max_per_order,
           p.name, p.starts_at, p.ends_at, p.price_minor, p.quantity
      FROM ticket_type t LEFT JOIN price_phase p ON p.ticket_type_id = t.id
     WHERE t.event_id = %s ORDER BY t.position, t.id, p.position
"""
TYPE_KEYS = ("id", "name", "description", "priceMinor", "minPerOrder", "maxPerOrder")
PHASE_KEYS = ("name", "startsAt", "endsAt", "priceMinor", "quantity")
INVENTORY = f"""
    SELECT coalesce(e.sales_end_at, e.ends_at), t.id, t.name, t.price_minor, t.total, t.sold, t.allocated, t.public,
           e.capacity, p.name, p.starts_at, p.ends_at, p.price_minor, p.quantity, now()
      FROM event e
      LEFT JOIN ticket_type t ON t.event_id = e.id
      LEFT JOIN price_phase p ON p.ticket_type_id = t.id
     WHERE e.id = %s AND {BY_ID} ORDER BY t.position, t.id, p.position
"""


class Phase(NamedTuple):
    """A price phase as it comes from the database."""

    name: str
    starts_at: datetime | None
    ends_at: datetime | None
    price_minor: int
    quantity: int | None


@may_be_stale("events")
def load_public_event(id: str) -> dict[str, Any]:
    """An event's public page. Raises NotFound for what the public may not see."""
    rows = fetch_rows(PAGE, (id,))
    if not rows:
        raise NotFound()
    types = groupby(fetch_rows(TYPES, (id,)), key=lambda row: row[:6])
    return {
        **_serialize_columns(PAGE_KEYS, rows[0]),
        "currency": "NAD",
        "ticketTypes": [
            {
                **_serialize_columns(TYPE_KEYS, head),
                "phases": [_serialize_columns(PHASE_KEYS, item[6:]) for item in rest if item[6] is not None],
            }
            for head, rest in types
        ],
    }


@may_be_stale("events", "tickets")
def load_ticket_inventory(id: str) -> dict[str, Any]:
    """What tickets there are, per type. Raises NotFound for what the public may not see."""
    rows = fetch_rows(INVENTORY, (id,))
    if not rows:
        raise NotFound()
    now = rows[0][14]
    types = [(head, list(rest)) for head, rest in groupby(rows, key=lambda row: row[:9]) if head[1] is not None]
    use = CapacityUse(rows[0][8], sum(head[5] for head, _ in types), sum(head[6] for head, _ in types))
    return {
        "eventId": id,
        "currency": "NAD",
        "salesEndAt": _format_time(rows[0][0]),
        "ticketTypes": [
            _serialize_type(head, [Phase(*item[9:14]) for item in rest if item[9] is not None], use, now)
            for head, rest in types
        ],
    }


def _serialize_type(row: tuple[Any, ...], phases: Sequence[Phase], use: CapacityUse, now: datetime) -> dict[str, Any]:
    sales_end_at, id, name, price_minor, total, sold, allocated, public, capacity = row
    available = use.available(public)
    places = total if capacity is None else min(total, capacity)
    phase = current_phase(phases, sold=sold, now=now)
    return {
        "id": id,
        "name": name,
        "phase": phase.name if phase else None,
        "phaseEndsAt": _format_time(phase.ends_at) if phase else None,
        "priceMinor": phase.price_minor if phase else price_minor,
        "total": total,
        "sold": sold,
        "allocated": allocated,
        "available": available,
        "status": sale_status(phases, public=available, total=places, sales_end_at=sales_end_at, now=now),
    }


def _serialize_columns(keys: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {
        name: _format_time(value) if isinstance(value, datetime) else value
        for name, value in zip(keys, row, strict=True)
    }


def _format_time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)
