"""Steps that imports of tickets and their undos share. Both work on the temporary table `ticket_plan` (ticket_import_sql)."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.transaction import lock_name
from app.events import queries, ticket_import_sql
from app.events.models import Event


def lock_imports(session: Session, event_id: str) -> None:
    """Let imports into one event, and their undos, run one after the other."""
    lock_name(session, f"ticket-import:{event_id}")


def lock_event(session: Session, event_id: str) -> Event:
    """The locked event and its ticket types, read again under the lock."""
    statement = queries.lock_event(select(Event).where(Event.id == event_id))
    event: Event = session.scalars(statement.execution_options(populate_existing=True)).one()
    return event


def list_deltas(session: Session) -> dict[str, int]:
    """How many more tickets of each type are sold by the plan (negative: fewer)."""
    return {row.id: row.delta for row in session.execute(ticket_import_sql.SOLD_DELTAS)}


def rewrite_tally(session: Session) -> None:
    """Counts the sold tickets per day again, for the ticket types that the plan changes."""
    type_ids = {"ids": list(session.scalars(ticket_import_sql.CHANGED_TYPES))}
    session.execute(ticket_import_sql.CLEAR_TALLY, type_ids)
    session.execute(ticket_import_sql.WRITE_TALLY, type_ids)


def notify_gate(session: Session, event_id: str) -> None:
    """Tells the gates of an event that places have changed."""
    session.execute(ticket_import_sql.NOTIFY_GATE, {"event": event_id})
