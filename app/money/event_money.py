"""The money of an event: what was taken and what is open, each booked figure beside the ledger's.

Tickets sold elsewhere are not booked: their amounts are those of the imports. A payout of a merchant is not booked to an
event, so payouts are not in these figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.allocations.models import Invoice, InvoicePayment
from app.applications.fee_books import FeeBooks, load_fee_books
from app.core.db import db
from app.events.event_rows import belongs_to
from app.events.models import Ticket, TicketType
from app.events.queries import get_event
from app.invoicing.documents import INVOICE
from app.ledger.models import BLOCK_INVOICE, ORGANISATION, STALL_FEE, STALL_FEE_REFUND, LedgerEntry, LedgerTransaction


@dataclass(frozen=True)
class TicketTakings:
    """The tickets of a type that were sold elsewhere, and those that were refunded there; amounts in cents."""

    ticket_type_id: str
    ticket_type: str
    sold: int
    sold_minor: int
    refunded: int
    refunded_minor: int


@dataclass(frozen=True)
class BlockInvoices:
    """The invoices of an event's blocks, in cents. Issued less credited is what is paid, less what is owed back, and what
    is open."""

    invoices: int
    issued_minor: int
    credited_minor: int
    paid_minor: int
    open_minor: int
    owed_back_minor: int


@dataclass(frozen=True)
class ReconciledFigure:
    """A figure of the books beside the ledger's, in cents."""

    figure: str
    booked_minor: int
    ledger_minor: int

    @property
    def difference_minor(self) -> int:
        return self.booked_minor - self.ledger_minor


@dataclass(frozen=True)
class EventMoney:
    """The money of an event."""

    event_id: str
    tickets: Sequence[TicketTakings]
    block_invoices: BlockInvoices
    stall_fees: FeeBooks
    reconciliation: Sequence[ReconciledFigure]
    currency: str = "NAD"

    @property
    def reconciled(self) -> bool:
        return not any(figure.difference_minor for figure in self.reconciliation)


def load_event_money(caller: Caller, event_id: str) -> EventMoney:
    """The money of an event. Raises NotFound."""
    get_event(caller, event_id)
    stall_fees, invoices = load_fee_books(caller, event_id), _load_block_invoices(event_id)
    booked = {
        STALL_FEE: stall_fees.paid_minor + stall_fees.received_minor + stall_fees.refunded_minor,
        STALL_FEE_REFUND: -stall_fees.refunded_minor,
        BLOCK_INVOICE: invoices.paid_minor,
    }
    ledger = _load_ledger_sums(event_id)
    names = dict.fromkeys((*booked, *ledger))
    reconciliation = [ReconciledFigure(name, booked.get(name, 0), ledger.get(name, 0)) for name in names]
    return EventMoney(event_id, _list_ticket_takings(event_id), invoices, stall_fees, reconciliation)


def _list_ticket_takings(event_id: str) -> list[TicketTakings]:
    sums = [
        value
        for status in ("sold", "refunded")
        for value in (
            func.count(Ticket.id).filter(Ticket.status == status),
            func.coalesce(func.sum(Ticket.price_minor).filter(Ticket.status == status), 0),
        )
    ]
    rows = db.session.execute(
        select(TicketType.id, TicketType.name, *sums)
        .outerjoin(Ticket, belongs_to(Ticket.ticket_type_id, TicketType))
        .where(TicketType.event_id == event_id)
        .group_by(TicketType.event_id, TicketType.id)
        .order_by(TicketType.position)
    )
    return [TicketTakings(id, name, *map(int, amounts)) for id, name, *amounts in rows]


def _load_block_invoices(event_id: str) -> BlockInvoices:
    blocks = (
        select(
            func.sum(Invoice.total_minor).filter(Invoice.kind == INVOICE).label("issued"),
            func.coalesce(-func.sum(Invoice.total_minor).filter(Invoice.kind != INVOICE), 0).label("credited"),
            func.coalesce(func.sum(InvoicePayment.amount_minor), 0).label("paid"),
        )
        .select_from(Invoice)
        .outerjoin(InvoicePayment, belongs_to(InvoicePayment.invoice_id, Invoice))
        .where(Invoice.event_id == event_id)
        .group_by(Invoice.block_id)
        .subquery()
    )
    columns = blocks.c
    due = columns.issued - columns.credited - columns.paid
    sums = (columns.issued, columns.credited, columns.paid, func.greatest(due, 0), func.greatest(-due, 0))
    row = db.session.execute(select(func.count(), *(func.coalesce(func.sum(value), 0) for value in sums))).one()
    return BlockInvoices(*map(int, row))


def _load_ledger_sums(event_id: str) -> dict[str, int]:
    """What the ledger's entries of the event say the organisation got, by kind; a refund is below zero."""
    rows = db.session.execute(
        select(LedgerTransaction.kind, func.sum(LedgerEntry.amount_minor))
        .join(LedgerEntry, LedgerEntry.transaction_id == LedgerTransaction.id)
        .where(LedgerTransaction.event_id == event_id, LedgerEntry.account == ORGANISATION)
        .group_by(LedgerTransaction.kind)
        .order_by(LedgerTransaction.kind)
    )
    return {kind: int(amount) for kind, amount in rows}
