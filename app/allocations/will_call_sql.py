"""The SQL of the will-call list: conditions of the filters, a page of slots, and the count of all."""

from app.events.queries import OWNED_EVENT_DRIVER_SQL

MAY_ADMIT_SQL = OWNED_EVENT_DRIVER_SQL.replace("%(", "%(admission_")
FILTER_CONDITIONS = {
    "q": "AND s.search @@ CAST(%(q)s AS tsquery)",
    "q_without_code": f"""AND ({MAY_ADMIT_SQL} OR
        ts_delete(s.search, s.event_id || lower(coalesce(s.code, ''))) @@ CAST(%(q)s AS tsquery))""",
    "status": "AND s.status = %(status)s",
    "block_id": "AND s.block_id = %(block_id)s",
    "after": "AND (s.name_key, s.id) > (%(after_name)s, %(after_id)s)",
}
"""Conditions on the slot `s` of the event `e`, by the name of what they filter. With `q_without_code` a search by code
finds nothing for a caller who may not admit, so that the search does not tell them codes."""


def page_sql(filters: list[str], limit: int) -> str:
    """Return the SQL of a page of slots, with the names of block and ticket type.

    It gives one row of nulls if there is no slot, and no row if the caller may not read the event. The last column says
    whether the caller may admit guests of the event.
    """
    return f"""
        SELECT p.id, p.name, p.email, p.phone, p.code, p.status, p.delivery, p.party_id, p.party_size, p.version,
               p.claimed_at, p.admitted_at, p.gate, p.block_id, p.ticket_type_id, t.name, b.name, b.kind,
               b.holder_organisation, p.name_key, {MAY_ADMIT_SQL}
          FROM event e
          LEFT JOIN LATERAL (
               SELECT s.* FROM allocation_slot s
                WHERE s.event_id = %(event_id)s AND s.claimed_at IS NOT NULL AND s.ended_at IS NULL
                  {_conditions(filters)}
                ORDER BY s.name_key, s.id LIMIT {limit}) p ON true
          LEFT JOIN allocation_block b ON b.id = p.block_id AND b.event_id = p.event_id
          LEFT JOIN ticket_type t ON t.id = p.ticket_type_id AND t.event_id = p.event_id
         WHERE e.id = %(event_id)s AND {OWNED_EVENT_DRIVER_SQL}
         ORDER BY p.name_key, p.id"""


def count_sql(filters: list[str]) -> str:
    """Return the SQL that counts all slots of the list."""
    return f"""
        SELECT count(*) FROM event e JOIN allocation_slot s ON s.event_id = e.id
         WHERE e.id = %(event_id)s AND s.event_id = %(event_id)s AND s.claimed_at IS NOT NULL AND s.ended_at IS NULL
           {_conditions(filters)}"""


def _conditions(filters: list[str]) -> str:
    return " ".join(FILTER_CONDITIONS[name] for name in filters)
