"""SQL that logs and counts admissions, in the statement that admits.

The CTE `changed` of that statement has a row for each place: `id, event_id, place_kind, ticket_type_id, gate, occurred_at,
direction, is_reentry, remaining` (the columns of Admission; `id` is the place).
"""

from app.accounts.caller import Caller
from app.core.ids import new_id
from app.events.reentry import DAILY_REENTRY, entry_day_sql

ENTRY_ORDER = "a.occurred_at, a.nonce, a.position, a.id"
"""The order of the entries of a place: by the time of the scan, and the same however they arrived."""
STRIPES = 256
"""More than connections at once, so that two of them seldom have the same; only stripes that were used have rows."""
QUARTER = "date_bin('15 minutes', occurred_at, TIMESTAMPTZ '2000-01-01 00:00:00+00')"
LOGGED_DAY = entry_day_sql("a.occurred_at")
"""The day of an entry of the log, for the event `e`."""
INSERT_ADMISSIONS = f"""
    admission_rows AS (
        INSERT INTO admission
               (id, event_id, place_kind, place_id, ticket_type_id, scan_id, position, nonce, direction, is_reentry,
                remaining, gate, actor_kind, actor_id, actor_name, occurred_at, entry_day)
        SELECT (CAST(:admission_ids AS text[]))[c.number], c.event_id, c.place_kind, c.id, c.ticket_type_id,
               (CAST(:admission_ids AS text[]))[1], c.number - 1, :admission_nonce, c.direction, c.is_reentry,
               c.remaining, c.gate, :admission_actor_kind, :admission_actor_id, :admission_actor_name, c.occurred_at,
               CASE WHEN e.reentry = '{DAILY_REENTRY}' THEN {entry_day_sql("c.occurred_at")} END
          FROM (SELECT *, row_number() OVER (ORDER BY id) AS number FROM changed) c
          JOIN event e ON e.id = c.event_id)"""


def count_entries_sql(rows: str = "changed", *, sign: str = "+") -> str:
    """Return the CTE that adds the entries and exits in `rows` to the tallies, or takes them off with the sign "-".

    An undo counts in the stripe of its own connection, so one stripe may be negative; the sum is right.
    """
    return add_to_tallies_sql(
        rows,
        first_entries=f"{sign}count(*) FILTER (WHERE direction = 'in' AND NOT is_reentry)",
        entries=f"{sign}count(*) FILTER (WHERE direction = 'in')",
        exits=f"{sign}count(*) FILTER (WHERE direction = 'out')",
    )


def add_to_tallies_sql(rows: str, *, first_entries: str, entries: str, exits: str) -> str:
    """Return the CTE that adds these figures, which are SQL aggregates over `rows`, to the tallies."""
    return f"""
    admission_counts AS (
        INSERT INTO admission_tally AS t
               (ticket_type_id, event_id, gate, quarter, stripe, first_entries, entries, exits)
        SELECT ticket_type_id, event_id, coalesce(gate, ''), {QUARTER}, pg_backend_pid() % {STRIPES},
               {first_entries}, {entries}, {exits}
          FROM {rows} WHERE ticket_type_id IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
        ON CONFLICT ON CONSTRAINT pk_admission_tally DO UPDATE
           SET first_entries = t.first_entries + excluded.first_entries, entries = t.entries + excluded.entries,
               exits = t.exits + excluded.exits)"""


RECORD_ADMISSIONS = f"{INSERT_ADMISSIONS}, {count_entries_sql()}"
"""Logs and counts the rows of `changed`, with the parameters of `scan_params`."""


def scan_params(caller: Caller, places: int = 1, nonce: str | None = None) -> dict[str, object]:
    """Return the parameters of RECORD_ADMISSIONS for a scan of at most so many places, and the `admission_id` of the scan.

    The ids are an array as text: the driver takes long to turn a list into one.
    """
    ids = [new_id() for _ in range(places)]
    return {
        "admission_id": ids[0],
        "admission_ids": f"{{{','.join(ids)}}}",
        "admission_nonce": nonce,
        "admission_actor_kind": caller.kind,
        "admission_actor_id": caller.client_id,
        "admission_actor_name": caller.name,
    }
