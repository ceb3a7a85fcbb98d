"""Who holds tickets of an event, and what holders are found by: SQL that stands once, for tickets and for slots.

A holder is found by the words of the name, by the address and its two halves, and by the ticket's own word (a code, a
reference). Every word begins with the event's id, so that one index serves all events and a search reads its own event
alone.
"""

from app.core.text_folding import folded_sql

NAMED, MAILED = folded_sql("coalesce(name, '')"), folded_sql("split_part(coalesce(email, ''), '@', 1)")
WORD_LENGTH = 60


def holder_search(own_word: str) -> str:
    """An immutable expression: the tsvector of what a holder is found by; `own_word` is the column of the ticket's."""
    found_by = (
        f"{NAMED} || ' ' || coalesce(email, '') || ' ' || split_part(coalesce(email, ''), '@', 2)"
        f" || ' ' || {MAILED} || ' ' || lower(coalesce({own_word}, ''))"
    )
    words = rf"regexp_replace({found_by}, '(\S{{1,{WORD_LENGTH}}})\S*', event_id || '\1', 'g')"
    return f"array_to_tsvector(array_remove(string_to_array({words}, ' '), ''))"


TICKET_SEARCH = holder_search("reference")


def ticket_holders_sql(event: str) -> str:
    """SQL: `id, email, name, phone` of every sold ticket of that event. What was sold elsewhere names no telephone."""
    return f"""SELECT ticket.id, ticket.email, ticket.name, CAST(NULL AS text) AS phone
          FROM ticket WHERE ticket.event_id = {event} AND ticket.status = 'sold'"""
