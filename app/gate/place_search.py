"""The search for guests by name at the gate, over slots and imported tickets."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.accounts.caller import Caller
from app.admissions.kinds import ALLOCATION, TICKET
from app.allocations.will_call import build_tsquery
from app.core.db import fetch_rows
from app.gate.places import find_event

LIMIT = 50
SEARCH = text(f"""
    SELECT p.id, p.kind, p.name, p.email, y.name, p.status, p.party_size, p.admitted_at, p.left_at
      FROM (
        SELECT s.id, '{ALLOCATION}' AS kind, s.event_id, s.ticket_type_id, s.name, s.email, s.status, s.party_size,
               s.admitted_at, s.left_at
          FROM allocation_slot s
         WHERE s.event_id = :event_id AND s.claimed_at IS NOT NULL AND s.ended_at IS NULL
           AND s.search @@ CAST(:words AS tsquery)
        UNION ALL
        SELECT t.id, '{TICKET}', t.event_id, t.ticket_type_id, t.name, t.email,
               CASE WHEN t.admitted_at IS NULL THEN t.status ELSE 'admitted' END, 1, t.admitted_at, t.left_at
          FROM ticket t
         WHERE t.event_id = :event_id AND t.status = 'sold' AND t.search @@ CAST(:words AS tsquery)) p
      JOIN ticket_type y ON y.id = p.ticket_type_id AND y.event_id = p.event_id
     ORDER BY lower(p.name), p.id LIMIT {LIMIT}""")


class PlaceMatch(NamedTuple):
    """A place whose guest can be admitted, or was."""

    id: str
    kind: str
    name: str | None
    email: str | None
    ticket_type: str
    status: str
    party_size: int
    admitted_at: datetime | None
    left_at: datetime | None


def search_places(caller: Caller, event_id: str, q: str) -> list[PlaceMatch]:
    """Return the first 50 claimed slots and sold tickets that match every word of `q`, by name. Raises NotFound.

    Each word is the beginning of a word of the name, of the email address, or of the code or reference.
    """
    event = find_event(caller, event_id)
    params = {"event_id": event.id, "words": build_tsquery(q, event.id)}
    return [PlaceMatch(*row) for row in fetch_rows(SEARCH, params, prepare=False)]
