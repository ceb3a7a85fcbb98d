"""The SQL of the search of the desk: one statement for each kind, with the same columns.

A row is: id, title, detail, search text that finds it in the table of its section, parent, organisation, event and its
name; of a guest also the number of the order and the ticket type. The id of an invoice is that of its block. Guests and
items come from the text indexes, in which every word begins with its event; for these the statement puts the id of each
event into the query of the words. Everything else of an organisation is a few hundred rows, whose words are compared.
"""

from string import punctuation

from app.core.text_normalization import folded_sql
from app.events.search_words import TYPOGRAPHIC_APOSTROPHES
from app.events.ticket_holders import WORD_LENGTH, reference_end_sql
from app.inventory.item_search import EVENT_TAG_LENGTH, WORD_ENTRIES_SQL

MAX_HITS = 8
EVENT_PLACEHOLDER = "{event}"
SCOPE_SQL = "(e.organiser_id = ANY(%(scope)s) OR e.id = ANY(%(scope)s))"
ADMISSION_SQL = "(e.organiser_id = ANY(%(admission_scope)s) OR e.id = ANY(%(admission_scope)s))"
CODES_SQL = "(e.organiser_id = ANY(%(codes_scope)s) OR e.id = ANY(%(codes_scope)s))"
_ORDER_NUMBER_SQL = "CASE WHEN e.may_see_codes THEN t.order_number ELSE nullif(t.order_number, t.secret) END"
_HIDES_REFERENCE_SQL = "(t.reference = t.secret AND NOT e.may_see_codes)"
_TICKET_COLUMNS = f"""NULL, t.id, t.name, t.email, t.status,
                   CASE WHEN {_HIDES_REFERENCE_SQL} THEN {reference_end_sql("t")} ELSE t.reference END,
                   CASE WHEN {_HIDES_REFERENCE_SQL} THEN coalesce(t.email, t.name) ELSE t.reference END,
                   t.ticket_type_id, {_ORDER_NUMBER_SQL}"""
_EVENT_COLUMNS = "e.organiser_id, e.id AS event_id, e.name AS event_name"
_PUNCTUATION_SQL = "'" + punctuation.replace("'", "''").replace("%", "%%") + "'"
_END = f"LIMIT {MAX_HITS + 1}"


def _has_words(*columns: str) -> str:
    """SQL: whether every searched word begins a word of these columns, without accents and case.

    Most texts are plain ASCII, for which folding is one cheap function.
    """
    text = f"concat_ws(' ', {', '.join(columns)})"
    plain = f"translate(lower({text}), {_PUNCTUATION_SQL}, repeat(' ', {len(punctuation)}))"
    straightened = f"translate({text}, '{TYPOGRAPHIC_APOSTROPHES}', '{' ' * len(TYPOGRAPHIC_APOSTROPHES)}')"
    folded = f"CASE WHEN octet_length({text}) = char_length({text}) THEN {plain} ELSE {folded_sql(straightened)} END"
    return f"' ' || {folded} LIKE ALL(%(patterns)s)"


EVENTS_SQL = f"""
    SELECT e.id, e.name, concat_ws(', ', nullif(e.venue, ''), nullif(e.city, '')), e.name, NULL, {_EVENT_COLUMNS}
      FROM event e
     WHERE {SCOPE_SQL} AND e.search @@ to_tsquery('simple', %(tsquery)s)
     ORDER BY e.starts_at DESC, e.id {_END}"""

GUESTS_SQL = f"""
    SELECT g.id, coalesce(g.name, g.email, g.found_by, g.number), concat_ws(' · ', g.status, g.email, g.number), g.found_by, g.block_id,
           {_EVENT_COLUMNS}, g.order_number,
           (SELECT y.name FROM ticket_type y WHERE y.id = g.ticket_type_id AND y.event_id = e.id)
      FROM (SELECT e.organiser_id, e.id, e.name, e.starts_at, e.ends_at, {ADMISSION_SQL} AS may_admit,
                   {CODES_SQL} AS may_see_codes,
                   CAST(replace(%(holder_query)s, '{EVENT_PLACEHOLDER}', e.id) AS tsquery) AS query
              FROM event e WHERE {SCOPE_SQL}) e
     CROSS JOIN LATERAL (
           (SELECT s.block_id, s.id, s.name, s.email, s.status, NULL AS number, coalesce(s.email, s.name) AS found_by,
                   s.ticket_type_id, NULL AS order_number
              FROM allocation_slot s
             WHERE s.event_id = e.id AND s.claimed_at IS NOT NULL AND s.ended_at IS NULL AND s.search @@ e.query
               AND (e.may_admit OR ts_delete(s.search, s.event_id || lower(coalesce(s.code, ''))) @@ e.query)
             ORDER BY s.name_key, s.id {_END})
            UNION ALL
           (SELECT s.block_id, s.id, s.name, s.email, s.status, NULL, coalesce(s.email, s.name), s.ticket_type_id,
                   NULL
              FROM allocation_block b JOIN allocation_slot s ON s.block_id = b.id AND s.event_id = b.event_id
             WHERE b.event_id = e.id AND e.ends_at > now() AND s.given_at IS NOT NULL AND s.claimed_at IS NULL AND s.ended_at IS NULL
               AND s.search @@ e.query
             ORDER BY s.id {_END})
            UNION ALL
           (SELECT {_TICKET_COLUMNS}
              FROM ticket t
             WHERE t.event_id = e.id AND t.status = 'sold' AND t.search @@ e.query
               AND (NOT {_HIDES_REFERENCE_SQL} OR ts_delete(t.search, ARRAY(SELECT t.event_id || left(word, {WORD_LENGTH})
                                        FROM regexp_split_to_table(lower(t.reference), ' ') word)) @@ e.query)
             ORDER BY lower(t.name), t.id {_END})
            UNION ALL
           (SELECT {_TICKET_COLUMNS}
              FROM ticket t WHERE t.event_id = e.id AND t.status <> 'sold' AND t.reference = %(exact)s
               AND NOT {_HIDES_REFERENCE_SQL})
            UNION ALL
           (SELECT {_TICKET_COLUMNS}
              FROM ticket t
             WHERE t.event_id = e.id AND upper(t.order_number) = upper(%(exact)s)
               AND (e.may_see_codes OR t.order_number <> t.secret)
               AND NOT CASE WHEN t.status = 'sold' THEN t.search @@ e.query ELSE t.reference = %(exact)s END
             ORDER BY lower(t.name), t.id {_END})) g
     ORDER BY e.starts_at DESC, lower(g.name), g.id {_END}"""
"""Places and imported tickets. A place that nobody has claimed is found until the event ends, for it is in no index, and
a ticket that is not sold any more by its whole number. All tickets are found by the whole number of their order.
A number that is also the code is nothing to callers who may not see codes: it finds nothing, and of the number of a ticket
they see the end."""

BLOCKS_SQL = f"""
    SELECT b.id, coalesce(b.name, b.holder_organisation, b.holder_name, b.holder_email, b.kind),
           concat_ws(' · ', b.holder_name, b.holder_organisation, b.holder_email),
           coalesce(b.name, b.holder_organisation, b.holder_name, b.holder_email), NULL, {_EVENT_COLUMNS}
      FROM event e JOIN allocation_block b ON b.event_id = e.id
     WHERE {SCOPE_SQL} AND {_has_words("b.name", "b.holder_name", "b.holder_organisation", "b.holder_email")}
     ORDER BY e.starts_at DESC, b.created_at, b.id {_END}"""

APPLICATIONS_SQL = f"""
    SELECT a.id, coalesce(a.business_name, a.reference), concat_ws(' · ', a.reference, a.contact_name, a.email),
           a.reference, NULL, {_EVENT_COLUMNS}
      FROM event e JOIN merchant_application a ON a.event_id = e.id
     WHERE {SCOPE_SQL} AND {_has_words("a.business_name", "a.contact_name", "a.email", "a.reference")}
     ORDER BY e.starts_at DESC, a.business_name, a.id {_END}"""

ITEMS_SQL = f"""
    SELECT i.id, i.name, concat_ws(' · ', nullif(i.sku, left(i.name, 80)), i.barcode, i.storage_location), i.sku, NULL, {_EVENT_COLUMNS}
      FROM (SELECT e.organiser_id, e.id, e.name, e.starts_at,
                   CAST(replace(%(item_query)s, '{EVENT_PLACEHOLDER}', right(e.id, {EVENT_TAG_LENGTH})) AS tsquery) AS query
              FROM event e WHERE {SCOPE_SQL}) e
     CROSS JOIN LATERAL (
           SELECT item.id, item.name, item.sku, item.barcode, item.storage_location
             FROM inventory_item item
            WHERE item.event_id = e.id AND {WORD_ENTRIES_SQL} @@ e.query
            ORDER BY item.name_key, item.id {_END}) i
     ORDER BY e.starts_at DESC, lower(i.name), i.id {_END}"""

ORDERS_SQL = f"""
    SELECT o.id, upper(right(o.id, 8)), o.supplier, upper(right(o.id, 8)), NULL, {_EVENT_COLUMNS}
      FROM event e JOIN inventory_order o ON o.event_id = e.id
     WHERE {SCOPE_SQL} AND {_has_words("right(o.id, 8)", "o.supplier")}
     ORDER BY o.created_at DESC, o.id {_END}"""

INVOICES_SQL = f"""
    SELECT i.id, i.number, i.name, i.number, i.application_id, {_EVENT_COLUMNS}
      FROM event e
      JOIN LATERAL (
           SELECT b.id, d.number, coalesce(b.holder_organisation, b.holder_name, b.name) AS name, NULL AS application_id,
                  d.issued_at
             FROM invoice d JOIN allocation_block b ON b.id = d.block_id AND b.event_id = d.event_id
            WHERE b.event_id = e.id
            UNION ALL
           SELECT d.id, d.number, a.business_name, a.id, d.issued_at
             FROM merchant_application a
             JOIN (SELECT id, number, application_id, issued_at FROM stall_fee_invoice
                   UNION ALL SELECT id, number, application_id, issued_at FROM stall_fee_credit_note) d
               ON d.application_id = a.id
            WHERE a.event_id = e.id) i ON true
     WHERE {SCOPE_SQL} AND {_has_words("i.number", "i.name")}
     ORDER BY i.issued_at DESC, i.id {_END}"""

CAMPAIGNS_SQL = f"""
    SELECT c.id, c.name, c.title, c.name, NULL, {_EVENT_COLUMNS}
      FROM event e JOIN campaign c ON c.event_id = e.id
     WHERE {SCOPE_SQL} AND {_has_words("c.name", "c.title")}
     ORDER BY c.created_at DESC, c.id {_END}"""
