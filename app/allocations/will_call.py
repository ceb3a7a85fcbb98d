"""The list at the gate: who is expected and who is in, found by the beginning of whatever is at hand.

One statement, run by the driver: a page of slots in the order of names, from one index; with `q` from the index of
words, in which every word begins with its event's id. What goes out is what comes in, without a schema between.
"""

import re
from typing import Any, NamedTuple

from sqlalchemy import String, literal_column

from app.accounts.caller import Caller
from app.allocations import link_tokens
from app.allocations.models import CLAIMED_SLOT_CONDITION
from app.core.clock import rfc3339
from app.core.db import fetch_row, fetch_rows
from app.core.errors import NotFound
from app.events.queries import READS
from app.events.search import WORDS, folded
from app.events.ticket_holders import WORD_LENGTH

SHORT_PREFIX_LENGTH = 3
SORT_KEY: Any = literal_column("name_key", String)
ROW_FIELDS = (
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
TIME_FIELD_INDEXES = (ROW_FIELDS.index("claimedAt"), ROW_FIELDS.index("admittedAt"))
FILTER_CONDITIONS = {
    "q": "s.search @@ CAST(%(q)s AS tsquery)",
    "status": "s.status = %(status)s",
    "block_id": "s.block_id = %(block_id)s",
}
CLAIMED_SLOTS_SQL = (
    f"FROM allocation_slot s WHERE s.event_id = %(event_id)s AND s.{CLAIMED_SLOT_CONDITION.replace('AND ', 'AND s.')}"
)


class WillCallResult(NamedTuple):
    """A page of rows, the key after which the next page starts, and how many there are in all where asked."""

    rows: list[dict[str, Any]]
    after: tuple[str, str] | None
    total: int | None


def list_will_call(
    caller: Caller,
    event_id: str,
    *,
    q: str | None = None,
    after: tuple[str, str] | None = None,
    limit: int = 20,
    with_total: bool = False,
    **filters: str | None,
) -> WillCallResult:
    """Claimed and admitted slots of an event by name. `q` is the beginnings of words of the name, of the e-mail
    address, of what stands behind its @, or of the code. Raises NotFound."""
    tsquery = build_tsquery(q, event_id) if q else None
    filter_values = {name: value for name, value in {**filters, "q": tsquery}.items() if value}
    params: dict[str, Any] = {
        "event_id": event_id,
        "caller_id": caller.id,
        "anybodys": caller.has_tier(READS),
        **filter_values,
    }
    conditions = "".join(f" AND {FILTER_CONDITIONS[name]}" for name in filter_values)
    if after is not None:
        params |= {"key": after[0], "id": after[1]}
    rows = fetch_rows(
        _will_call_page_sql(conditions, limit + 1, after is not None), params, prepare=_choose_prepare_mode(q)
    )
    if not rows:
        raise NotFound()
    rows = [row for row in rows if row[0] is not None]
    total_row = fetch_row(f"SELECT count(*) {CLAIMED_SLOTS_SQL}{conditions}", params) if with_total else None
    next_key = (rows[limit - 1][-1], rows[limit - 1][0]) if len(rows) > limit else None
    return WillCallResult([_serialize_slot(row) for row in rows[:limit]], next_key, total_row[0] if total_row else None)


def build_tsquery(q: str, event_id: str) -> str:
    """What PostgreSQL looks for: each word as a beginning; one with @ or a dot as it is, others without accents."""
    return " & ".join(_build_word_query(word, event_id) for word in q.lower().split()[:WORDS])


def _choose_prepare_mode(q: str | None) -> bool | None:
    """Whether one plan serves: the index of words, unless a beginning is so short that half the list has it."""
    return False if q and min(map(len, q.split()), default=0) < SHORT_PREFIX_LENGTH else None


def _build_word_query(word: str, event_id: str) -> str:
    folded_parts = [part[:WORD_LENGTH] for part in folded(word).split()][:WORDS]
    exact_words = {word.lstrip("@")[:WORD_LENGTH], (link_tokens.parse_code(word) or "").lower()} - {""}
    alternatives = [_build_prefix_query(term, event_id) for term in sorted(exact_words)]
    if folded_parts and folded_parts != [word]:
        alternatives.append(" & ".join(_build_prefix_query(part, event_id) for part in folded_parts))
    return (
        f"({' | '.join(f'({term})' for term in alternatives)})" if alternatives else _build_prefix_query("", event_id)
    )


def _build_prefix_query(word: str, event_id: str) -> str:
    return "'" + re.sub(r"(['\\])", r"\1\1", event_id + word) + "':*"


def _will_call_page_sql(conditions: str, limit: int, has_cursor: bool) -> str:
    """The page first, then the names of what it points at; one empty row when there is none, none when the event is
    not the caller's."""
    cursor_condition = " AND (s.name_key, s.id) > (%(key)s, %(id)s)" if has_cursor else ""
    return f"""
        SELECT p.id, p.name, p.email, p.phone, p.code, p.status, p.delivery, p.party_id, p.party_size, p.version,
               p.claimed_at, p.admitted_at, p.gate, p.block_id, p.ticket_type_id, t.name, b.name, b.kind,
               b.holder_organisation, p.name_key
          FROM event e
          LEFT JOIN LATERAL (SELECT s.* {CLAIMED_SLOTS_SQL}{conditions}{cursor_condition}
                              ORDER BY s.name_key, s.id LIMIT {limit}) p ON true
          LEFT JOIN allocation_block b ON b.id = p.block_id
          LEFT JOIN ticket_type t ON t.id = p.ticket_type_id
         WHERE e.id = %(event_id)s AND (%(anybodys)s OR e.organiser_id = %(caller_id)s)
         ORDER BY p.name_key, p.id"""


def _serialize_slot(row: tuple[Any, ...]) -> dict[str, Any]:
    slot = dict(zip(ROW_FIELDS, row, strict=False))
    for index in TIME_FIELD_INDEXES:
        slot[ROW_FIELDS[index]] = rfc3339(row[index]) if row[index] else None
    return slot
