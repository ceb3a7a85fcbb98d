"""Imported tickets for tests, written as an import writes them."""

from typing import Any

from sqlalchemy import text

from app.core.ids import NEW_ID_SQL
from app.core.transaction import transaction

INSERT = text(f"""
    INSERT INTO ticket (id, event_id, ticket_type_id, reference, name, price_minor, sold_at, status, secret,
                        transaction_id)
    SELECT {NEW_ID_SQL}, :event, :type, 'R-' || secret, coalesce(:name, 'Guest ' || secret), 45000, now(), 'sold',
           secret, pg_current_xact_id()
      FROM unnest(CAST(:secrets AS text[])) secret
    RETURNING secret, id""")


def add_tickets(event: dict[str, Any], *secrets: str, name: str | None = None, type_number: int = 0) -> dict[str, str]:
    """Adds sold tickets of a ticket type; returns their ids by secret."""
    params = {
        "event": event["id"],
        "type": event["ticketTypes"][type_number]["id"],
        "secrets": list(secrets),
        "name": name,
    }
    with transaction() as session:
        session.execute(text("SET LOCAL statement_timeout = '1min'"))
        return {row.secret: row.id for row in session.execute(INSERT, params)}
