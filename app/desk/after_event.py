"""What is left to do at an event that is over: counts from all domains, in one statement."""

from typing import NamedTuple

from sqlalchemy import exists, func, select

from app.admissions.models import Admission
from app.allocations.open_invoices import due_minor_sql
from app.applications.models import Application
from app.applications.queries import FEE_STATE_SQL, OPEN_FEE
from app.core.db import db
from app.events.models import Event
from app.inventory.models import Movement, StockItem
from app.money.documents import count_invoices_query
from app.money.settlement_state import HAS_SETTLEMENT_SQL


class OpenWork(NamedTuple):
    """How much is left: scans in conflict, unpaid stall fees and invoices, invoices of which money is owed back, and items
    that were not counted since the end.
    """

    has_settlement: bool
    conflicts: int
    open_fees: int
    open_invoices: int
    owed_back: int
    uncounted_items: int


def load_open_work(event_id: str) -> OpenWork:
    """What is left to do at an event. The caller may read the event, and shows only what they may see."""
    conflicts = select(func.count()).where(
        Admission.event_id == event_id, Admission.conflict.is_not(None), Admission.undone_at.is_(None)
    )
    fees = select(func.count()).where(Application.event_id == event_id, FEE_STATE_SQL == OPEN_FEE)
    is_counted = exists().where(
        Movement.event_id == StockItem.event_id,
        Movement.item_id == StockItem.id,
        Movement.counted.is_not(None),
        Movement.occurred_at >= Event.ends_at,
    )
    items = (
        select(func.count())
        .where(StockItem.event_id == event_id, StockItem.archived_at.is_(None), ~is_counted)
        .correlate(Event)
    )
    open_invoices, owed_back = (
        count_invoices_query(event_id, condition) for condition in (due_minor_sql() > 0, due_minor_sql() < 0)
    )
    counts = (conflicts, fees, open_invoices, owed_back, items)
    statement = select(HAS_SETTLEMENT_SQL, *(query.scalar_subquery() for query in counts)).where(Event.id == event_id)
    return OpenWork(*db.session.execute(statement).one())
