"""What waits for an organiser: one count by kind and event, of all that the person may do something about.

A kind is one entry of `TASK_QUERIES`. All counts are one statement.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, cast, exists, func, literal, select, union_all

from app.accounts.caller import Caller
from app.accounts.models import OrganiserProfile
from app.accounts.permissions import (
    EVENTS_WRITE,
    GATE_ADMIT,
    GUESTS_WRITE,
    MEMBERS_WRITE,
    MESSAGES_WRITE,
    MONEY_READ,
    MONEY_WRITE,
    STALLS_DECIDE,
    STOCK_WRITE,
)
from app.admissions.models import Admission
from app.allocations.models import AllocationBlock, Invoice
from app.allocations.open_invoices import due_minor_sql, is_overdue_sql
from app.applications.models import Application, StallFeeRefund
from app.applications.queries import HAS_NEW_DOCUMENTS_SQL, IS_FEE_OVERDUE_SQL
from app.applications.states import AWAITING_PAYMENT, REFUND_REFUSED, SUBMITTED
from app.campaigns.models import Campaign, Recipient
from app.campaigns.queries import has_not_arrived
from app.core.db import db
from app.desk.cancelled_event import (
    select_fees_to_return,
    select_guests_to_write_to,
    select_holders_with_places,
    select_invoices_to_credit,
    select_sold_types,
    select_stalls_to_write_to,
    select_waiting_applications,
)
from app.events.failed_mails import FailedMail
from app.events.models import Event, TicketType
from app.events.queries import owned
from app.events.visibility import CANCELLED, DRAFT
from app.inventory.models import StockItem
from app.invoicing.documents import INVOICE
from app.money.settlement_state import HAS_SETTLEMENT_SQL

(
    PUBLISH,
    APPLICATIONS,
    DOCUMENTS,
    BANK_DETAILS,
    FEES,
    REFUNDS,
    OWED_BACK,
    INVOICES,
    LOW_STOCK,
    CONFLICTS,
    FAILED_MAILS,
    UNDELIVERED,
    SETTLEMENT,
    CANCELLED_GUESTS,
    CANCELLED_HOLDERS,
    CANCELLED_STALLS,
    CANCELLED_APPLICATIONS,
    CANCELLED_SALES,
    CANCELLED_FEES,
    CANCELLED_INVOICES,
) = (
    "publish",
    "applications",
    "documents",
    "bank_details",
    "fees",
    "refunds",
    "owed_back",
    "invoices",
    "low_stock",
    "conflicts",
    "failed_mails",
    "undelivered",
    "settlement",
    "cancelled_guests",
    "cancelled_holders",
    "cancelled_stalls",
    "cancelled_applications",
    "cancelled_sales",
    "cancelled_fees",
    "cancelled_invoices",
)
CANCELLATION_KINDS = (
    CANCELLED_GUESTS,
    CANCELLED_HOLDERS,
    CANCELLED_STALLS,
    CANCELLED_APPLICATIONS,
    CANCELLED_SALES,
    CANCELLED_FEES,
    CANCELLED_INVOICES,
)
"""What is left to do at a cancelled event."""
KINDS_AT_CANCELLED = frozenset({*CANCELLATION_KINDS, REFUNDS, OWED_BACK, FAILED_MAILS, UNDELIVERED})
"""What also waits at a cancelled event."""
DAYS_SHOWN = timedelta(days=7)
"""For how long messages wait that failed: afterwards nobody can do much about them."""
DAYS_TO_SETTLE = timedelta(days=14)


@dataclass(frozen=True)
class Task:
    """Something that waits at an event: its kind, and how many there are."""

    kind: str
    event_id: str
    event_name: str
    starts_at: datetime
    count: int


TaskQuery = Select[Any]
"""The rows that wait, joined with their events. `list_tasks` adds the events' owner and the counts."""


def _select_drafts() -> TaskQuery:
    return select().where(Event.visibility == DRAFT, Event.publish_at.is_(None), Event.starts_at > func.now())


def _select_applications() -> TaskQuery:
    return select().where(Application.event_id == Event.id, Application.status == SUBMITTED, _is_not_over())


def _select_new_documents() -> TaskQuery:
    return select().where(Application.event_id == Event.id, HAS_NEW_DOCUMENTS_SQL, _is_not_over())


def _select_fees_without_account() -> TaskQuery:
    """Fees that nobody can pay by transfer, because the organisation has no bank details."""
    has_account = exists().where(
        OrganiserProfile.account_id == Event.organiser_id, OrganiserProfile.bank_account_number.is_not(None)
    )
    is_due = Application.status == AWAITING_PAYMENT
    return select().where(Application.event_id == Event.id, is_due, ~has_account, _is_not_over())


def _select_unpaid_fees() -> TaskQuery:
    return select().where(Application.event_id == Event.id, IS_FEE_OVERDUE_SQL, _is_not_over())


def _select_refused_refunds() -> TaskQuery:
    return select().where(
        Application.event_id == Event.id,
        StallFeeRefund.application_id == Application.id,
        StallFeeRefund.status == REFUND_REFUSED,
    )


def _select_owed_invoices() -> TaskQuery:
    """Invoices for which more was paid than they charge since their credit notes, also of cancelled events."""
    return _select_invoices(due_minor_sql() < 0)


def _select_overdue_invoices() -> TaskQuery:
    """Invoices that are still not paid. They can be due after the event, so they wait longer than fees."""
    return _select_invoices(is_overdue_sql())


def _select_invoices(condition: ColumnElement[bool]) -> TaskQuery:
    is_invoice = Invoice.organiser_id == Event.organiser_id, Invoice.event_id == Event.id, Invoice.kind == INVOICE
    return select().where(*is_invoice, condition)


def _select_low_stock() -> TaskQuery:
    return select().where(
        StockItem.event_id == Event.id, StockItem.is_low, StockItem.archived_at.is_(None), _is_not_over()
    )


def _select_conflicts() -> TaskQuery:
    return select().where(
        Admission.event_id == Event.id,
        Admission.conflict.is_not(None),
        Admission.undone_at.is_(None),
        Event.ends_at > func.now() - DAYS_TO_SETTLE,
    )


def _select_failed_mails() -> TaskQuery:
    return select().where(FailedMail.event_id == Event.id, FailedMail.failed_at > func.now() - DAYS_SHOWN)


def _select_undelivered_messages() -> TaskQuery:
    return select().where(
        Campaign.event_id == Event.id,
        Campaign.started_at > func.now() - DAYS_SHOWN,
        Recipient.campaign_id == Campaign.id,
        Recipient.event_id == Campaign.event_id,
        has_not_arrived(),
    )


def _select_unsettled_events() -> TaskQuery:
    is_recent = Event.ends_at > func.now() - DAYS_TO_SETTLE, Event.ends_at <= func.now()
    return select().where(*is_recent, Event.visibility != DRAFT, ~HAS_SETTLEMENT_SQL)


TASK_QUERIES: dict[str, tuple[str, Callable[[], TaskQuery]]] = {
    CANCELLED_GUESTS: (MESSAGES_WRITE, select_guests_to_write_to),
    CANCELLED_HOLDERS: (GUESTS_WRITE, select_holders_with_places),
    CANCELLED_STALLS: (MESSAGES_WRITE, select_stalls_to_write_to),
    CANCELLED_APPLICATIONS: (STALLS_DECIDE, select_waiting_applications),
    CANCELLED_SALES: (MONEY_READ, select_sold_types),
    CANCELLED_FEES: (MONEY_WRITE, select_fees_to_return),
    CANCELLED_INVOICES: (MONEY_WRITE, select_invoices_to_credit),
    CONFLICTS: (GATE_ADMIT, _select_conflicts),
    APPLICATIONS: (STALLS_DECIDE, _select_applications),
    DOCUMENTS: (STALLS_DECIDE, _select_new_documents),
    BANK_DETAILS: (MEMBERS_WRITE, _select_fees_without_account),
    REFUNDS: (MONEY_WRITE, _select_refused_refunds),
    OWED_BACK: (MONEY_WRITE, _select_owed_invoices),
    FEES: (MONEY_WRITE, _select_unpaid_fees),
    INVOICES: (MONEY_WRITE, _select_overdue_invoices),
    FAILED_MAILS: (MESSAGES_WRITE, _select_failed_mails),
    UNDELIVERED: (MESSAGES_WRITE, _select_undelivered_messages),
    LOW_STOCK: (STOCK_WRITE, _select_low_stock),
    PUBLISH: (EVENTS_WRITE, _select_drafts),
    SETTLEMENT: (MONEY_READ, _select_unsettled_events),
}
"""The permission and the query of each kind, the most urgent first."""
COUNTS: dict[str, ColumnElement[int]] = {
    CANCELLED_SALES: cast(func.sum(TicketType.sold), BigInteger),
    CANCELLED_HOLDERS: func.count(func.lower(AllocationBlock.holder_email).distinct()),
}
"""What is counted of a kind, if not the rows of its query."""


def may_do(caller: Caller, kind: str) -> bool:
    """Whether the caller may do tasks of this kind, at some event at least."""
    return bool(caller.for_permission(TASK_QUERIES[kind][0]).grant)


def list_tasks(
    caller: Caller, kinds: Sequence[str] = tuple(TASK_QUERIES), *, event_id: str | None = None
) -> list[Task]:
    """What waits for the caller, of these kinds: the most urgent kind first, then the next event.

    What a cancellation leaves waits until two weeks after the end of the event, but with an `event_id` until it is done.
    """
    statements = [_count_by_event(caller, kind, event_id) for kind in kinds if may_do(caller, kind)]
    if not statements:
        return []
    rows = db.session.execute(union_all(*statements)).all()
    order = list(TASK_QUERIES)
    return sorted(
        (Task(*row) for row in rows), key=lambda task: (order.index(task.kind), task.starts_at, task.event_id)
    )


def _count_by_event(caller: Caller, kind: str, event_id: str | None) -> Select[Any]:
    permission, build_query = TASK_QUERIES[kind]
    statement = (
        build_query()
        .add_columns(literal(kind), Event.id, Event.name, Event.starts_at, COUNTS.get(kind, func.count()))
        .where(owned(caller.for_permission(permission)))
        .group_by(Event.id)
    )
    if kind not in KINDS_AT_CANCELLED:
        statement = statement.where(Event.visibility != CANCELLED)
    if event_id is not None:
        return statement.where(Event.id == event_id)
    return statement.where(Event.ends_at > func.now() - DAYS_TO_SETTLE) if kind in CANCELLATION_KINDS else statement


def _is_not_over() -> ColumnElement[bool]:
    return Event.ends_at > func.now()
