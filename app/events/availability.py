"""The counters of ticket types and all SQL that changes them. For every ticket type, always:

    total + oversold = public + available + invited + claimed + admitted + sold

`total` is what the organiser offers. `available`, `invited`, `claimed` and `admitted` are places in allocation blocks,
`sold` are tickets sold one by one, and `public` is what remains for public sale. `oversold` is what was sold elsewhere
beyond the total; it is added to the total, so `public` is never negative.

PostgreSQL generates `public` and `allocated` from the expressions below. A constraint refuses a negative `public`.

A ticket type does not know the event's capacity. An action that takes places from the public checks the capacity first,
under the lock on the event's row (`capacity.check_booking`).

An admitted place stays in `claimed`, so admissions do not lock this row. `TicketAdmission` counts admissions in stripes;
reads that show both figures subtract them.
"""

from typing import Literal

from sqlalchemy import Result, text
from sqlalchemy.orm import Session

ALLOCATED = "available + invited + claimed + admitted"
COMMITTED = f"{ALLOCATED} + sold"
PUBLIC = f"total + oversold - ({COMMITTED})"

Bucket = Literal["public", "available", "invited", "claimed", "admitted", "sold"]
Flow = Literal["sold", "allocated", "invited", "claimed", "admitted", "revoked", "released", "revenue_minor"]
FLOWS: tuple[Flow, ...] = (
    "sold",
    "allocated",
    "invited",
    "claimed",
    "admitted",
    "revoked",
    "released",
    "revenue_minor",
)

SET_TOTAL = text(f"""
    UPDATE ticket_type SET total = :total, oversold = greatest(0, {COMMITTED} - :total)
     WHERE id = :id AND greatest(0, {COMMITTED} - :total) <= oversold
""")
BOOK_SOLD = text(f"""
    UPDATE ticket_type SET sold = sold + :count, oversold = greatest(0, {COMMITTED} + :count - total)
     WHERE id = :id
""")
TALLY = text(f"""
    INSERT INTO ticket_tally (ticket_type_id, event_id, day, {", ".join(FLOWS)})
    SELECT t.id, t.event_id, (now() AT TIME ZONE e.timezone)::date, {", ".join(f":{flow}" for flow in FLOWS)}
      FROM ticket_type t JOIN event e ON e.id = t.event_id WHERE t.id = :id
    ON CONFLICT ON CONSTRAINT pk_ticket_tally DO UPDATE
       SET {", ".join(f"{flow} = ticket_tally.{flow} + excluded.{flow}" for flow in FLOWS)}
""")


def move(session: Session, ticket_type_id: str, count: int, *, source: Bucket, target: Bucket) -> bool:
    """Moves places between buckets by one conditional statement; False when `source` has too few."""
    changes = [f"{name} = {name} {sign} :count" for name, sign in ((source, "-"), (target, "+")) if name != "public"]
    statement = f"UPDATE ticket_type SET {', '.join(changes)} WHERE id = :id AND {source} >= :count"
    return _changed(session.execute(text(statement), {"id": ticket_type_id, "count": count}))


def set_total(session: Session, ticket_type_id: str, total: int) -> bool:
    """Changes the total; False when more is sold and allocated, beyond what was oversold before."""
    return _changed(session.execute(SET_TOTAL, {"id": ticket_type_id, "total": total}))


def book_sold(session: Session, ticket_type_id: str, count: int) -> None:
    """Counts tickets sold elsewhere, or returned (negative); what exceeds the total is oversold.

    The caller has locked the row and decided whether the total may be exceeded.
    """
    session.execute(BOOK_SOLD, {"id": ticket_type_id, "count": count})


def tally(session: Session, ticket_type_id: str, **flows: int) -> None:
    """Adds to today's figures of a ticket type; the day is in the event's time zone."""
    figures: dict[str, int] = dict.fromkeys(FLOWS, 0)
    session.execute(TALLY, {"id": ticket_type_id, **figures, **flows})


def _changed(result: Result[tuple[()]]) -> bool:
    return bool(getattr(result, "rowcount", 0))
