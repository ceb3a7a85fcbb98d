"""The audience: who is written to on which channel, and why others are not. Preview and sending ask the same.

Statements are put together here and nowhere else. Parameters: `event_id, respect`, for named people `ids`, and for a
page of people `after, most`. A person is an e-mail address; each gets one verdict per channel.
"""

from collections.abc import Sequence

from app.allocations.queries import slot_holders_sql
from app.campaigns.states import SPECIFIC
from app.events.ticket_holders import ticket_holders_sql
from app.subscriptions import suppression as allowed

REACHABLE = "reachable"
REASONS = ("optedOut", "suppressed", "duplicate", "noAddress")
"""In this order: who is out on every channel for several reasons is told by the first. `notRelated` is nobody."""

EVENT = "CAST(:event_id AS text)"
PLACES = f"({ticket_holders_sql(EVENT)} UNION ALL {slot_holders_sql(EVENT)})"
ORGANISER = f"(SELECT event.organiser_id FROM event WHERE event.id = {EVENT})"
_ACCOUNT = "LEFT JOIN account ON account.email = known.email AND account.email_verified_at IS NOT NULL"
# Named people: an account's id, or that of a ticket or slot, which stands for anyone who holds it.
NAMED = f"""
    (SELECT coalesce(a.email, p.email) AS email, a.name, a.phone, asked.id,
            p.id IS NOT NULL OR EXISTS (SELECT FROM {PLACES} h WHERE h.email = a.email)
            OR EXISTS (SELECT FROM participation WHERE participation.event_id = {EVENT}
                          AND participation.merchant_id = a.id) AS related
       FROM unnest(CAST(:ids AS text[])) AS asked (id)
       LEFT JOIN account a ON a.id = asked.id
       LEFT JOIN LATERAL (SELECT h.id, h.email FROM {PLACES} h WHERE h.id = asked.id) p ON true)"""
AFTER, MOST = "CAST(:after AS text)", "CAST(:most AS int)"


def audience_sql(audience: str) -> str:
    """SQL: `email, name, phone, places` of each person of the audience, once."""
    if audience == SPECIFIC:
        return f"""
            SELECT n.email, max(n.name) AS name, max(n.phone) AS phone, count(*) AS places
              FROM {NAMED} n WHERE n.related AND n.email IS NOT NULL GROUP BY n.email"""
    # Each side is grouped for itself: so PostgreSQL knows how many people to expect, and hashes what bars them.
    return f"""
        SELECT coalesce(t.email, s.email) AS email, coalesce(s.name, t.name) AS name, s.phone,
               coalesce(t.places, 0) + coalesce(s.places, 0) AS places
          FROM ({_grouped_sql(ticket_holders_sql(EVENT))}) t FULL JOIN ({_grouped_sql(slot_holders_sql(EVENT))}) s ON s.email = t.email"""


def _grouped_sql(places: str) -> str:
    return f"""
        SELECT h.email, max(h.name) AS name, max(h.phone) AS phone, count(*) AS places
          FROM ({places}) h WHERE h.email IS NOT NULL GROUP BY h.email"""


def next_page_sql(audience: str) -> str:
    """SQL: the same for the next `most` people after `after`, in the order of their addresses, with all their places
    at the event: what a page costs does not depend on how many there are."""
    if audience == SPECIFIC:
        text = f"(SELECT * FROM ({audience_sql(audience)}) e WHERE e.email > {AFTER} ORDER BY e.email LIMIT {MOST})"
    else:
        sides = " UNION ".join(
            f"({_next_of(places)})" for places in (ticket_holders_sql(EVENT), slot_holders_sql(EVENT))
        )
        text = f"(SELECT email FROM ({sides}) sides ORDER BY email LIMIT {MOST})"
    own = ("f.name", "f.phone") if audience == SPECIFIC else ("NULL", "NULL")
    return f"""
        SELECT f.email, coalesce(held.name, {own[0]}) AS name, coalesce(held.phone, {own[1]}) AS phone, held.places
          FROM {text} f,
               LATERAL (SELECT max(h.name) AS name, max(h.phone) AS phone, count(*) AS places
                          FROM {PLACES} h WHERE h.email = f.email) held"""


def _next_of(places: str) -> str:
    return f"SELECT DISTINCT h.email FROM ({places}) h WHERE h.email > {AFTER} ORDER BY h.email LIMIT {MOST}"


def with_reachability_sql(people: str, channels: Sequence[str]) -> str:
    """SQL: those people with `number`, `account_id`, and a verdict for each channel in its `column`:
    `reachable` or one of the reasons. A verdict is found once, however often it is asked: hence the OFFSET."""
    account = any(channel != "email" for channel in channels)
    text = ", ".join(f"{_verdict(channel)} AS {column(channel)}" for channel in channels)
    number = "coalesce(known.phone, account.phone)" if account else "known.phone"
    return f"""
        SELECT known.email, known.name, known.places, known.number, known.account_id, {text}
          FROM (SELECT known.*, {number} AS number, {"account.id" if account else "NULL"} AS account_id
                       {_ahead(number) if "sms" in channels else ""}
                  FROM ({people}) known {_ACCOUNT if account else ""}) known
        OFFSET 0"""


def column(channel: str) -> str:
    """The column of `judged` with the verdict for that channel."""
    return f"{channel}_verdict"


def outcome(channels: Sequence[str]) -> str:
    """SQL over `judged`: `reachable` for anyone who is reached on any of the channels, else the first of the reasons."""
    one_of = ", ".join(map(column, channels))
    cases = " ".join(f"WHEN '{reason}' IN ({one_of}) THEN '{reason}'" for reason in (REACHABLE, *REASONS))
    return f"CASE {cases} END"


def exclusion_sql(channel: str, *, email: str, address: str, organiser: str, respect: str) -> str:
    """SQL: why somebody is not written to on that channel now; null when nothing is against it."""
    return f"""CASE WHEN {allowed.is_unsubscribed_sql(email, organiser)} THEN 'optedOut'
             WHEN {respect} AND {allowed.has_disabled_channel_sql(email, channel)} THEN 'optedOut'
             WHEN {allowed.is_suppressed_sql(channel, address)} THEN 'suppressed' END"""


def _verdict(channel: str) -> str:
    address = {"email": "known.email", "sms": "known.number", "push": "known.account_id"}[channel]
    missing = {
        "email": "false",
        "sms": "known.number IS NULL",
        "push": f"known.account_id IS NULL OR NOT {allowed.has_device_sql('known.account_id')}",
    }[channel]
    why = exclusion_sql(
        f"'{channel}'", email="known.email", address=address, organiser=ORGANISER, respect="CAST(:respect AS boolean)"
    )
    again = "WHEN known.ahead THEN 'duplicate'" if channel == "sms" else ""
    return f"CASE WHEN {missing} THEN 'noAddress' {again} ELSE coalesce({why}, '{REACHABLE}') END"


def _ahead(number: str) -> str:
    """Whether somebody before has the same telephone: one message is enough for it."""
    return f", row_number() OVER (PARTITION BY {number} ORDER BY known.email) > 1 AS ahead"


def audience_counts_sql(audience: str, channels: Sequence[str], people: str) -> str:
    """SQL: one row about those people: `total` places or ids, `people` reached, how many each channel reaches, and how
    many are out for each reason. `total` is the sum of `people` and the reasons."""
    reach = ", ".join(
        f"count(*) FILTER (WHERE {column(channel)} = '{REACHABLE}') AS reach_{channel}" for channel in channels
    )
    out = ", ".join(f"count(*) FILTER (WHERE outcome = '{reason}') AS out_{reason.lower()}" for reason in REASONS)
    from_people = f"""
        SELECT count(*) AS persons, coalesce(sum(places), 0) AS placed,
               count(*) FILTER (WHERE outcome = '{REACHABLE}') AS people, {reach}, {out}
          FROM (SELECT j.*, {outcome(channels)} AS outcome FROM ({with_reachability_sql(people, channels)}) j) j"""
    return f"""
        SELECT p.placed + t.nowhere + t.unrelated AS total, p.people,
               {", ".join(f"p.reach_{channel}" for channel in channels)}, p.out_optedout, p.out_suppressed,
               p.out_duplicate + p.placed - p.persons AS out_duplicate, p.out_noaddress + t.nowhere AS out_noaddress,
               t.unrelated
          FROM ({from_people}) p, ({_without_address(audience)}) t"""


def _without_address(audience: str) -> str:
    """SQL: one row: places that name no address, and ids of nobody at the event."""
    if audience == SPECIFIC:
        return f"""SELECT count(*) FILTER (WHERE n.related AND n.email IS NULL) AS nowhere,
                          count(*) FILTER (WHERE NOT n.related) AS unrelated FROM {NAMED} n"""
    return f"SELECT count(*) AS nowhere, 0 AS unrelated FROM {PLACES} h WHERE h.email IS NULL"


def sample_sql(audience: str, channels: Sequence[str], count: int) -> str:
    """SQL: `email, name, number, channels` of the first people who are reached. Parameters: those, `after` and
    `most`."""
    text = ", ".join(f"CASE WHEN {column(it)} = '{REACHABLE}' THEN '{it}' END" for it in channels)
    return f"""
        SELECT j.email, j.name, j.places, array_remove(ARRAY[{text}], NULL) AS channels
          FROM ({with_reachability_sql(next_page_sql(audience), channels)}) j WHERE {outcome(channels)} = '{REACHABLE}'
         ORDER BY j.email LIMIT {count}"""
