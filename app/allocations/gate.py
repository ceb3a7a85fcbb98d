"""The list at the gate: who is expected and who is in, found by the beginning of whatever is at hand.

One statement, run by the driver: a page of slots in the order of names, from one index; with `q` from the index of
words, in which every word begins with its event's id. What goes out is what comes in, without a schema between.
"""

import re
from typing import Any, NamedTuple

from sqlalchemy import String, literal_column

from app.accounts.caller import Caller
from app.allocations import links
from app.allocations.models import AT_THE_GATE
from app.core.clock import rfc3339
from app.core.db import fetch_row, fetch_rows
from app.core.errors import NotFound
from app.events.holders import WORD_LENGTH
from app.events.queries import READS
from app.events.search import WORDS, folded

SHORT = 3
SORT_KEY: Any = literal_column("name_key", String)
COLUMNS = (
    "slotId",
    "name",
    "email",
    "phone",
    "code",
    "status",
    "delivery",
    "partyId",
    "partySize",
    "version",
    "claimedAt",
    "admittedAt",
    "gate",
    "blockId",
    "ticketTypeId",
    "ticketTypeName",
    "blockName",
    "kind",
    "organisation",
)
TIMES = (COLUMNS.index("claimedAt"), COLUMNS.index("admittedAt"))
FILTERS = {
    "q": "s.search @@ CAST(%(q)s AS tsquery)",
    "status": "s.status = %(status)s",
    "block_id": "s.block_id = %(block_id)s",
}
SLOTS = f"FROM allocation_slot s WHERE s.event_id = %(event_id)s AND s.{AT_THE_GATE.replace('AND ', 'AND s.')}"


class Found(NamedTuple):
    """A page of rows, the key after which the next page starts, and how many there are in all where asked."""

    rows: list[dict[str, Any]]
    after: tuple[str, str] | None
    total: int | None


def will_call(
    caller: Caller,
    event_id: str,
    *,
    q: str | None = None,
    after: tuple[str, str] | None = None,
    limit: int = 20,
    with_total: bool = False,
    **filters: str | None,
) -> Found:
    """Claimed and admitted slots of an event by name. `q` is the beginnings of words of the name, of the e-mail
    address, of what stands behind its @, or of the code. Raises NotFound."""
    words = matching(q, event_id) if q else None
    given = {name: value for name, value in {**filters, "q": words}.items() if value}
    values: dict[str, Any] = {"event_id": event_id, "caller_id": caller.id, "anybodys": caller.has_tier(READS), **given}
    conditions = "".join(f" AND {FILTERS[name]}" for name in given)
    if after is not None:
        values |= {"key": after[0], "id": after[1]}
    rows = fetch_rows(_page(conditions, limit + 1, after is not None), values, prepare=_planned_once(q))
    if not rows:
        raise NotFound()
    rows = [row for row in rows if row[0] is not None]
    total = fetch_row(f"SELECT count(*) {SLOTS}{conditions}", values) if with_total else None
    last = (rows[limit - 1][-1], rows[limit - 1][0]) if len(rows) > limit else None
    return Found([_shown(row) for row in rows[:limit]], last, total[0] if total else None)


def matching(q: str, event_id: str) -> str:
    """What PostgreSQL looks for: each word as a beginning; one with @ or a dot as it is, others without accents."""
    return " & ".join(_word(word, event_id) for word in q.lower().split()[:WORDS])


def _planned_once(q: str | None) -> bool | None:
    """Whether one plan serves: the index of words, unless a beginning is so short that half the list has it."""
    return False if q and min(map(len, q.split()), default=0) < SHORT else None


def _word(word: str, event_id: str) -> str:
    plain = [part[:WORD_LENGTH] for part in folded(word).split()][:WORDS]
    exact = {word.lstrip("@")[:WORD_LENGTH], (links.code_in(word) or "").lower()} - {""}
    either = [_beginning(each, event_id) for each in sorted(exact)]
    if plain and plain != [word]:
        either.append(" & ".join(_beginning(part, event_id) for part in plain))
    return f"({' | '.join(f'({each})' for each in either)})" if either else _beginning("", event_id)


def _beginning(word: str, event_id: str) -> str:
    return "'" + re.sub(r"(['\\])", r"\1\1", event_id + word) + "':*"


def _page(conditions: str, rows: int, further: bool) -> str:
    """The page first, then the names of what it points at; one empty row when there is none, none when the event is
    not the caller's."""
    onward = " AND (s.name_key, s.id) > (%(key)s, %(id)s)" if further else ""
    return f"""
        SELECT p.id, p.name, p.email, p.phone, p.code, p.status, p.delivery, p.party_id, p.party_size, p.version,
               p.claimed_at, p.admitted_at, p.gate, p.block_id, p.ticket_type_id, t.name, b.name, b.kind,
               b.holder_organisation, p.name_key
          FROM event e
          LEFT JOIN LATERAL (SELECT s.* {SLOTS}{conditions}{onward} ORDER BY s.name_key, s.id LIMIT {rows}) p ON true
          LEFT JOIN allocation_block b ON b.id = p.block_id
          LEFT JOIN ticket_type t ON t.id = p.ticket_type_id
         WHERE e.id = %(event_id)s AND (%(anybodys)s OR e.organiser_id = %(caller_id)s)
         ORDER BY p.name_key, p.id"""


def _shown(row: tuple[Any, ...]) -> dict[str, Any]:
    said = dict(zip(COLUMNS, row, strict=False))
    for place in TIMES:
        said[COLUMNS[place]] = rfc3339(row[place]) if row[place] else None
    return said
