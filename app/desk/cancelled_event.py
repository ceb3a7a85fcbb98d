"""What the cancellation of an event affects, and what is left to do after it."""

from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Select, and_, cast, exists, func, or_, select, true
from sqlalchemy.dialects.postgresql import array
from sqlalchemy.orm import aliased

from app.allocations.models import AllocationBlock, Invoice
from app.allocations.open_invoices import charged_minor_sql
from app.allocations.queries import sum_payments
from app.allocations.states import OPEN
from app.applications.models import Application, StallFeeRefund
from app.applications.queries import FEE_STATE_SQL, PAID_FEE
from app.applications.states import ACCEPTED_STATES, ACTIVATED, SUBMITTED, WAITLISTED
from app.audit.actions import Action
from app.audit.models import AuditEntry
from app.campaigns.filtered_people_sql import APPLICANTS, GUESTS, STALLHOLDERS, TICKET_HOLDERS
from app.campaigns.models import Campaign
from app.campaigns.states import HOLDERS, SCHEDULED
from app.core.db import db
from app.events.event_rows import belongs_to
from app.events.models import Event, TicketType
from app.events.visibility import CANCELLED
from app.invoicing.documents import CREDIT_NOTE, INVOICE

APPROVED_STATES, WAITING_STATES = (*ACCEPTED_STATES, ACTIVATED), (SUBMITTED, WAITLISTED)
GUEST_ROLES, STALL_ROLES = (TICKET_HOLDERS, GUESTS), (STALLHOLDERS, APPLICANTS)
CHARGED_SQL = charged_minor_sql()
CANCELLED_AT_SQL = func.coalesce(
    select(func.max(AuditEntry.at))
    .where(AuditEntry.event_id == Event.id, AuditEntry.action == Action.EVENT_CANCELLED)
    .scalar_subquery(),
    Event.updated_at,
)


class CancellationEffects(NamedTuple):
    """What an event has but tickets: stalls approved, applicants that wait for a decision, fees and invoices paid with
    their sums in cents, invoices not paid in full with what was paid of them, messages to be sent.
    """

    stalls: int
    waiting: int
    paid_fees: int
    paid_fees_minor: int
    open_invoices: int
    partly_paid_minor: int
    paid_invoices: int
    paid_invoices_minor: int
    scheduled_messages: int


def load_cancellation_effects(event_id: str) -> CancellationEffects:
    """What the cancellation of an event affects, but its tickets. The caller may read the event and its money."""
    applications = (
        select(
            func.count().filter(Application.status.in_(APPROVED_STATES)),
            func.count().filter(Application.status.in_(WAITING_STATES)),
            func.count().filter(FEE_STATE_SQL == PAID_FEE),
            cast(func.coalesce(func.sum(Application.amount_minor).filter(FEE_STATE_SQL == PAID_FEE), 0), BigInteger),
        )
        .where(Application.event_id == event_id)
        .subquery()
    )
    is_open = sum_payments() < CHARGED_SQL
    is_paid = and_(sum_payments() > 0, sum_payments() >= CHARGED_SQL)
    invoices = (
        select(
            func.count().filter(is_open),
            cast(func.coalesce(func.sum(sum_payments()).filter(is_open), 0), BigInteger),
            func.count().filter(is_paid),
            cast(func.coalesce(func.sum(sum_payments()).filter(is_paid), 0), BigInteger),
        )
        .where(Invoice.event_id == event_id, Invoice.kind == INVOICE)
        .subquery()
    )
    messages = select(func.count()).where(Campaign.event_id == event_id, Campaign.status == SCHEDULED).scalar_subquery()
    statement = select(*applications.c, *invoices.c, messages).select_from(applications.join(invoices, true()))
    return CancellationEffects._make(db.session.execute(statement).one())


def select_guests_to_write_to() -> Select[Any]:
    """The cancelled events with ticket holders or guests to whom nobody has written since."""
    has_people = exists().where(
        TicketType.event_id == Event.id, TicketType.sold + TicketType.claimed + TicketType.admitted > 0
    )
    return _select_cancelled(has_people, ~_is_written_to(GUEST_ROLES))


def select_holders_with_places() -> Select[Any]:
    """The blocks of cancelled events with unused places whose holder has an address, and no credit note since."""
    credit_note = exists().where(
        belongs_to(Invoice.block_id, AllocationBlock),
        Invoice.kind == CREDIT_NOTE,
        Invoice.issued_at >= CANCELLED_AT_SQL,
    )
    has_holder = AllocationBlock.event_id == Event.id, AllocationBlock.holder_email.is_not(None)
    return _select_cancelled(*has_holder, AllocationBlock.status == OPEN, ~credit_note)


def select_stalls_to_write_to() -> Select[Any]:
    """The cancelled events with approved stalls or waiting applicants to whom nobody has written since."""
    states = (*APPROVED_STATES, *WAITING_STATES)
    has_stalls = exists().where(Application.event_id == Event.id, Application.status.in_(states))
    return _select_cancelled(has_stalls, ~_is_written_to(STALL_ROLES))


def select_waiting_applications() -> Select[Any]:
    """The applications of cancelled events that wait for a decision, unless the applicants were written to since."""
    is_waiting = Application.event_id == Event.id, Application.status.in_(WAITING_STATES)
    return _select_cancelled(*is_waiting, ~_is_written_to((APPLICANTS,)))


def select_sold_types() -> Select[Any]:
    """The ticket types of cancelled events of which tickets are sold. The shop pays them back, and an import says so."""
    return _select_cancelled(TicketType.event_id == Event.id, TicketType.sold > 0)


def select_fees_to_return() -> Select[Any]:
    """The paid stall fees of cancelled events of which nothing was sent back."""
    is_sent_back = exists().where(StallFeeRefund.application_id == Application.id)
    return _select_cancelled(Application.event_id == Event.id, FEE_STATE_SQL == PAID_FEE, ~is_sent_back)


def select_invoices_to_credit() -> Select[Any]:
    """The invoices of cancelled events that are not credited in full."""
    return _select_cancelled(Invoice.event_id == Event.id, Invoice.kind == INVOICE, CHARGED_SQL > 0)


def _select_cancelled(*conditions: ColumnElement[bool]) -> Select[Any]:
    return select().where(Event.visibility == CANCELLED, *conditions)


def _is_written_to(roles: tuple[str, ...]) -> ColumnElement[bool]:
    """Whether a message to people with one of these roles was sent since the event is cancelled.

    One that was scheduled before says nothing about it.
    """
    sending = aliased(AuditEntry)
    is_sent_since = exists().where(
        sending.event_id == Event.id,
        sending.action == Action.CAMPAIGN_SENT,
        sending.subject_id == Campaign.id,
        sending.at >= CANCELLED_AT_SQL,
    )
    is_for_roles = Campaign.audience_filter["roles"].has_any(array(roles))
    return exists().where(
        Campaign.event_id == Event.id,
        Campaign.started_at >= CANCELLED_AT_SQL,
        is_sent_since,
        or_(is_for_roles, Campaign.audience_type == HOLDERS) if roles == GUEST_ROLES else is_for_roles,
    )
