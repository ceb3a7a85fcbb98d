"""The will-call list of an event: claimed and admitted slots by name, and the search at the gate.

Slots come from one index in the order of names. With `q` they come from the full-text index, in which every word begins
with the id of its event.
"""

import re
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, String, literal_column

from app.accounts.caller import Caller
from app.accounts.permissions import GATE_ADMIT
from app.allocations.links import parse_code
from app.allocations.will_call_sql import count_sql, page_sql
from app.core.db import fetch_row, fetch_rows
from app.core.errors import NotFound
from app.events.queries import ownership_params
from app.events.search_words import WORDS, folded, spell_apostrophes, straighten_apostrophes
from app.events.ticket_holders import WORD_LENGTH

SHORT_PREFIX_LENGTH = 3
SORT_KEY: ColumnElement[str] = literal_column("name_key", String)


class WillCallSlot(NamedTuple):
    """A slot in the list, with its block and ticket type. `name_key` is what the list is sorted by."""

    id: str
    name: str | None
    email: str | None
    phone: str | None
    code: str | None
    status: str
    delivery: str | None
    party_id: str | None
    party_size: int
    version: int
    claimed_at: datetime | None
    admitted_at: datetime | None
    gate: str | None
    block_id: str
    ticket_type_id: str
    ticket_type_name: str
    block_name: str | None
    kind: str
    organisation: str | None
    name_key: str


class WillCallPage(NamedTuple):
    """A page of slots, the key after which the next page starts, and how many there are in all if asked for."""

    slots: list[WillCallSlot]
    after: tuple[str, str] | None
    total: int | None


def list_will_call(
    caller: Caller,
    event_id: str,
    *,
    q: str | None = None,
    status: str | None = None,
    block_id: str | None = None,
    after: tuple[str, str] | None = None,
    limit: int = 20,
    with_total: bool = False,
) -> WillCallPage:
    """Return claimed and admitted slots of an event by name. Raises NotFound.

    Each word of `q` is the beginning of a word of the name, of the email address, of its domain, or of the code. Only
    callers who may admit guests of the event get and find codes, because a code is a ticket.
    """
    read_params, admission_params = ownership_params(caller), ownership_params(caller.for_permission(GATE_ADMIT))
    params: dict[str, object] = {
        "event_id": event_id,
        **read_params,
        **{f"admission_{name}": value for name, value in admission_params.items()},
        "q": build_tsquery(q, event_id) if q else None,
        "status": status,
        "block_id": block_id,
    }
    filters = [name for name in ("q", "status", "block_id") if params[name]]
    if q and admission_params != read_params:
        filters.append("q_without_code")
    page_filters = filters
    if after is not None:
        page_filters = [*filters, "after"]
        params["after_name"], params["after_id"] = after
    rows = fetch_rows(page_sql(page_filters, limit + 1), params, prepare=_choose_prepare_mode(q))
    if not rows:
        raise NotFound()
    slots = [WillCallSlot(*slot) for *slot, _ in rows if slot[0] is not None]
    if not rows[0][-1]:
        slots = [slot._replace(code=None) for slot in slots]
    total_row = fetch_row(count_sql(filters), params) if with_total else None
    last_slot = slots[limit - 1] if len(slots) > limit else None
    next_key = (last_slot.name_key, last_slot.id) if last_slot else None
    return WillCallPage(slots[:limit], next_key, total_row[0] if total_row else None)


def build_tsquery(q: str, event_id: str) -> str:
    """Return the tsquery of a search: each word as a prefix; one with @ or a dot as it is, others without accents.

    A word with an apostrophe finds the word with any other one.
    """
    return " & ".join(_build_word_query(word, event_id) for word in q.lower().split()[:WORDS])


def _choose_prepare_mode(q: str | None) -> bool | None:
    """Return False, so that PostgreSQL plans for the parameters, if a prefix is so short that half the list has it."""
    return False if q and min(map(len, q.split()), default=0) < SHORT_PREFIX_LENGTH else None


def _build_word_query(word: str, event_id: str) -> str:
    folded_parts = [part[:WORD_LENGTH] for part in folded(straighten_apostrophes(word)).split()][:WORDS]
    exact_words = {word.lstrip("@")[:WORD_LENGTH], (parse_code(word) or "").lower()} - {""}
    alternatives = [_build_prefix_query(term, event_id) for term in sorted(exact_words)]
    spellings = [folded_parts] if folded_parts and folded_parts != [word] else []
    spellings += [spelling.split() for spelling in spell_apostrophes(word)]
    alternatives += [" & ".join(_build_prefix_query(part[:WORD_LENGTH], event_id) for part in it) for it in spellings]
    return (
        f"({' | '.join(f'({term})' for term in alternatives)})" if alternatives else _build_prefix_query("", event_id)
    )


def _build_prefix_query(word: str, event_id: str) -> str:
    return "'" + re.sub(r"(['\\])", r"\1\1", event_id + word) + "':*"
