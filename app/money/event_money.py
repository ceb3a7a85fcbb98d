"""The money of an event: what was taken and what is open, each booked figure beside the ledger's.

Tickets sold elsewhere are not booked: their amounts are those of the imports. A payout of a merchant is not booked to an
event, so payouts are not in these figures.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import func, select, true

from app.accounts.caller import Caller
from app.allocations.models import Invoice
from app.allocations.open_invoices import list_uninvoiced_amounts
from app.allocations.queries import sum_payments
from app.applications.fee_books import FeeBooks, load_fee_books_by_event
from app.core.db import db
from app.core.transaction import snapshot
from app.events.event_rows import belongs_to
from app.events.models import Ticket, TicketType
from app.events.queries import check_is_over
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
    is open. The blocks that are not invoiced yet are in none of these figures."""

    invoices: int
    issued_minor: int
    credited_minor: int
    paid_minor: int
    open_minor: int
    owed_back_minor: int
    uninvoiced_blocks: int = 0
    uninvoiced_minor: int = 0


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

    @property
    def sold_minor(self) -> int:
        """The prices of the tickets that were sold elsewhere and kept."""
        return sum(row.sold_minor for row in self.tickets)

    @property
    def received_minor(self) -> int:
        """What came in for stall fees and blocks, and was kept."""
        return self.stall_fees.paid_minor + self.stall_fees.received_minor + self.block_invoices.paid_minor

    @property
    def kept_minor(self) -> int:
        """What came in for stall fees, blocks and the tickets that were sold elsewhere."""
        return self.received_minor + self.sold_minor

    @property
    def open_minor(self) -> int:
        """What is still to come in for stall fees and blocks."""
        return self.stall_fees.open_minor + self.block_invoices.open_minor


def load_event_money(caller: Caller, event_id: str) -> EventMoney:
    """The money of an event, all of the same moment. Raises NotFound."""
    return load_event_money_and_end(caller, event_id)[0]


def load_event_money_and_end(caller: Caller, event_id: str) -> tuple[EventMoney, bool]:
    """The money of an event, and whether the event is over, all of the same moment. Raises NotFound."""
    with snapshot():
        is_over = check_is_over(caller, event_id)
        return load_money_by_event([event_id])[event_id], is_over


def load_money_by_event(event_ids: Sequence[str]) -> dict[str, EventMoney]:
    """The money of each of these events, in a `snapshot()`, so that a payment is in all figures or in none."""
    fees, invoices = load_fee_books_by_event(event_ids), _load_block_invoices(event_ids)
    tickets, ledger = _list_ticket_takings(event_ids), _load_ledger_sums(event_ids)
    return {
        id: EventMoney(id, tickets[id], invoices[id], fees[id], _reconcile(fees[id], invoices[id], ledger[id]))
        for id in event_ids
    }


def _reconcile(fees: FeeBooks, invoices: BlockInvoices, ledger: Mapping[str, int]) -> list[ReconciledFigure]:
    booked = {
        STALL_FEE: fees.paid_minor + fees.received_minor + fees.refunded_minor,
        STALL_FEE_REFUND: -fees.refunded_minor,
        BLOCK_INVOICE: invoices.paid_minor,
    }
    names = dict.fromkeys((*booked, *ledger))
    return [ReconciledFigure(name, booked.get(name, 0), ledger.get(name, 0)) for name in names]


def _list_ticket_takings(event_ids: Sequence[str]) -> Mapping[str, list[TicketTakings]]:
    amounts = [
        amount
        for status in ("sold", "refunded")
        for amount in (
            func.count().filter(Ticket.status == status),
            func.sum(Ticket.price_minor).filter(Ticket.status == status),
        )
    ]
    tickets = (
        select(*(amount.label(f"amount_{number}") for number, amount in enumerate(amounts)))
        .where(belongs_to(Ticket.ticket_type_id, TicketType), Ticket.status.in_(("sold", "refunded")))
        .lateral("tickets")
    )
    rows = db.session.execute(
        select(TicketType.event_id, TicketType.id, TicketType.name, *(func.coalesce(it, 0) for it in tickets.c))
        .join(tickets, true())
        .where(TicketType.event_id.in_(event_ids))
        .order_by(TicketType.position)
    )
    takings = defaultdict(list)
    for event_id, id, name, *figures in rows:
        takings[event_id].append(TicketTakings(id, name, *map(int, figures)))
    return takings


def _load_block_invoices(event_ids: Sequence[str]) -> Mapping[str, BlockInvoices]:
    blocks = (
        select(
            Invoice.event_id,
            func.sum(Invoice.total_minor).filter(Invoice.kind == INVOICE).label("issued"),
            func.coalesce(-func.sum(Invoice.total_minor).filter(Invoice.kind != INVOICE), 0).label("credited"),
            func.sum(sum_payments()).label("paid"),
        )
        .select_from(Invoice)
        .where(Invoice.event_id.in_(event_ids))
        .group_by(Invoice.event_id, Invoice.block_id)
        .subquery()
    )
    columns = blocks.c
    due = columns.issued - columns.credited - columns.paid
    sums = (columns.issued, columns.credited, columns.paid, func.greatest(due, 0), func.greatest(-due, 0))
    query = select(columns.event_id, func.count(), *map(func.sum, sums)).group_by(columns.event_id)
    invoices = {id: BlockInvoices(*map(int, amounts)) for id, *amounts in db.session.execute(query)}
    for id, amounts in list_uninvoiced_amounts(event_ids).items():
        known = invoices.get(id, BlockInvoices(0, 0, 0, 0, 0, 0))
        invoices[id] = replace(known, uninvoiced_blocks=len(amounts), uninvoiced_minor=sum(amounts))
    return defaultdict(lambda: BlockInvoices(0, 0, 0, 0, 0, 0), invoices)


def _load_ledger_sums(event_ids: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """What the ledger's entries of each event say the organisation got, by kind; a refund is below zero."""
    rows = db.session.execute(
        select(LedgerTransaction.event_id, LedgerTransaction.kind, func.sum(LedgerEntry.amount_minor))
        .join(LedgerEntry, LedgerEntry.transaction_id == LedgerTransaction.id)
        .where(LedgerTransaction.event_id.in_(event_ids), LedgerEntry.account == ORGANISATION)
        .group_by(LedgerTransaction.event_id, LedgerTransaction.kind)
        .order_by(LedgerTransaction.kind)
    )
    sums: dict[str, dict[str, int]] = defaultdict(dict)
    for event_id, kind, amount in rows:
        sums[str(event_id)][kind] = int(amount)
    return sums
