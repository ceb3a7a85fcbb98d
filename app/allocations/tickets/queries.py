"""Reads for anyone who holds a link: their ticket, whom the holder has given places, and whom to ask when a link is dead."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, and_, or_, select

from app.allocations import link_queries, link_tokens, slot_changes, states
from app.allocations.link_tokens import has_code_sql
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.tickets.ticket_data import Ticket, load_tickets_where
from app.allocations.tickets.ticket_pdf import draw_ticket_pdf
from app.core.db import db, release_connection

VALID_TICKET_STATES = (states.CLAIMED, states.ADMITTED)
PAGE_SIZE = 50


@dataclass(frozen=True)
class LinkContact:
    """What even a dead link may tell: which event it was for, and whom to write to."""

    event: str
    organiser: str
    contact: str


@dataclass(frozen=True)
class AllocatorSlotPage:
    """A page of the places that a holder has given out; `after` leads to the next one."""

    rows: Sequence[RowMapping]
    after: str | None


def load_party_tickets(slot_id: str, generation: int | None = None) -> list[Ticket]:
    """The tickets that were claimed together and are alive, the first one first. `slot_id` is the first place, which
    may have ended. With the `generation` of the claim, only places that nobody else has been given since."""
    same_party = and_(AllocationSlot.party_id == slot_id, AllocationSlot.party_size > 1)
    tickets = load_tickets_where(db.session(), or_(AllocationSlot.id == slot_id, same_party))
    return [
        ticket for ticket in tickets if ticket.status in VALID_TICKET_STATES and generation in (None, ticket.generation)
    ]


def draw_party_pdf(slot_id: str) -> bytes | None:
    """The same as a document; None where there is none."""
    tickets = load_party_tickets(slot_id)
    release_connection()
    return draw_ticket_pdf(tickets) if tickets else None


def find_link_contact(token: str) -> LinkContact | None:
    """What stands around a token that was given out, dead or alive; None for any other."""
    link, code = link_tokens.decode_token(token), link_tokens.parse_code(token)
    if link is None and code is None:
        return None
    if link is not None and link.purpose != "claim":
        block_condition: Any = AllocationBlock.id == link.id
    else:
        slot_condition = AllocationSlot.id == link.id if link is not None else has_code_sql(str(code))
        block_condition = AllocationBlock.id == select(AllocationSlot.block_id).where(slot_condition).scalar_subquery()
    row = db.session.execute(slot_changes.blocks_query().where(block_condition)).mappings().first()
    return LinkContact(row["event_name"], row["organiser_name"], row["contact_email"]) if row else None


def load_allocator_slot_page(block_id: str, after: str = "") -> AllocatorSlotPage:
    """The next fifty places that the holder has given to somebody."""
    statement = (
        link_queries.list_allocator_slots_query(block_id).where(AllocationSlot.id > after).order_by(AllocationSlot.id)
    )
    rows = db.session.execute(statement.limit(PAGE_SIZE + 1)).mappings().all()
    return AllocatorSlotPage(rows[:PAGE_SIZE], rows[PAGE_SIZE - 1]["id"] if len(rows) > PAGE_SIZE else None)


def find_allocator_slot(block_id: str, slot_id: str) -> RowMapping | None:
    """One of them."""
    statement = link_queries.list_allocator_slots_query(block_id).where(AllocationSlot.id == slot_id)
    return db.session.execute(statement).mappings().first()
