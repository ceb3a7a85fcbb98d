"""Reads of blocks, and their locks.

All transactions lock in the same order, so they do not deadlock: the block (of two blocks, the smaller id first), its
slots, the ticket type, the day's figures. A change first locks the block in a statement of its own, because a statement
that has waited for a lock sees the locked row as it is now, but other rows as they were before. A second statement of
`sql.py` then changes everything. Under the block's lock only the gate changes slots of the block.

Admission takes a claimed slot without the block's lock, so scanners never wait for a block. A statement that takes a
claimed slot away therefore names the status (`AND status = …`), and its caller checks that a row came back.
"""

from collections.abc import Mapping
from typing import Any, TypedDict

from sqlalchemy import ColumnElement, RowMapping, Select, and_, bindparam, case, func, select
from sqlalchemy.orm import Session, aliased

from app.accounts.caller import Caller
from app.accounts.models import Account, OrganiserProfile
from app.accounts.organisation_details import contact_sql
from app.accounts.outgoing_mail import list_sender_columns
from app.accounts.queries import owner_id_sql
from app.allocations import states
from app.allocations.models import AllocationBlock, AllocationSlot, Invoice, InvoicePayment
from app.allocations.pricing import CostLine, PromoCode, build_quote
from app.core.db import ObjectId, db, fetch_mapping
from app.core.errors import NotFound
from app.events import queries as events
from app.events.capacity import capacity_use
from app.events.event_rows import belongs_to
from app.events.models import Event, TicketAdmission, TicketType
from app.events.queries import owned
from app.events.visibility import ARCHIVED, CANCELLED
from app.invoicing.documents import CREDIT_NOTE, INVOICE

BLOCK_ID = AllocationBlock.id.expression


def block_name_sql() -> ColumnElement[Any]:
    """What people call a block: its name, else its holder."""
    return func.coalesce(AllocationBlock.name, AllocationBlock.holder_organisation, AllocationBlock.holder_name)


BLOCK_SORTS: dict[str, ColumnElement[Any]] = {
    "createdAt": AllocationBlock.created_at.expression,
    "name": func.coalesce(AllocationBlock.name, ""),
    "quantity": AllocationBlock.quantity.expression,
    "available": AllocationBlock.available.expression,
}
"""What lists are sorted by."""
BlocksQuery = Select[*tuple[object, ...]]
BlockRow = Mapping[Any, Any]
"""A row of `blocks_query`: the block's columns by name, and those of BLOCK_COLUMNS."""
BlockTotals = RowMapping
"""The number of blocks, and the sums of their counters."""
ADMITTED_COUNT = (
    select(func.coalesce(func.sum(TicketAdmission.count), 0))
    .where(belongs_to(TicketAdmission.block_id, AllocationBlock))
    .correlate(AllocationBlock)
    .scalar_subquery()
)
COUNTERS: tuple[tuple[str, ColumnElement[int]], ...] = (
    ("quantity", AllocationBlock.quantity.expression),
    ("held", AllocationBlock.held.expression),
    ("available", AllocationBlock.available.expression),
    ("invited", AllocationBlock.invited.expression),
    ("claimed", AllocationBlock.claimed.expression - ADMITTED_COUNT),
    ("admitted", ADMITTED_COUNT),
    ("revoked", AllocationBlock.revoked.expression),
    ("released", AllocationBlock.released.expression),
)
SUM_COLUMNS = tuple(func.coalesce(func.sum(column), 0).label(name) for name, column in COUNTERS)
COMPUTED_COLUMNS = ("claimed", "admitted", "version")
LINK_END_COLUMNS = (
    Event.visibility.in_((ARCHIVED, CANCELLED)).label("event_cancelled"),
    (Event.ends_at <= func.now()).label("event_over"),
    (AllocationBlock.release_at <= func.now()).label("release_time_passed"),
)
"""Each of them ends all links and codes of a block."""
BLOCK_COLUMNS = (
    *(column for column in AllocationBlock.__table__.columns if column.name not in COMPUTED_COLUMNS),
    (AllocationBlock.claimed - ADMITTED_COUNT).label("claimed"),
    ADMITTED_COUNT.label("admitted"),
    (AllocationBlock.version + ADMITTED_COUNT).label("version"),
    TicketType.name.label("ticket_type_name"),
    TicketType.valid_from,
    TicketType.valid_until,
    Event.name.label("event_name"),
    Event.timezone,
    Event.starts_at,
    Event.ends_at,
    Event.venue,
    Event.city,
    func.coalesce(OrganiserProfile.org_name, Account.name).label("organiser_name"),
    contact_sql(Event.organiser_id).label("contact_email"),
    *LINK_END_COLUMNS,
    *list_sender_columns(Event.organiser_id),
    (AllocationBlock.open_expires_at <= func.now()).label("open_expired"),
)
ID_PARAM = bindparam("id_param", type_=ObjectId, required=False)


class BlockQuote(TypedDict):
    """The price of a block that is not created yet; `fits` if the public has that many places. VAT is in the total."""

    ticket_type_id: str
    quantity: int
    currency: str
    unit_price_minor: int
    lines: tuple[CostLine, ...]
    subtotal_minor: int
    discount_minor: int
    vat_minor: int
    total_minor: int
    vat_percent: float
    available: int
    fits: bool
    promo_code: PromoCode | None


def blocks_query() -> BlocksQuery:
    """Select blocks with their ticket type, event, organiser, and whether their links have ended."""
    return (
        select(*BLOCK_COLUMNS)
        .select_from(AllocationBlock)
        .join(TicketType, belongs_to(AllocationBlock.ticket_type_id, TicketType))
        .join(Event, Event.id == AllocationBlock.event_id)
        .join(Account, Account.id == owner_id_sql(Event.organiser_id))
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
    )


def _owned_blocks_query(caller: Caller, event_id: str) -> BlocksQuery:
    """Select the blocks of an event that the caller may read, each with a summary of its invoice."""
    return (
        blocks_query()
        .where(AllocationBlock.event_id == event_id, owned(caller))
        .add_columns(_build_invoice_summary().label("invoice"))
    )


def owned_block(caller: Caller, event_id: str, block_id: str) -> ColumnElement[bool]:
    """The condition that a block belongs to this event, and the event to the caller. The query joins the event."""
    return and_(AllocationBlock.id == block_id, AllocationBlock.event_id == event_id, owned(caller))


def list_blocks_query(
    caller: Caller, event_id: str, *, status: str | None = None, kind: str | None = None, ticket_type_id: str = ""
) -> BlocksQuery:
    """Select the blocks of an event. Raises NotFound."""
    _check_event_readable(caller, event_id)
    conditions = _build_block_conditions(status=status, kind=kind, ticket_type_id=ticket_type_id)
    return _owned_blocks_query(caller, event_id).where(*conditions)


def sum_block_counters(
    caller: Caller, event_id: str, *, status: str | None = None, kind: str | None = None, ticket_type_id: str = ""
) -> BlockTotals:
    """Return the sums of the counters of the same blocks, and their number."""
    conditions = _build_block_conditions(status=status, kind=kind, ticket_type_id=ticket_type_id)
    statement = (
        select(func.count().label("blocks"), *SUM_COLUMNS)
        .select_from(AllocationBlock)
        .join(Event, Event.id == AllocationBlock.event_id)
        .where(AllocationBlock.event_id == event_id, owned(caller), *conditions)
    )
    return db.session.execute(statement).mappings().one()


def _build_block_conditions(**filters: str | None) -> list[ColumnElement[bool]]:
    return [getattr(AllocationBlock, name) == value for name, value in filters.items() if value]


def _check_event_readable(caller: Caller, event_id: str) -> None:
    """Raises NotFound if the caller may not read the event."""
    if db.session.scalar(select(Event.id).where(Event.id == event_id, owned(caller))) is None:
        raise NotFound()


def get_block(caller: Caller, event_id: str, block_id: str) -> BlockRow:
    """Return a block. Raises NotFound."""
    statement = _owned_blocks_query(caller, event_id).where(AllocationBlock.id == block_id)
    row = db.session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def find_block(condition: ColumnElement[bool], *columns: ColumnElement[Any]) -> RowMapping | None:
    """The block that meets a condition, with these columns too, without a lock."""
    return db.session.execute(blocks_query().add_columns(*columns).where(condition)).mappings().first()


def lock_block(session: Session, caller: Caller, event_id: str, block_id: str) -> RowMapping:
    """Lock a block of the caller. Raises NotFound."""
    statement = _with_block_lock(blocks_query().where(owned_block(caller, event_id, block_id)))
    row = session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def lock_block_by_id(block_id: str) -> BlockRow:
    """Lock the block of a link, or of a job, for the open transaction. Raises NotFound."""
    return _lock_block_by(LOCK_BLOCK_BY_ID, block_id)


def lock_block_of_slot(slot_id: str) -> BlockRow:
    """Lock the block that a slot belongs to, for the open transaction. Raises NotFound."""
    return _lock_block_by(LOCK_BLOCK_BY_SLOT_ID, slot_id)


def lock_two_blocks(session: Session, caller: Caller, event_id: str, ids: tuple[str, str]) -> dict[str, RowMapping]:
    """Lock two blocks of one event, in the order of their ids. Raises NotFound."""
    statement = (
        blocks_query()
        .where(AllocationBlock.event_id == event_id, owned(caller), AllocationBlock.id.in_(ids))
        .order_by(AllocationBlock.id)
    )
    blocks = {row["id"]: row for row in session.execute(_with_block_lock(statement)).mappings()}
    if set(ids) - blocks.keys():
        raise NotFound()
    return blocks


def _lock_block_by(statement: BlocksQuery, value: str) -> BlockRow:
    row = fetch_mapping(statement, {"id_param": value})
    if row is None:
        raise NotFound()
    return row


def _with_block_lock(statement: BlocksQuery) -> BlocksQuery:
    """FOR NO KEY UPDATE, which does not stop other rows from referring to the block."""
    return statement.with_for_update(of=AllocationBlock, key_share=True)


def _build_invoice_summary() -> ColumnElement[Any]:
    """Return a column with a block's invoice as JSON `{number, status, total_minor, paid_minor, due_minor}`; null if none is issued.

    The status is `credited` if there is a credit note. Due is the total less the credit notes and the payments.
    """
    document = aliased(Invoice)
    has_credit_note = (
        select(document.id)
        .where(
            document.block_id == Invoice.block_id,
            document.event_id == Invoice.event_id,
            document.kind == CREDIT_NOTE,
        )
        .exists()
    )
    charged_minor = (
        select(func.sum(document.total_minor))
        .where(document.block_id == Invoice.block_id, document.event_id == Invoice.event_id)
        .scalar_subquery()
    )
    summary_sql: ColumnElement[Any] = (
        select(
            func.json_build_object(
                "number",
                Invoice.number,
                "status",
                case((has_credit_note, states.CREDITED), else_=states.ISSUED),
                "total_minor",
                Invoice.total_minor,
                "paid_minor",
                sum_payments(),
                "due_minor",
                charged_minor - sum_payments(),
            )
        )
        .where(belongs_to(Invoice.block_id, AllocationBlock), Invoice.kind == INVOICE)
        .scalar_subquery()
    )
    return summary_sql


def sum_payments() -> ColumnElement[int]:
    """Return what was paid of an Invoice, in cents, as a subquery; 0 for credit notes."""
    amount = func.coalesce(func.sum(InvoicePayment.amount_minor), 0)
    return select(amount).where(belongs_to(InvoicePayment.invoice_id, Invoice)).scalar_subquery()


def has_invoice(session: Session, *block_ids: str) -> bool:
    """Return whether one of these locked blocks has an invoice."""
    statement = select(Invoice.id).where(Invoice.block_id.in_(block_ids), Invoice.kind == INVOICE)
    return session.scalar(statement.limit(1)) is not None


def slot_holders_sql(event_sql: str) -> str:
    """Return SQL of `id, email, name, phone` of every claimed or admitted slot of an event."""
    return f"""
        SELECT s.id, s.email COLLATE "default" AS email, s.name, s.phone FROM allocation_slot s
         WHERE s.event_id = {event_sql} AND s.claimed_at IS NOT NULL AND s.ended_at IS NULL"""


def calculate_quote(
    caller: Caller,
    event_id: str,
    *,
    ticket_type_id: str,
    quantity: int,
    unit_price_minor: int | None = None,
    promo_code: str | None = None,
    **_: object,
) -> BlockQuote:
    """Return what a block would cost, and whether that many places are free. Raises NotFound, ValidationFailed."""
    event = events.get_event(caller, event_id)
    quote = build_quote(
        event,
        ticket_type_id=ticket_type_id,
        quantity=quantity,
        unit_price_minor=unit_price_minor,
        promo_code=promo_code,
    )
    cost = quote.cost
    available = capacity_use(event).available(quote.ticket_type.public)
    return {
        "ticket_type_id": ticket_type_id,
        "quantity": quantity,
        "currency": "NAD",
        "unit_price_minor": quote.unit_price_minor,
        "lines": cost.lines,
        "subtotal_minor": cost.subtotal_minor,
        "discount_minor": cost.discount_minor,
        "vat_minor": cost.vat_minor,
        "total_minor": cost.total_minor,
        "vat_percent": cost.vat_percent,
        "available": available,
        "fits": quantity <= available,
        "promo_code": quote.promo_code,
    }


# Built once: everybody who waits for the lock also waits for the compilation of this statement.
LOCK_BLOCK_BY_ID = _with_block_lock(blocks_query().where(AllocationBlock.id == ID_PARAM))
LOCK_BLOCK_BY_SLOT_ID = _with_block_lock(
    blocks_query().where(
        AllocationBlock.id == select(AllocationSlot.block_id).where(AllocationSlot.id == ID_PARAM).scalar_subquery()
    )
)
