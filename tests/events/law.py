"""The law of tickets, read from the table: what every test may ask at its end."""

from sqlalchemy import text

from app.core.db import db

BROKEN = text("""
    SELECT name FROM ticket_type
     WHERE total + oversold <> public + available + invited + claimed + admitted + sold
        OR least(public, available, invited, claimed, admitted, sold, oversold) < 0
""")
MISCOUNTED = text("""
    SELECT k.name FROM ticket_type k
     WHERE k.sold <> (SELECT count(*) FROM ticket t WHERE t.ticket_type_id = k.id AND t.status = 'sold')
        OR k.sold <> coalesce((SELECT sum(d.sold) FROM ticket_tally d WHERE d.ticket_type_id = k.id), 0)
""")


def assert_law_holds() -> None:
    """Every ticket type's counters add up, and none is negative."""
    assert db.session.scalars(BROKEN).all() == []


def assert_books_agree() -> None:
    """Counters, tickets and the days of the chart say the same."""
    assert_law_holds()
    assert db.session.scalars(MISCOUNTED).all() == []
