"""Blocks with many slots, by SQL: what the benchmarks and the tests of query plans read."""

from __future__ import annotations

from typing import Any

import psycopg

from app.core.ids import new_id

FIRST = ["Frieda", "Petrus", "Zoë", "Tjizembua", "Johanna", "Elago", "Nangula", "Jan", "Maria", "Tuli", "Selma", "Eva"]
# Three letters more make ten names some thousands, as many as a real crowd has.
LAST = [
    "Amupolo",
    "Shilongo",
    "Großmann",
    "Kauaria",
    "Beukes",
    "Nghipandulwa",
    "Shikongo",
    "Nel",
    "Hamutenya",
    "Nangolo",
]
EVENT = """
    INSERT INTO event (id, organiser_id, name, venue, city, city_key, country, timezone, starts_at, ends_at, visibility,
                       search_text)
    VALUES (%(event)s, %(organiser)s, 'Gate', 'Ground', 'Windhoek', 'windhoek', 'NA', 'Africa/Windhoek',
            now() + interval '1 day', now() + interval '2 days', 'draft', '')
"""
TYPE = """
    INSERT INTO ticket_type (id, event_id, position, name, name_key, price_minor, total)
    VALUES (%(type)s, %(event)s, 0, 'Weekend pass', 'weekend pass', 85000, 1000000)
"""
BLOCK = """
    INSERT INTO allocation_block (id, event_id, ticket_type_id, kind, name, quantity, unit_price_minor, status, {state},
                                  open_generation, open_live)
    VALUES (%(block)s, %(event)s, %(type)s, 'sponsor', 'Gold', %(count)s, 0, 'open', %(count)s, 1, true)
"""
SLOTS = """
    INSERT INTO allocation_slot (id, block_id, event_id, ticket_type_id, status, via, code, name, email, delivery,
                                 given_at, claimed_at, party_id)
    SELECT %(prefix)s::text || lpad(to_hex(n), 12, '0'), %(block)s::text, %(event)s::text, %(type)s::text,
           %(state)s::text, CASE WHEN claimed THEN 'invite' END,
           CASE WHEN claimed THEN upper(translate(substr(md5(%(block)s::text || n), 1, 10), 'e', 'k')) END,
           CASE WHEN claimed THEN first || ' ' || last END,
           CASE WHEN claimed THEN lower('fan' || n || '.' || last || '@mail' || n %% 977 || '.example') END,
           CASE WHEN claimed THEN 'will_call' END, CASE WHEN claimed THEN now() END, CASE WHEN claimed THEN now() END,
           CASE WHEN claimed THEN %(prefix)s::text || lpad(to_hex(n), 12, '0') END
      FROM generate_series(1, %(count)s) n,
           LATERAL (SELECT %(state)s::text = 'claimed' AS claimed, (%(firsts)s::text[])[1 + n %% 12] AS first,
                           (%(lasts)s::text[])[1 + n / 12 %% 10]
                           || translate(substr(md5(n::text), 1, 3), '0123456789', 'ghijklmnop') AS last) AS person
    RETURNING id
"""
COUNTED = "UPDATE ticket_type SET {state} = {state} + %(count)s WHERE id = %(type)s"


def seed_event(connection: psycopg.Connection[Any], organiser: str) -> dict[str, Any]:
    """An event of that organiser with one ticket type. Commits."""
    made = {"event": new_id(), "type": new_id(), "organiser": organiser}
    connection.execute(EVENT, made)
    connection.execute(TYPE, made)
    connection.commit()
    return made


def seed_block(connection: psycopg.Connection[Any], made: dict[str, Any], state: str, count: int) -> dict[str, Any]:
    """A block of so many slots, all `available` or all `claimed` by people with names: its id, and theirs. Commits."""
    block = new_id()
    given = {
        **made,
        "block": block,
        "prefix": block[-12:],
        "state": state,
        "count": count,
        "firsts": FIRST,
        "lasts": LAST,
    }
    connection.execute(BLOCK.format(state=state), given)
    slots = [row[0] for row in connection.execute(SLOTS, given)]
    connection.execute(COUNTED.format(state=state), given)
    connection.commit()
    connection.autocommit = True
    connection.execute("VACUUM (ANALYZE) allocation_slot")
    connection.autocommit = False
    return {"block": block, "slots": slots}
