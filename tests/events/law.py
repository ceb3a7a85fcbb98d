"""The invariants of ticket counters, checked in the tables at the end of tests."""

from sqlalchemy import text

from app.core.db import db

BROKEN = text("""
    SELECT name FROM ticket_type
     WHERE total + oversold <> public + available + invited + claimed + admitted + sold
        OR least(public, available, invited, claimed, admitted, sold, oversold) < 0
""")
OVER_CAPACITY = text("""
    SELECT coalesce(sum(committed - capacity), 0) FROM (
        SELECT e.capacity, sum(t.sold + t.available + t.invited + t.claimed + t.admitted) AS committed
          FROM event e JOIN ticket_type t ON t.event_id = e.id GROUP BY e.id
    ) booked WHERE committed > capacity
""")
MISCOUNTED = text("""
    SELECT k.name FROM ticket_type k
     WHERE k.sold <> (SELECT count(*) FROM ticket t WHERE t.ticket_type_id = k.id AND t.status = 'sold')
        OR k.sold <> coalesce((SELECT sum(d.sold) FROM ticket_tally d WHERE d.ticket_type_id = k.id), 0)
""")


def assert_law_holds(*, over_capacity: int = 0) -> None:
    """All counters add up, none is negative, and no event has more places than its capacity.

    `over_capacity` is how many places an import has oversold beyond it.
    """
    assert db.session.scalars(BROKEN).all() == []
    assert db.session.scalar(OVER_CAPACITY) == over_capacity


def assert_books_agree(*, over_capacity: int = 0) -> None:
    """Counters, tickets and figures per day agree."""
    assert_law_holds(over_capacity=over_capacity)
    assert db.session.scalars(MISCOUNTED).all() == []
