"""Public reads of one event: its page and its ticket inventory. Each runs one or two statements on the driver."""

from app.core.db import fetch_rows
from app.core.errors import NotFound
from app.core.replica import may_be_stale
from app.events.public_json import JsonObject, serialize_public_event, serialize_ticket_inventory
from app.events.visibility import BY_ID

EVENT_PAGE = f"""
    SELECT e.id, e.name, e.description, coalesce(e.cover_image_url, ''), coalesce(e.poster_image_url, ''), e.venue,
           e.city, e.country, e.latitude, e.longitude, e.timezone, e.starts_at, e.ends_at, e.sales_end_at, e.category,
           e.keywords, e.is_cashless, e.allowed_payment_option_slugs, coalesce(o.org_name, a.name), e.bulk_discounts,
           e.payment_method_discounts, e.sponsors, e.stall_types, e.tables, e.lineup, e.promotion
      FROM event e JOIN account a ON a.id = e.organiser_id LEFT JOIN organiser_profile o ON o.account_id = a.id
     WHERE e.id = %s AND {BY_ID}
"""
EVENT_PAGE_TYPES = """
    SELECT t.id, t.name, t.description, t.price_minor, t.min_per_order, t.max_per_order,
           p.name, p.starts_at, p.ends_at, p.price_minor, p.quantity
      FROM ticket_type t LEFT JOIN price_phase p ON p.ticket_type_id = t.id
     WHERE t.event_id = %s ORDER BY t.position, t.id, p.position
"""
TICKET_INVENTORY = f"""
    SELECT coalesce(e.sales_end_at, e.ends_at), t.id, t.name, t.price_minor, t.total, t.sold, t.allocated, t.public,
           e.capacity, p.name, p.starts_at, p.ends_at, p.price_minor, p.quantity, now()
      FROM event e
      LEFT JOIN ticket_type t ON t.event_id = e.id
      LEFT JOIN price_phase p ON p.ticket_type_id = t.id
     WHERE e.id = %s AND {BY_ID} ORDER BY t.position, t.id, p.position
"""


@may_be_stale("events")
def load_public_event(id: str) -> JsonObject:
    """The public page of an event as JSON. Raises NotFound for an event that is not public."""
    rows = fetch_rows(EVENT_PAGE, (id,))
    if not rows:
        raise NotFound()
    return serialize_public_event(rows[0], fetch_rows(EVENT_PAGE_TYPES, (id,)))


@may_be_stale("events", "tickets")
def load_ticket_inventory(id: str) -> JsonObject:
    """The ticket inventory of an event as JSON, per ticket type. Raises NotFound for an event that is not public."""
    rows = fetch_rows(TICKET_INVENTORY, (id,))
    if not rows:
        raise NotFound()
    return serialize_ticket_inventory(id, rows)
