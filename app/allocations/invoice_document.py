"""What an invoice or a credit note says, and the block, event, seller and buyer that it is made from.

A document is stored as JSON when it is issued, and never changed. Dates are stored as text, amounts as whole cents.
"""

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.models import Account, OrganiserProfile
from app.accounts.permissions import MONEY_WRITE
from app.accounts.queries import owner_id_sql
from app.allocations.models import AllocationBlock, DocumentJson
from app.allocations.states import CREDIT_NOTE, INVOICE
from app.core.formatting import format_time
from app.events import queries as events
from app.events.event_rows import belongs_to
from app.events.models import Event, TicketType

TITLES = {INVOICE: "Invoice", CREDIT_NOTE: "Credit note"}
# Increase it when the layout changes; documents of an earlier layout are drawn as before.
LAYOUT_VERSION = 1
ContextRow = Row[AllocationBlock, str, str, str, datetime, str, str, str, Account, str, datetime]
CONTEXT_QUERY = (
    select(
        AllocationBlock,
        Event.name,
        Event.venue,
        Event.city,
        Event.starts_at,
        Event.timezone,
        TicketType.name,
        Event.organiser_id,
        Account,
        OrganiserProfile.org_name,
        func.now(),
    )
    .join(Event, Event.id == AllocationBlock.event_id)
    .join(TicketType, belongs_to(AllocationBlock.ticket_type_id, TicketType))
    .join(Account, Account.id == owner_id_sql(Event.organiser_id))
    .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
)


@dataclass(frozen=True, kw_only=True)
class DocumentLine:
    """A line of the table; a discount or credit has a negative amount."""

    what: str
    amount_minor: int
    quantity: int | None = None
    unit_price_minor: int | None = None


@dataclass(frozen=True, kw_only=True)
class InvoiceDocument:
    """An invoice or a credit note. The first line of seller and buyer is their name."""

    kind: str
    number: str
    issued: str
    seller: list[str]
    buyer: list[str]
    facts: list[tuple[str, str]]
    lines: list[DocumentLine]
    vat_percent: float
    vat_minor: int
    total_minor: int
    currency: str = "NAD"
    notes: list[str]
    contact: str = ""
    layout: int = LAYOUT_VERSION

    @property
    def title(self) -> str:
        return TITLES[self.kind]

    def to_json(self) -> DocumentJson:
        return asdict(self)


@dataclass(frozen=True)
class InvoiceContext:
    """A block, and what its invoice says besides the money.

    `moment` is the database's time at the start of the transaction: the time of issue, which gives the printed date
    and the year of the number.
    """

    block: AllocationBlock
    organiser_id: str
    ticket_type: str
    seller: list[str]
    buyer: list[str]
    facts: list[tuple[str, str]]
    contact: str
    moment: datetime


def parse_document(data: DocumentJson) -> InvoiceDocument:
    """Return the document that `to_json` serialized."""
    facts = [(label, value) for label, value in data["facts"]]
    return InvoiceDocument(**{**data, "facts": facts, "lines": [DocumentLine(**line) for line in data["lines"]]})


def lock_block_for_invoice(
    session: Session, block_id: str, *, event_id: str | None = None, caller: Caller | None = None
) -> AllocationBlock | None:
    """Lock a block; return None if there is none, or if the caller may not issue its invoice.

    The rest is read in a second statement: a statement that waited for the lock sees joined rows as they were before.
    """
    statement = select(AllocationBlock).where(AllocationBlock.id == block_id)
    if caller is not None:
        statement = statement.join(Event, Event.id == AllocationBlock.event_id).where(
            AllocationBlock.event_id == event_id, events.owned(caller.for_permission(MONEY_WRITE))
        )
    return session.scalar(statement.with_for_update(of=AllocationBlock))


def load_invoice_context(session: Session, block_id: str) -> InvoiceContext:
    """Return the invoice data of a locked block."""
    statement = CONTEXT_QUERY.where(AllocationBlock.id == block_id).execution_options(populate_existing=True)
    return _build_invoice_context(session.execute(statement).one())


def _build_invoice_context(row: ContextRow) -> InvoiceContext:
    block, event, venue, city, starts_at, timezone, ticket_type, organiser_id, owner, org_name, now = row
    location = ", ".join(part for part in (venue, city) if part)
    facts = [
        ("Event", event),
        ("When", format_time(starts_at, timezone)),
        ("Where", location),
        ("Reference", " · ".join(part for part in (block.name, block.id) if part)),
    ]
    holder = [block.holder_organisation, block.holder_name, block.holder_email, block.holder_phone]
    return InvoiceContext(
        block=block,
        organiser_id=organiser_id,
        ticket_type=ticket_type,
        seller=_list_known_parts(org_name, owner.name, owner.email, owner.phone),
        buyer=_list_known_parts(*holder) or [block.name or "The holder of this block"],
        facts=facts,
        contact=owner.email,
        moment=now,
    )


def _list_known_parts(*parts: str | None) -> list[str]:
    """Return the parts that are known, each once."""
    return list(dict.fromkeys(part for part in parts if part))
