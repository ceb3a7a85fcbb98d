"""The SQL of the public reads of one event, and of looking for a free slug."""

from sqlalchemy import text

from app.events.visibility import BY_ID

_TIME = """to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""

EVENT_PAGE = f"""
    SELECT e.id, e.name, e.description, coalesce(e.cover_image_url, ''), coalesce(e.poster_image_url, ''), e.venue,
           e.city, e.country, e.latitude, e.longitude, e.timezone, e.starts_at, e.ends_at, e.sales_end_at,
           e.applications_end_at, e.category, e.keywords, e.is_cashless, e.allowed_payment_option_slugs,
           coalesce(o.org_name, a.name), e.bulk_discounts,
           e.payment_method_discounts, e.sponsors, e.stall_types, e.tables, e.lineup, e.promotion, e.slug, e.tickets_url,
           (SELECT json_agg(json_build_array(
                       t.id, t.name, t.description, t.price_minor, t.min_per_order, t.max_per_order,
                       {_TIME.format(column="t.valid_from")}, {_TIME.format(column="t.valid_until")},
                       (SELECT json_agg(json_build_array(
                                   p.name, {_TIME.format(column="p.starts_at")}, {_TIME.format(column="p.ends_at")},
                                   p.price_minor, p.quantity) ORDER BY p.position)
                          FROM price_phase p WHERE p.ticket_type_id = t.id AND p.event_id = t.event_id)
                   ) ORDER BY t.position, t.id)
              FROM ticket_type t WHERE t.event_id = e.id)
      FROM event e JOIN account a ON a.id = e.organiser_id LEFT JOIN organiser_profile o ON o.account_id = a.id
     WHERE e.id = %s AND {BY_ID}
"""
"""The columns of an event's page, and its ticket types as JSON lists, each with the lists of its phases; null for none."""

TICKET_INVENTORY = f"""
    SELECT coalesce(e.sales_end_at, e.ends_at), t.id, t.name, t.price_minor, t.total, t.sold, t.allocated, t.public,
           e.capacity, p.name, p.starts_at, p.ends_at, p.price_minor, p.quantity, now()
      FROM event e
      LEFT JOIN ticket_type t ON t.event_id = e.id
      LEFT JOIN price_phase p ON p.ticket_type_id = t.id AND p.event_id = t.event_id
     WHERE e.id = %s AND {BY_ID} ORDER BY t.position, t.id, p.position
"""

FORGET_ENTRY_DAYS = text("UPDATE admission SET entry_day = NULL WHERE event_id = :event AND entry_day IS NOT NULL")
"""The days of entries are those of the timezone that the event had."""
IS_SLUG_TAKEN = text("SELECT EXISTS (SELECT FROM event WHERE slug = :slug)")
LIST_NUMBERED_SLUGS = text(r"""
    SELECT slug FROM event WHERE slug >= :slug || '-' AND slug < :slug || '.' AND slug ~ ('^' || :slug || '-[0-9]+$')
""")
"""The slugs that are this one and a number. In the collation C the full stop is the character after the hyphen."""
