"""The SQL of audiences: the people of an event, their reachability per channel, counts, samples and searches.

A preview and the sending use the same conditions. Parameters: `event_id` and `respect`, for named people `ids`, for filtered
people those of `build_filter_parameters`, and for a page of people `after` and `most`. A person is an e-mail address and
gets one verdict per channel.
"""

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import TextClause, text

from app.allocations.models import CLAIMED_SLOT_CONDITION
from app.allocations.queries import slot_holders_sql
from app.campaigns.filtered_people_sql import list_sources
from app.campaigns.states import FILTERED, HOLDERS, SPECIFIC
from app.events.queries import OWNED_EVENT_SQL
from app.events.ticket_holders import ticket_holders_sql
from app.subscriptions.sql import has_device_sql, has_disabled_channel_sql, is_suppressed_sql, is_unsubscribed_sql

REACHABLE = "reachable"
REASONS = ("optedOut", "suppressed", "duplicate", "noAddress")
"""Reasons of an exclusion, stored under these names. A person excluded on every channel counts for the first that
applies. `notRelated` has no person."""

EVENT = "CAST(:event_id AS text)"
AFTER, MOST = "CAST(:after AS text)", "CAST(:most AS int)"
OWNED = OWNED_EVENT_SQL.replace("e.", "event.").replace(":is_admin", "CAST(:is_admin AS boolean)")
MAX_RESULTS, MAX_CANDIDATES = 20, 200

EVENT_ROW = f"""
    SELECT event.id, event.timezone,
           coalesce(cardinality(CAST(:ids AS text[])),
                    (SELECT coalesce(sum(sold + claimed + admitted), 0) FROM ticket_type
                      WHERE ticket_type.event_id = event.id)) AS counted
      FROM event
     WHERE event.id = {EVENT} AND {OWNED}"""
SMALL_EVENT = "(SELECT ev.id FROM ev WHERE ev.counted <= CAST(:small AS int))"
"""The event of EVENT_ROW; null if its audience is larger than `small`, so that nothing is read."""

FIND_PEOPLE = text(f"""
    WITH hit AS (
        (SELECT id, email COLLATE "default" AS email, name, 'holder' AS kind FROM allocation_slot
          WHERE event_id = {EVENT} AND {CLAIMED_SLOT_CONDITION} AND search @@ CAST(:words AS tsquery)
          LIMIT {MAX_CANDIDATES})
        UNION ALL
        (SELECT id, email, name, 'holder' FROM ticket
          WHERE event_id = {EVENT} AND status = 'sold' AND search @@ CAST(:words AS tsquery) LIMIT {MAX_CANDIDATES})
        UNION ALL
        (SELECT a.id, a.email, a.name, 'participant' FROM participation p JOIN account a ON a.id = p.merchant_id
           LEFT JOIN merchant_profile m ON m.account_id = a.id
          WHERE p.event_id = {EVENT}
            AND strpos(lower(concat_ws(' ', a.name, a.email, m.business_name, m.stall_name)), CAST(:plain AS text)) > 0
          LIMIT {MAX_CANDIDATES})
    ), person AS (
        SELECT coalesce(email, id) AS key, max(email) AS email, min(id) AS id, max(name) AS name,
               bool_or(kind = 'participant') AS takes_part, count(*) FILTER (WHERE kind = 'holder') AS tickets
          FROM hit GROUP BY 1
    )
    SELECT p.id, p.name, p.email, p.takes_part, p.tickets
      FROM event LEFT JOIN person p ON true
     WHERE event.id = {EVENT} AND {OWNED}
     ORDER BY lower(coalesce(p.name, p.email)), 1 LIMIT {MAX_RESULTS}
""")


def holders_sql(event: str) -> str:
    """SQL: one row per ticket or claimed slot: `id, email, name, phone`."""
    return f"({ticket_holders_sql(event)} UNION ALL {slot_holders_sql(event)})"


def named_people_sql(event: str) -> str:
    """SQL: the people in `ids`, which are ids of accounts, or of tickets and slots for their holders."""
    return f"""
    (SELECT coalesce(a.email, p.email) AS email, a.name, a.phone, named.id,
            p.id IS NOT NULL OR EXISTS (SELECT FROM {holders_sql(event)} h WHERE h.email = a.email)
            OR EXISTS (SELECT FROM participation WHERE participation.event_id = {event}
                          AND participation.merchant_id = a.id) AS related
       FROM unnest(CAST(:ids AS text[])) AS named (id)
       LEFT JOIN account a ON a.id = named.id
       LEFT JOIN LATERAL (SELECT h.id, h.email FROM {holders_sql(event)} h WHERE h.id = named.id) p ON true)"""


def audience_sql(audience: str, event: str = EVENT) -> str:
    """SQL: `email, name, phone, places` of each person of the audience, once."""
    if audience == SPECIFIC:
        return f"""
            SELECT n.email, max(n.name) AS name, max(n.phone) AS phone, count(*) AS places
              FROM {named_people_sql(event)} n WHERE n.related AND n.email IS NOT NULL GROUP BY n.email"""
    if audience == FILTERED:
        sides = " UNION ALL ".join(map(_group_by_email, list_sources(event)))
        return f"""
            SELECT side.email, max(side.name) AS name, max(side.phone) AS phone, sum(side.places) AS places
              FROM ({sides}) side GROUP BY side.email"""
    # Each side is grouped on its own: PostgreSQL then estimates the number of people and hashes the exclusions.
    tickets, slots = _group_by_email(ticket_holders_sql(event)), _group_by_email(slot_holders_sql(event))
    return f"""
        SELECT coalesce(t.email, s.email) AS email, coalesce(s.name, t.name) AS name, s.phone,
               coalesce(t.places, 0) + coalesce(s.places, 0) AS places
          FROM ({tickets}) t FULL JOIN ({slots}) s ON s.email = t.email"""


def _group_by_email(holders: str) -> str:
    return f"""
        SELECT h.email, max(h.name) AS name, max(h.phone) AS phone, count(*) AS places
          FROM ({holders}) h WHERE h.email IS NOT NULL GROUP BY h.email"""


def next_page_sql(audience: str, event: str = EVENT) -> str:
    """SQL: the next `most` people after `after`, in the order of their e-mail addresses, with all their places. The cost
    of a page does not depend on the size of the audience."""
    if audience == FILTERED:
        return _next_filtered_sql(event)
    if audience == SPECIFIC:
        name, phone = "page.name", "page.phone"
        page = (
            f"SELECT * FROM ({audience_sql(audience, event)}) e WHERE e.email > {AFTER} ORDER BY e.email LIMIT {MOST}"
        )
    else:
        name, phone = "NULL", "NULL"
        tickets, slots = _next_emails(ticket_holders_sql(event)), _next_emails(slot_holders_sql(event))
        page = f"SELECT email FROM (({tickets}) UNION ({slots})) sides ORDER BY email LIMIT {MOST}"
    return f"""
        SELECT page.email, coalesce(held.name, {name}) AS name, coalesce(held.phone, {phone}) AS phone, held.places
          FROM ({page}) page,
               LATERAL (SELECT max(h.name) AS name, max(h.phone) AS phone, count(*) AS places
                          FROM {holders_sql(event)} h WHERE h.email = page.email) held"""


def _next_filtered_sql(event: str) -> str:
    """SQL: as `next_page_sql`, for filtered people. `places` are all their tickets, for the text "You have 2 tickets"."""
    sources = list_sources(event)
    page = " UNION ".join(f"({_next_emails(source)})" for source in sources)
    return f"""
        SELECT page.email, chosen.name, chosen.phone, held.places
          FROM (SELECT email FROM ({page}) sides ORDER BY email LIMIT {MOST}) page,
               LATERAL (SELECT max(c.name) AS name, max(c.phone) AS phone
                          FROM ({" UNION ALL ".join(sources)}) c WHERE c.email = page.email) chosen,
               LATERAL (SELECT count(*) AS places FROM {holders_sql(event)} h WHERE h.email = page.email) held"""


def _next_emails(holders: str) -> str:
    return f"SELECT DISTINCT h.email FROM ({holders}) h WHERE h.email > {AFTER} ORDER BY h.email LIMIT {MOST}"


def with_reachability_sql(people: str, channels: Sequence[str], event: str = EVENT) -> str:
    """SQL: those people with `number`, `account_id`, and per channel a verdict (see `verdict_column`): `reachable` or a
    reason. OFFSET 0 keeps PostgreSQL from computing a verdict twice."""
    needs_account = any(channel != "email" for channel in channels)
    verdicts = ", ".join(f"{_verdict(channel, event)} AS {verdict_column(channel)}" for channel in channels)
    number, account_id, join = "known.phone", "NULL", ""
    if needs_account:
        number, account_id = "coalesce(known.phone, account.phone)", "account.id"
        join = "LEFT JOIN account ON account.email = known.email AND account.email_verified_at IS NOT NULL"
    # One message is enough for a phone that several people share.
    is_duplicate = f", row_number() OVER (PARTITION BY {number} ORDER BY known.email) > 1 AS is_duplicate"
    return f"""
        SELECT known.email, known.name, known.places, known.number, known.account_id, {verdicts}
          FROM (SELECT known.*, {number} AS number, {account_id} AS account_id
                       {is_duplicate if "sms" in channels else ""}
                  FROM ({people}) known {join}) known
        OFFSET 0"""


def verdict_column(channel: str) -> str:
    """The column of `with_reachability_sql` with the verdict for that channel."""
    return f"{channel}_verdict"


def _person_verdict(channels: Sequence[str]) -> str:
    """SQL over `with_reachability_sql`: `reachable` if any channel reaches the person, else the first reason."""
    verdicts = ", ".join(map(verdict_column, channels))
    cases = " ".join(f"WHEN '{verdict}' IN ({verdicts}) THEN '{verdict}'" for verdict in (REACHABLE, *REASONS))
    return f"CASE {cases} END"


def exclusion_sql(channel: str, *, email: str, address: str, organiser: str, respect: str) -> str:
    """SQL: why a person gets no message on that channel now; null when they may get one."""
    return f"""CASE WHEN {is_unsubscribed_sql(email, organiser)} THEN 'optedOut'
             WHEN {respect} AND {has_disabled_channel_sql(email, channel)} THEN 'optedOut'
             WHEN {is_suppressed_sql(channel, address)} THEN 'suppressed' END"""


def _verdict(channel: str, event: str) -> str:
    address = {"email": "known.email", "sms": "known.number", "push": "known.account_id"}[channel]
    is_missing = {
        "email": "false",
        "sms": "known.number IS NULL",
        "push": f"known.account_id IS NULL OR NOT {has_device_sql('known.account_id')}",
    }[channel]
    exclusion = exclusion_sql(
        f"'{channel}'",
        email="known.email",
        address=address,
        organiser=f"(SELECT event.organiser_id FROM event WHERE event.id = {event})",
        respect="CAST(:respect AS boolean)",
    )
    duplicate = "WHEN known.is_duplicate THEN 'duplicate'" if channel == "sms" else ""
    return f"CASE WHEN {is_missing} THEN 'noAddress' {duplicate} ELSE coalesce({exclusion}, '{REACHABLE}') END"


def audience_counts_sql(audience: str, channels: Sequence[str], people: str, event: str = EVENT) -> str:
    """SQL: one row of counts: `total` places or ids, `people` reached, people reached per channel, and people excluded
    per reason. `total` is the sum of `people` and the reasons."""
    reached = ", ".join(
        f"count(*) FILTER (WHERE {verdict_column(channel)} = '{REACHABLE}') AS reach_{channel}" for channel in channels
    )
    excluded = ", ".join(f"count(*) FILTER (WHERE verdict = '{reason}') AS out_{reason.lower()}" for reason in REASONS)
    judged = with_reachability_sql(people, channels, event)
    return f"""
        SELECT p.placed + t.without_email + t.unrelated AS total, p.people,
               {", ".join(f"p.reach_{channel}" for channel in channels)}, p.out_optedout, p.out_suppressed,
               p.out_duplicate + p.placed - p.persons AS out_duplicate, p.out_noaddress + t.without_email AS out_noaddress,
               t.unrelated
          FROM (SELECT count(*) AS persons, coalesce(sum(places), 0) AS placed,
                       count(*) FILTER (WHERE verdict = '{REACHABLE}') AS people, {reached}, {excluded}
                  FROM (SELECT j.*, {_person_verdict(channels)} AS verdict FROM ({judged}) j) j) p,
               ({_count_unaddressed(audience, event)}) t"""


def _count_unaddressed(audience: str, event: str) -> str:
    """SQL: one row: `without_email` counts places, `unrelated` counts ids that do not belong to the event."""
    if audience == SPECIFIC:
        return f"""SELECT count(*) FILTER (WHERE n.related AND n.email IS NULL) AS without_email,
                          count(*) FILTER (WHERE NOT n.related) AS unrelated FROM {named_people_sql(event)} n"""
    people = f"({' UNION ALL '.join(list_sources(event))})" if audience == FILTERED else holders_sql(event)
    return f"SELECT count(*) AS without_email, 0 AS unrelated FROM {people} h WHERE h.email IS NULL"


@lru_cache(maxsize=64)
def count_all_sql(audience: str, channels: tuple[str, ...]) -> TextClause:
    """The event's time zone and the counts of its whole audience."""
    counts = audience_counts_sql(audience, channels, audience_sql(audience))
    return text(f"SELECT ev.timezone, f.* FROM ({EVENT_ROW}) ev, ({counts}) f")


@lru_cache(maxsize=64)
def count_small_sql(audience: str, channels: tuple[str, ...]) -> TextClause:
    """The event's time zone, an upper limit of its audience, and the counts if that is at most `small`."""
    # People are read page by page here: then PostgreSQL reads no more than these few, whatever else the tables hold.
    page = next_page_sql if audience == HOLDERS else audience_sql
    counts = audience_counts_sql(audience, channels, page(audience, SMALL_EVENT), SMALL_EVENT)
    return text(f"""
    WITH ev AS MATERIALIZED ({EVENT_ROW})
    SELECT ev.timezone, ev.counted, f.* FROM ev, ({counts}) f""")


@lru_cache(maxsize=64)
def sample_sql(audience: str, channels: tuple[str, ...], count: int) -> TextClause:
    """`email, name, places, channels` of the first people who are reached."""
    reached = ", ".join(f"CASE WHEN {verdict_column(name)} = '{REACHABLE}' THEN '{name}' END" for name in channels)
    judged = with_reachability_sql(next_page_sql(audience), channels)
    return text(f"""
        SELECT j.email, j.name, j.places, array_remove(ARRAY[{reached}], NULL) AS channels
          FROM ({judged}) j WHERE {_person_verdict(channels)} = '{REACHABLE}'
         ORDER BY j.email LIMIT {count}""")
