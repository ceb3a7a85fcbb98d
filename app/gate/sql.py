"""The statement of a scan, for slots and imported tickets together.

It locks the place if the scan is allowed, changes it, and logs, counts and audits the admission. Without a row the scan
was refused; the reasons are read afterwards (`places`).
"""

from functools import cache

from sqlalchemy import TextClause, text

from app.admissions.kinds import IN
from app.admissions.sql import LOGGED_DAY, RECORD_ADMISSIONS
from app.allocations.sql import count_admissions_sql, insert_slot_events_sql
from app.audit.sql import insert_entries_sql
from app.events.queries import OWNED_EVENT_SQL
from app.events.reentry import entry_day_sql

BY_CODE, BY_ID, BY_PARTY = "code", "id", "party"
SCAN_TIME = "least(coalesce(CAST(:occurred_at AS timestamptz), now()), now())"
SLOT_CONDITIONS = {
    BY_CODE: "s.code = :slot_code",
    BY_ID: "s.id = :place_id",
    BY_PARTY: "s.id = ANY(CAST(:slot_ids AS text[]))",
}
TICKET_CONDITIONS = {
    BY_CODE: """t.secret = :secret AND NOT EXISTS (
               SELECT FROM allocation_slot s WHERE s.code = :slot_code AND s.event_id = :event_id)""",
    BY_ID: "t.id = :place_id",
    BY_PARTY: "false",
}
IS_SOLD = "t.status NOT IN ('cancelled', 'refunded')"
"""`t.status = 'sold'` would let PostgreSQL choose an index of sold tickets, and read all of the event."""
NOT_ENTERED_ON_DAY = f"""e.reentry = 'daily' AND (
               SELECT a.id FROM admission a
                WHERE a.event_id = {{place}}.event_id AND a.place_id = {{place}}.id AND a.direction = 'in'
                  AND a.undone_at IS NULL AND {LOGGED_DAY} = {entry_day_sql("{moment}")} LIMIT 1) IS NULL"""
"""Whether a ticket enters once a day, and nobody entered with the place on the day of a moment."""
MAY_ENTER_AGAIN = f"""(e.reentry = 'free' OR e.reentry = 'counted' AND {{place}}.left_at <= {SCAN_TIME}
               OR {NOT_ENTERED_ON_DAY.format(place="{place}", moment=SCAN_TIME)})"""
"""A scan that waits for another one does not see its entry: of two on one day `uq_admission_entry_day` refuses one."""
IS_INSIDE = f"""e.reentry = 'counted' AND {{place}}.admitted_at IS NOT NULL AND {{place}}.left_at IS NULL AND (
               SELECT a.id FROM admission a
                WHERE a.event_id = {{place}}.event_id AND a.place_id = {{place}}.id AND a.direction = 'in'
                  AND a.undone_at IS NULL AND a.occurred_at > {SCAN_TIME} LIMIT 1) IS NULL"""
"""Of a scan that arrives late, by the time of the scan: nobody leaves before their last entry.

PostgreSQL would make a join of NOT EXISTS, and may read all admissions of the event for it.
"""
TYPE_OF_PLACE = """JOIN LATERAL (
               SELECT y.name, y.valid_from, y.valid_until FROM ticket_type y
                WHERE y.id = {place}.ticket_type_id AND y.event_id = {place}.event_id OFFSET 0) y ON true"""
"""After the place: without statistics PostgreSQL would begin with the ticket types, and read all tickets of each."""
IS_OUTSIDE = f"""(o.status = 'claimed' OR o.status = 'admitted'
                     AND {NOT_ENTERED_ON_DAY.format(place="o", moment="{moment}")})"""
"""Of a place `o` of a party: whether somebody may still enter with it, where tickets enter once a day on that day."""
OUTSIDE_OF_PARTY = f"""
        CASE WHEN s.party_size > 1 THEN
            (SELECT count(*) FROM allocation_slot o
              WHERE o.party_id = s.party_id AND o.party_size > 1 AND o.event_id = s.event_id
                AND {IS_OUTSIDE.format(moment=SCAN_TIME)})
        ELSE 0 END"""


@cache
def scan_sql(key: str, direction: str) -> TextClause:
    """Return the statement that scans places by BY_CODE, BY_ID or BY_PARTY.

    Its parameters: `event_id, occurred_at, gate, actor, actor_id, verb`, those of the key, and those of
    `ownership_params`, `scan_params` and `entry_params`.
    """
    enters = direction == IN
    slot_rule = f"(s.status = 'claimed' OR s.status = 'admitted' AND {MAY_ENTER_AGAIN.format(place='s')})"
    ticket_rule = f"(t.admitted_at IS NULL OR {MAY_ENTER_AGAIN.format(place='t')})"
    if not enters:
        slot_rule, ticket_rule = (
            f"s.status = 'admitted' AND {IS_INSIDE.format(place='s')}",
            IS_INSIDE.format(place="t"),
        )
    audit = insert_entries_sql(
        "changed c",
        organisation_id="c.organiser_id",
        event_id="c.event_id",
        subject="c.id",
        data="jsonb_strip_nulls(jsonb_build_object('block', c.block_id, 'gate', c.gate, 'direction', c.direction))",
    )
    slot_log = f"""
    first_entries AS (
        SELECT *, 'claimed' AS old_status, 'admitted' AS new_status FROM changed_slots WHERE NOT is_reentry),
    {insert_slot_events_sql("first_entries")},
    {count_admissions_sql("first_entries", with_timezone=True)},"""
    return text(f"""
    WITH slots AS (
        SELECT s.id, s.event_id, e.organiser_id, e.timezone, s.status = 'admitted' AS is_reentry, e.reentry, y.name AS type_name, {SCAN_TIME} AS occurred_at,
               {OUTSIDE_OF_PARTY} AS outside
          FROM allocation_slot s
          JOIN event e ON e.id = s.event_id
          {TYPE_OF_PLACE.format(place="s")}
         WHERE {SLOT_CONDITIONS[key]} AND s.event_id = :event_id AND {OWNED_EVENT_SQL} AND {slot_rule}
           AND {_is_valid("y.valid_from", "y.valid_until")}
           FOR NO KEY UPDATE OF s),
    tickets AS (
        SELECT t.id, t.event_id, e.organiser_id, e.timezone, t.admitted_at IS NOT NULL AS is_reentry, e.reentry, y.name AS type_name,
               {SCAN_TIME} AS occurred_at
          FROM ticket t
          JOIN event e ON e.id = t.event_id
          {TYPE_OF_PLACE.format(place="t")}
         WHERE {TICKET_CONDITIONS[key]} AND t.event_id = :event_id AND {IS_SOLD} AND {OWNED_EVENT_SQL}
           AND {ticket_rule}
           AND {_is_valid("coalesce(t.valid_from, y.valid_from)", "coalesce(t.valid_until, y.valid_until)")}
           FOR NO KEY UPDATE OF t),
    changed_slots AS (
        UPDATE allocation_slot s
           SET {_SLOT_ENTRY if enters else "left_at = p.occurred_at"}, version = s.version + 1
          FROM slots p WHERE s.id = p.id AND s.event_id = p.event_id
        RETURNING s.id, s.event_id, 'allocation' AS place_kind, s.ticket_type_id, s.block_id, s.name,
                  CAST(:gate AS text) AS gate, p.occurred_at, '{direction}' AS direction,
                  {"p.is_reentry" if enters else "false"} AS is_reentry, p.reentry, p.outside, p.type_name, p.organiser_id, p.timezone),
    changed_tickets AS (
        UPDATE ticket t
           SET {_TICKET_ENTRY if enters else "left_at = p.occurred_at"}
          FROM tickets p WHERE t.id = p.id AND t.event_id = p.event_id
        RETURNING t.id, t.event_id, 'ticket' AS place_kind, t.ticket_type_id, NULL::text AS block_id, t.name,
                  CAST(:gate AS text) AS gate, p.occurred_at, '{direction}' AS direction,
                  {"p.is_reentry" if enters else "false"} AS is_reentry, p.reentry, 0 AS outside, p.type_name, p.organiser_id, p.timezone),
    changed AS (
        SELECT c.*, greatest(0, c.outside - count(*) FILTER (
                    WHERE c.place_kind = 'allocation' AND c.direction = 'in'
                      AND (NOT c.is_reentry OR c.reentry = 'daily')) OVER ()) AS remaining
          FROM (SELECT * FROM changed_slots UNION ALL SELECT * FROM changed_tickets) c),
    {slot_log if enters else ""}
    {RECORD_ADMISSIONS},
    audit AS ({audit})
    SELECT id, place_kind, name, ticket_type_id, type_name, is_reentry, remaining, occurred_at
      FROM changed ORDER BY id""")


_SLOT_ENTRY = """status = 'admitted', admitted_at = coalesce(s.admitted_at, p.occurred_at), left_at = NULL,
               admitted_by = CASE WHEN p.is_reentry THEN s.admitted_by ELSE :actor_id END,
               gate = CASE WHEN p.is_reentry THEN s.gate ELSE :gate END,
               nonce = CASE WHEN p.is_reentry THEN s.nonce ELSE :admission_nonce END"""
_TICKET_ENTRY = "admitted_at = coalesce(t.admitted_at, p.occurred_at), left_at = NULL"


def _is_valid(valid_from: str, valid_until: str) -> str:
    return f"coalesce({valid_from}, '-infinity') <= {SCAN_TIME} AND {SCAN_TIME} < coalesce({valid_until}, 'infinity')"
