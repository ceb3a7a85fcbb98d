"""Finding people of an event to write to: holders of tickets and those who take part, nobody else.

Holders come from indexes of words, the participants of one event are few. `id` is that of the ticket, or of a merchant
who takes part: both name the person in `userIds`. Whether a holder has an account is not told.
"""

from typing import Any

from sqlalchemy import text

from app.accounts.caller import Caller
from app.allocations.models import CLAIMED_SLOT_CONDITION
from app.allocations.will_call import build_tsquery
from app.campaigns.audience import EVENT
from app.core.addresses import mask_email
from app.core.db import fetch_rows
from app.core.errors import NotFound
from app.events.queries import READS

MOST, AMONG = 20, 200
FIND = text(f"""
    WITH hit AS (
        (SELECT id, email COLLATE "default" AS email, name, 'holder' AS kind FROM allocation_slot
          WHERE event_id = {EVENT} AND {CLAIMED_SLOT_CONDITION} AND search @@ CAST(:words AS tsquery) LIMIT {AMONG})
        UNION ALL
        (SELECT id, email, name, 'holder' FROM ticket
          WHERE event_id = {EVENT} AND status = 'sold' AND search @@ CAST(:words AS tsquery) LIMIT {AMONG})
        UNION ALL
        (SELECT a.id, a.email, a.name, 'participant' FROM participation p JOIN account a ON a.id = p.merchant_id
           LEFT JOIN merchant_profile m ON m.account_id = a.id
          WHERE p.event_id = {EVENT}
            AND strpos(lower(concat_ws(' ', a.name, a.email, m.business_name, m.stall_name)), CAST(:plain AS text)) > 0
          LIMIT {AMONG})
    ), person AS (
        SELECT coalesce(email, id) AS key, max(email) AS email, min(id) AS id, max(name) AS name,
               bool_or(kind = 'participant') AS takes_part, count(*) FILTER (WHERE kind = 'holder') AS tickets
          FROM hit GROUP BY 1
    )
    SELECT p.id, p.name, p.email, p.takes_part, p.tickets
      FROM event e LEFT JOIN person p ON true
     WHERE e.id = {EVENT} AND (CAST(:everybodys AS boolean) OR e.organiser_id = :caller_id)
     ORDER BY lower(coalesce(p.name, p.email)), 1 LIMIT {MOST}
""")
COLUMNS = ("id", "name", "email", "participates", "tickets")


def search_recipients(caller: Caller, event_id: str, *, q: str) -> dict[str, Any]:
    """Up to twenty people by the beginnings of words of name, address or ticket. Raises NotFound."""
    values = {
        "event_id": event_id,
        "caller_id": caller.id,
        "everybodys": caller.has_tier(READS),
        "words": build_tsquery(q, event_id),
        "plain": q.lower(),
    }
    rows = fetch_rows(FIND, values, prepare=False)
    if not rows:
        raise NotFound()
    return {"users": [_serialize_person(row) for row in rows if row[0] is not None]}


def _serialize_person(row: tuple[Any, ...]) -> dict[str, Any]:
    values = dict(zip(COLUMNS, row, strict=True))
    return {**values, "email": mask_email(values["email"])}
