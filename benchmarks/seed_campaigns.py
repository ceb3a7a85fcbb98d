"""A crowd that holds tickets, some of whom want no mail, by SQL."""

from __future__ import annotations

from typing import Any

import psycopg

from app.core.ids import new_id
from benchmarks.seed_allocations import seed_block, seed_event

TICKETS = """
    INSERT INTO ticket (id, event_id, ticket_type_id, reference, name, email, price_minor, sold_at, status)
    SELECT %(prefix)s::text || lpad(to_hex(n), 12, '0'), %(event)s, %(type)s, 'B-' || n, 'Frieda Amupolo ' || n,
           'holder' || n %% %(people)s || '@mail' || n %% 977 || '.example', 85000, now(), 'sold'
      FROM generate_series(1, %(count)s) n
"""
SOLD = "UPDATE ticket_type SET sold = sold + %(count)s WHERE id = %(type)s"
UNSUBSCRIBED = """
    INSERT INTO unsubscribe (id, address, organiser_id)
    SELECT %(prefix)s::text || lpad(to_hex(n), 12, '0'), 'holder' || n * 50 || '@mail' || n * 50 %% 977 || '.example',
           %(organiser)s
      FROM generate_series(1, %(count)s / 50) n ON CONFLICT DO NOTHING
"""
SUPPRESSED = """
    INSERT INTO suppression (channel, address, reason)
    SELECT 'email', 'holder' || n * 101 || '@mail' || n * 101 %% 977 || '.example', 'no such mailbox'
      FROM generate_series(1, %(count)s / 101) n ON CONFLICT DO NOTHING
"""
GROW = "VACUUM (ANALYZE) ticket, unsubscribe, suppression, account"


def seed_crowd(connection: psycopg.Connection[Any], organiser: str, count: int) -> dict[str, Any]:
    """An event for which so many people hold tickets, two thirds of them sold, the others claimed. Commits."""
    made = seed_event(connection, organiser)
    sold = count * 2 // 3
    given = {**made, "prefix": new_id()[-12:], "count": sold, "people": 10**9}
    for statement in (TICKETS, SOLD, UNSUBSCRIBED, SUPPRESSED):
        connection.execute(statement, given)
    seed_block(connection, made, "claimed", count - sold)
    connection.commit()
    connection.autocommit = True
    connection.execute(GROW)
    connection.autocommit = False
    return made
