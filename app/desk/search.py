"""The search of the desk: everything of an organisation that the person may see, one statement for each kind."""

from collections.abc import Iterable
from typing import NamedTuple

from app.accounts.caller import Caller
from app.accounts.permissions import (
    EVENTS_READ,
    GATE_ADMIT,
    GUESTS_READ,
    MESSAGES_READ,
    MONEY_READ,
    STALLS_READ,
    STOCK_READ,
)
from app.allocations.will_call import build_tsquery
from app.campaigns.message_templates import fill_placeholders, placeholders_in
from app.core.db import fetch_rows
from app.desk import search_sql
from app.desk.search_sql import EVENT_PLACEHOLDER, MAX_HITS
from app.events.search_words import (
    WORD_LENGTH,
    WORDS,
    folded,
    prefix_query,
    spell_apostrophes,
    straighten_apostrophes,
    words_of,
)
from app.events.tickets import CODE_READERS

EVENTS, GUESTS, BLOCKS, APPLICATIONS, ITEMS, ORDERS, INVOICES, CAMPAIGNS = KINDS = (
    "events",
    "guests",
    "blocks",
    "applications",
    "items",
    "orders",
    "invoices",
    "campaigns",
)
MIN_LENGTH, MAX_LENGTH = 2, 200
"""Characters that a search needs, for one letter begins half of all names; and the most that it may have."""
STATEMENTS: dict[str, tuple[tuple[str, ...], str]] = {
    EVENTS: ((EVENTS_READ,), search_sql.EVENTS_SQL),
    GUESTS: ((GUESTS_READ, GATE_ADMIT), search_sql.GUESTS_SQL),
    BLOCKS: ((GUESTS_READ,), search_sql.BLOCKS_SQL),
    APPLICATIONS: ((STALLS_READ,), search_sql.APPLICATIONS_SQL),
    ITEMS: ((STOCK_READ,), search_sql.ITEMS_SQL),
    ORDERS: ((STOCK_READ,), search_sql.ORDERS_SQL),
    INVOICES: ((MONEY_READ,), search_sql.INVOICES_SQL),
    CAMPAIGNS: ((MESSAGES_READ,), search_sql.CAMPAIGNS_SQL),
}
"""The permissions of which one is enough, and the statement of each kind, in the order of the page."""


class Hit(NamedTuple):
    """Something that was found. `key` finds it by the filter of its section's table.

    `parent` is the block of a place (an imported ticket has none), and the application of the invoice of a stall fee. The
    `id` of another invoice is that of its block. Only guests have a ticket type, and an order if the ticket is imported.
    """

    id: str
    title: str
    detail: str | None
    key: str | None
    parent: str | None
    organisation_id: str
    event_id: str
    event_name: str
    order_number: str | None = None
    ticket_type: str | None = None


class Group(NamedTuple):
    """The first hits of a kind, and whether there are more."""

    kind: str
    hits: list[Hit]
    has_more: bool


def is_searchable(q: str) -> bool:
    """Whether the text has enough letters or digits to search for."""
    return sum(map(len, words_of(q))) >= MIN_LENGTH


def search(caller: Caller, q: str, kinds: Iterable[str] = KINDS) -> list[Group]:
    """What matches every word of `q` in the organisation of the caller, by kind; only kinds with hits.

    A word is the beginning of a word of a name, address, code or number; accents and case do not matter. A code finds
    its guest only for callers who may admit them, because a code is a ticket.
    """
    if not is_searchable(q):
        return []
    words = words_of(straighten_apostrophes(q))
    params: dict[str, object] = {
        "tsquery": prefix_query(words),
        "patterns": [f"% {word}%" for word in words],
        "holder_query": build_tsquery(q, EVENT_PLACEHOLDER),
        "item_query": _build_item_query(q),
        "exact": q.strip(),
        "admission_scope": _list_scope(caller, (GATE_ADMIT,)),
        "codes_scope": _list_scope(caller, CODE_READERS),
    }
    groups = []
    for kind in kinds:
        permissions, statement = STATEMENTS[kind]
        scope = _list_scope(caller, permissions)
        rows = fetch_rows(statement, {**params, "scope": scope}, prepare=False) if scope else []
        if rows:
            hits = [Hit(*row) for row in rows[:MAX_HITS]]
            groups.append(
                Group(kind, list(map(_fill_title, hits)) if kind == CAMPAIGNS else hits, len(rows) > MAX_HITS)
            )
    return groups


def _build_item_query(q: str) -> str:
    """The words as prefixes, each after the tag of its event; one with an apostrophe also as one word."""
    terms = []
    for word in q.split()[:WORDS]:
        spellings = [folded(straighten_apostrophes(word)), *spell_apostrophes(word)]
        alternatives = [
            prefix_query([f"{EVENT_PLACEHOLDER}{part[:WORD_LENGTH]}" for part in it.split()]) for it in spellings
        ]
        if any(alternatives):
            terms.append(f"({' | '.join(alternatives)})")
    return " & ".join(terms)


def _fill_title(hit: Hit) -> Hit:
    """A message with the name of the event in its title. A title that is different for each person is left out."""
    title = fill_placeholders(hit.detail or "", {"eventName": hit.event_name})
    return hit._replace(detail=None if placeholders_in(title) else title)


def _list_scope(caller: Caller, permissions: Iterable[str]) -> list[str]:
    """The organisations and single events where the caller has one of the permissions."""
    grants = [caller.for_permission(permission).grant for permission in permissions]
    return [id for grant in grants for id in grant.organisation_ids + grant.event_ids]
