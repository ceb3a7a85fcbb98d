"""What is due for the invoices of blocks, as SQL for lists and counts, and what is not invoiced yet."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Date, SQLColumnExpression, and_, cast, func, select
from sqlalchemy.orm import aliased

from app.allocations.invoice_context import DAYS_TO_PAY
from app.allocations.models import AllocationBlock, Invoice
from app.allocations.pricing import calculate_block_cost
from app.allocations.queries import sum_payments
from app.core.db import db
from app.core.formatting import HOME
from app.events.event_rows import belongs_to
from app.events.models import Event
from app.invoicing.documents import INVOICE


def charged_minor_sql() -> ColumnElement[int]:
    """Return an Invoice's total less its credit notes, in cents."""
    credit = aliased(Invoice)
    credited = (
        select(func.coalesce(func.sum(credit.total_minor), 0))
        .where(credit.event_id == Invoice.event_id, credit.block_id == Invoice.block_id, credit.kind != INVOICE)
        .scalar_subquery()
    )
    return Invoice.total_minor + credited


def due_minor_sql() -> ColumnElement[int]:
    """Return an Invoice's total less its credit notes and payments, in cents; below zero the organiser owes it back."""
    return cast(charged_minor_sql() - sum_payments(), BigInteger)


def is_overdue_sql() -> ColumnElement[bool]:
    """Return the condition that something is due for an Invoice after the day that it names, in Windhoek."""
    pay_by = select(AllocationBlock.pay_by).where(belongs_to(Invoice.block_id, AllocationBlock))
    starts_at = select(Event.starts_at).where(Event.id == Invoice.event_id)
    usual_end = func.least(Invoice.issued_at + DAYS_TO_PAY, starts_at.correlate(Invoice).scalar_subquery())
    chosen_day: ColumnElement[Any] = pay_by.correlate(Invoice).scalar_subquery()
    last_day = func.greatest(func.coalesce(chosen_day, _day_sql(usual_end)), _day_sql(Invoice.issued_at))
    return and_(Invoice.kind == INVOICE, due_minor_sql() > 0, last_day < _day_sql(func.now()))


def list_uninvoiced_amounts(event_ids: Sequence[str]) -> dict[str, list[int]]:
    """What the places of each block that is not free and has no invoice cost, in cents, by the id of the event."""
    has_invoice = select(Invoice.id).where(belongs_to(Invoice.block_id, AllocationBlock)).exists()
    statement = select(AllocationBlock).where(
        AllocationBlock.event_id.in_(event_ids),
        AllocationBlock.unit_price_minor > 0,
        AllocationBlock.held > 0,
        ~has_invoice,
    )
    amounts: dict[str, list[int]] = {}
    for block in db.session.scalars(statement):
        if amount_minor := calculate_block_cost(block, "").total_minor:
            amounts.setdefault(block.event_id, []).append(amount_minor)
    return amounts


def _day_sql(moment: SQLColumnExpression[datetime]) -> ColumnElement[Any]:
    return cast(func.timezone(HOME, moment), Date)
