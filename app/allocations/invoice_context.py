"""The block, event, seller and buyer that an invoice or a credit note is made from."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.organisation_details import OrganisationDetails, load_organisation_details
from app.accounts.permissions import MONEY_WRITE
from app.accounts.queries import owner_id_sql
from app.allocations.models import AllocationBlock
from app.core.formatting import HOME, format_calendar_day, format_day, format_when
from app.core.languages import SOURCE_LANGUAGE, use_language
from app.events import queries as events
from app.events.event_rows import belongs_to
from app.events.models import Event, TicketType
from app.invoicing.documents import format_vat_number, list_known_lines

DAYS_TO_PAY = timedelta(days=14)
BUYER_REFERENCE = "Purchase order"
"""The label of the buyer's reference among the facts of an invoice."""
ContextRow = Row[AllocationBlock, str, str, str, datetime, datetime, str, str, str, Account, datetime]
CONTEXT_QUERY = (
    select(
        AllocationBlock,
        Event.name,
        Event.venue,
        Event.city,
        Event.starts_at,
        Event.ends_at,
        Event.timezone,
        TicketType.name,
        Event.organiser_id,
        Account,
        func.now(),
    )
    .join(Event, Event.id == AllocationBlock.event_id)
    .join(TicketType, belongs_to(AllocationBlock.ticket_type_id, TicketType))
    .join(Account, Account.id == owner_id_sql(Event.organiser_id))
)


@dataclass(frozen=True)
class InvoiceContext:
    """A block, and what its invoice says besides the money.

    `moment` is the database's time at the start of the transaction: the time of issue, which gives the printed date
    and the year of the number. `due` is the printed day on which the invoice is due: that of the organiser, or two
    weeks later, at the latest the day of the event.
    """

    block: AllocationBlock
    organiser_id: str
    organisation: OrganisationDetails
    ticket_type: str
    seller: list[str]
    buyer: list[str]
    facts: list[tuple[str, str]]
    contact: str
    due: str
    moment: datetime


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
    """Return the invoice data of a block, in English. To issue the invoice, lock the block before."""
    statement = CONTEXT_QUERY.where(AllocationBlock.id == block_id).execution_options(populate_existing=True)
    row = session.execute(statement).one()
    with use_language(SOURCE_LANGUAGE):
        return _build_invoice_context(row, load_organisation_details(row.organiser_id, session))


def _build_invoice_context(row: ContextRow, organisation: OrganisationDetails) -> InvoiceContext:
    block, event, venue, city, starts_at, ends_at, timezone, ticket_type, organiser_id, owner, now = row
    facts = [
        ("Event", event),
        ("When", format_when(starts_at, ends_at, timezone)),
        ("Where", ", ".join(part for part in (venue, city) if part)),
        ("Places for", block.name or ""),
        (BUYER_REFERENCE, block.buyer_reference or ""),
    ]
    contact = organisation.contact_email or owner.email
    return InvoiceContext(
        block=block,
        organiser_id=organiser_id,
        organisation=organisation,
        ticket_type=ticket_type,
        seller=list_known_lines(_in_one_line(organisation.name), organisation.address, contact),
        buyer=_list_buyer_lines(block),
        facts=[fact for fact in facts if fact[1]],
        contact=contact,
        due=_format_due_day(block.pay_by, now, starts_at),
        moment=now,
    )


def _format_due_day(pay_by: date | None, now: datetime, starts_at: datetime) -> str:
    if pay_by is not None:
        return format_calendar_day(max(pay_by, now.astimezone(ZoneInfo(HOME)).date()))
    return format_day(max(now, min(now + DAYS_TO_PAY, starts_at)), HOME)


def _in_one_line(name: str | None) -> str:
    """A name as it is printed: only addresses have lines."""
    return " ".join((name or "").split())


def _list_buyer_lines(block: AllocationBlock) -> list[str]:
    """Return the buyer with their address and VAT number. By default it is the holder, with their contact details."""
    who: list[str | None] = [_in_one_line(block.holder_organisation), _in_one_line(block.holder_name)]
    contact = [block.holder_email, block.holder_phone]
    if block.buyer_name:
        who, contact = [block.buyer_name], []
    name = list_known_lines(*who, *contact)[:1] or [block.name or "The holder of this block"]
    vat_line = format_vat_number(block.buyer_vat_number)
    return list_known_lines(*name, *who, block.buyer_address, *contact, vat_line)
