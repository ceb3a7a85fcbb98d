"""Guests of events that are long over: which columns of which tables tell who they were.

Rows, states, moments and amounts stay, so counters, charts and reports say the same as before.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy.orm import Session as OrmSession

from app.core.db import fetch_row, fetch_rows

BATCH = 1000
OVER = "SELECT id FROM event WHERE ends_at < now() - make_interval(days => %(days)s)"
NEXT_EVENTS = f"{OVER} AND id > %(after)s ORDER BY id LIMIT 100"
ERASED = "'erased:' || x.id"
RECIPIENTS = "x.campaign_id IN (SELECT id FROM campaign WHERE event_id IN ({events}))"


@dataclass(frozen=True)
class Target:
    """Rows of a table `x` with personal data: what they belong to, which of them, and what erases them."""

    name: str
    table: str
    erase: str
    personal: str
    belongs: str = "x.event_id IN ({events})"

    def count(self, days: int) -> int:
        """How many rows of events that ended more than `days` ago still have personal data."""
        where = f"{self.belongs.format(events=OVER)} AND ({self.personal})"
        row = fetch_row(f"SELECT count(*) FROM {self.table} x WHERE {where}", {"days": days})
        return int(row[0]) if row else 0

    def erase_batch(self, session: OrmSession, event_id: str) -> int:
        """Erases at most a batch of an event's rows, leaving those that somebody else has locked; how many."""
        where = f"{self.belongs.format(events='SELECT %(event_id)s')} AND ({self.personal})"
        batch = f"SELECT x.id FROM {self.table} x WHERE {where} ORDER BY x.id LIMIT {BATCH} FOR UPDATE OF x SKIP LOCKED"
        statement = f"UPDATE {self.table} x SET {self.erase} WHERE x.id IN ({batch}) RETURNING 1"
        return len(fetch_rows(statement, {"event_id": event_id}))


TARGETS = (
    Target("tickets", "ticket", "name = NULL, email = NULL", "x.name IS NOT NULL OR x.email IS NOT NULL"),
    Target(
        "slots",
        "allocation_slot",
        "name = NULL, email = NULL, phone = NULL",
        "x.name IS NOT NULL OR x.email IS NOT NULL OR x.phone IS NOT NULL",
    ),
    Target(
        "block holders",
        "allocation_block",
        "holder_name = NULL, holder_email = NULL, holder_phone = NULL, notes = NULL",
        "coalesce(x.holder_name, x.holder_email, x.holder_phone, x.notes) IS NOT NULL",
    ),
    Target(
        "campaign recipients",
        "campaign_recipient",
        f"person = {ERASED}, address = {ERASED}, name = NULL, reason = NULL",
        "x.person NOT LIKE 'erased:%%' AND x.state <> 'pending'",
        belongs=RECIPIENTS,
    ),
    Target("campaign positions", "campaign", "after = NULL", "x.after IS NOT NULL AND x.finished_at IS NOT NULL"),
    Target(
        "invitation links",
        "invite_link",
        "email = NULL, invited_address = NULL, business_name = NULL, message = NULL",
        "coalesce(x.email, x.invited_address, x.business_name, x.message) IS NOT NULL",
    ),
)


def events_over(days: int) -> Iterator[str]:
    """The events that ended more than `days` ago, by id."""
    after = ""
    while rows := fetch_rows(NEXT_EVENTS, {"days": days, "after": after}):
        yield from (str(event_id) for (event_id,) in rows)
        after = rows[-1][0]
