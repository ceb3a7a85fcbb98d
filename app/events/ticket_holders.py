"""SQL fragments about holders of tickets: who they are, and the text by which they are found. Slots use them too.

A holder is found by the words of the name, by the e-mail address and its two halves, and by the ticket's code or
reference. Every word begins with the event's id: one index serves all events, and a search reads only its own event.
"""

from app.core.text_normalization import folded_sql

NAMED, MAILED = folded_sql("coalesce(name, '')"), folded_sql("split_part(coalesce(email, ''), '@', 1)")
WORD_LENGTH = 60


def holder_search(code_column: str) -> str:
    """SQL: an immutable tsvector of the words by which a holder is found, with the code or reference in `code_column`."""
    searched_text = (
        f"{NAMED} || ' ' || coalesce(email, '') || ' ' || split_part(coalesce(email, ''), '@', 2)"
        f" || ' ' || {MAILED} || ' ' || lower(coalesce({code_column}, ''))"
    )
    words = rf"regexp_replace({searched_text}, '(\S{{1,{WORD_LENGTH}}})\S*', event_id || '\1', 'g')"
    return f"array_to_tsvector(array_remove(string_to_array({words}, ' '), ''))"


TICKET_SEARCH = holder_search("reference")


def reference_end_sql(table: str) -> str:
    """SQL: the end of a ticket's reference that is also its code, at most a third of it and four characters."""
    return f"'…' || right({table}.reference, least(4, length({table}.reference) / 3))"


def ticket_holders_sql(event: str) -> str:
    """SQL: `id, email, name, phone` of every sold ticket of that event. Tickets sold elsewhere have no phone."""
    return f"""SELECT ticket.id, ticket.email, ticket.name, CAST(NULL AS text) AS phone
          FROM ticket WHERE ticket.event_id = {event} AND ticket.status = 'sold'"""
