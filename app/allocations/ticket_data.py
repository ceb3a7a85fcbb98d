"""The data of tickets, formatted for emails, pages and PDFs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, or_, select

from app.accounts.models import Account, OrganiserProfile
from app.accounts.organisation_details import contact_sql
from app.accounts.queries import owner_id_sql
from app.allocations import states
from app.allocations.links import build_url_prefix, encode_token
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.queries import LINK_END_COLUMNS
from app.core.db import db
from app.core.file_names import build_file_name
from app.core.formatting import format_time
from app.events.calendar_file import build_calendar_file
from app.events.event_rows import belongs_to
from app.events.models import Event, TicketType
from app.events.visit import VISIT_COLUMNS, Visit, build_visit

UNNAMED_HOLDER = "Bearer of this ticket"
VALID_TICKET_STATES = (states.CLAIMED, states.ADMITTED)
TICKET_COLUMNS = (
    AllocationSlot.id,
    AllocationSlot.code,
    AllocationSlot.name,
    AllocationSlot.email,
    AllocationSlot.delivery,
    AllocationSlot.status,
    AllocationSlot.generation,
    AllocationSlot.party_size,
    AllocationSlot.language,
    AllocationBlock.name.label("block"),
    AllocationBlock.holder_name,
    AllocationBlock.holder_organisation,
    AllocationBlock.release_at,
    AllocationBlock.guests_may_pass_on,
    AllocationBlock.guests_may_give_back,
    TicketType.name.label("kind"),
    *VISIT_COLUMNS,
    OrganiserProfile.org_name,
    Event.organiser_id,
    Account.name.label("organiser_name"),
    contact_sql(Event.organiser_id).label("contact"),
    *LINK_END_COLUMNS,
)


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """The ticket of one slot. The gate scans or types `code`; `party` is how many slots were claimed together.

    `closed` is whether its claim link has ended with the event or the block. `may_pass_on` and `may_give_back` are what
    the guest may do with it now. `when` and `until` are in the language in use.
    """

    slot_id: str
    code: str
    name: str
    email: str | None
    delivery: str | None
    status: str
    generation: int
    party: int
    visit: Visit
    kind: str
    block: str
    host: str
    organiser: str
    organiser_id: str
    contact: str
    release_at: datetime | None = None
    language: str | None = None
    closed: bool = False
    may_pass_on: bool = False
    may_give_back: bool = False

    @property
    def event(self) -> str:
        return self.visit.event_name

    @property
    def when(self) -> str:
        return self.visit.when

    @property
    def where(self) -> str:
        return self.visit.place

    @property
    def until(self) -> str:
        return format_time(self.release_at, self.visit.timezone) if self.release_at else ""

    def build_calendar_file(self) -> bytes:
        """Return the calendar file of the event."""
        return build_calendar_file(self.visit.build_appointment(organiser=self.organiser, contact=self.contact))

    @property
    def link_token(self) -> str:
        """The token of the ticket's link. Who has it has the ticket."""
        return encode_token("ticket", self.slot_id, self.generation)

    @property
    def ticket_url(self) -> str:
        return f"{build_url_prefix('ticket')}{self.link_token}"

    @property
    def pdf_name(self) -> str:
        """The name of the PDF, after event and guest: `windhoek-lights-anna-weber.pdf`."""
        guest = "" if self.name == UNNAMED_HOLDER else self.name
        return build_file_name(self.event, guest, extension="pdf", default="ticket")

    @property
    def calendar_name(self) -> str:
        return build_file_name(self.event, extension="ics", default="event")


def load_tickets(condition: ColumnElement[bool]) -> list[Ticket]:
    """Return the tickets of the slots that meet a condition, in the order of their ids."""
    rows = db.session.execute(
        select(*TICKET_COLUMNS)
        .select_from(AllocationSlot)
        .join(AllocationBlock, belongs_to(AllocationSlot.block_id, AllocationBlock))
        .join(TicketType, belongs_to(AllocationSlot.ticket_type_id, TicketType))
        .join(Event, Event.id == AllocationSlot.event_id)
        .join(Account, Account.id == owner_id_sql(Event.organiser_id))
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
        .where(condition)
        .order_by(AllocationSlot.id)
    )
    return [_build_ticket(row) for row in rows]


def load_party_tickets(slot_id: str, generation: int | None = None) -> list[Ticket]:
    """Return the claimed and admitted tickets of a party, of which `slot_id` is the first slot.

    With the `generation` of the claim, without slots that another guest has by now.
    """
    same_party = and_(AllocationSlot.party_id == slot_id, AllocationSlot.party_size > 1)
    tickets = load_tickets(or_(AllocationSlot.id == slot_id, same_party))
    return [
        ticket for ticket in tickets if ticket.status in VALID_TICKET_STATES and generation in (None, ticket.generation)
    ]


def _build_ticket(row: Row[*tuple[Any, ...]]) -> Ticket:
    event_closed = bool(row.event_cancelled or row.event_over)
    closed = event_closed or bool(row.release_time_passed)
    is_claimed = row.status == states.CLAIMED
    return Ticket(
        slot_id=row.id,
        code=row.code or row.id,
        name=row.name or UNNAMED_HOLDER,
        email=row.email,
        delivery=row.delivery,
        status=row.status,
        generation=row.generation,
        party=row.party_size,
        visit=build_visit(row),
        kind=row.kind,
        block=row.block or "",
        host=row.holder_organisation or row.holder_name or "",
        organiser=row.org_name or row.organiser_name,
        organiser_id=row.organiser_id,
        contact=row.contact,
        release_at=row.release_at,
        language=row.language,
        closed=closed,
        may_pass_on=is_claimed and row.guests_may_pass_on and not event_closed,
        may_give_back=is_claimed and row.guests_may_give_back and not closed,
    )
