"""Reads for whoever holds a link: his ticket, whom the holder has given places, and whom to ask when a link is dead."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, and_, or_, select

from app.allocations import books, links, states, visits
from app.allocations.finding import has_code
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.tickets.drawing import ticket_pdf
from app.allocations.tickets.facts import Ticket, selected
from app.core.db import db, release

ALIVE = (states.CLAIMED, states.ADMITTED)
PAGE = 50


@dataclass(frozen=True)
class Around:
    """What even a dead link may tell: which event it was for, and whom to write to."""

    event: str
    organiser: str
    contact: str


@dataclass(frozen=True)
class HandedOut:
    """A page of the places that a holder has given out; `after` leads to the next one."""

    rows: Sequence[RowMapping]
    after: str | None


def party(slot_id: str, generation: int | None = None) -> list[Ticket]:
    """The tickets that were claimed together and are alive, the first one first. `slot_id` is the first place, which
    may have ended. With the `generation` of the claim, only places that nobody else has been given since."""
    together = and_(AllocationSlot.party_id == slot_id, AllocationSlot.party_size > 1)
    found = selected(db.session(), or_(AllocationSlot.id == slot_id, together))
    return [each for each in found if each.status in ALIVE and generation in (None, each.generation)]


def party_pdf(slot_id: str) -> bytes | None:
    """The same as a document; None where there is none."""
    found = party(slot_id)
    release()
    return ticket_pdf(found) if found else None


def around(token: str) -> Around | None:
    """What stands around a token that was given out, dead or alive; None for any other."""
    link, code = links.read(token), links.code_in(token)
    if link is None and code is None:
        return None
    if link is not None and link.purpose != "claim":
        wanted: Any = AllocationBlock.id == link.id
    else:
        same = AllocationSlot.id == link.id if link is not None else has_code(str(code))
        wanted = AllocationBlock.id == select(AllocationSlot.block_id).where(same).scalar_subquery()
    row = db.session.execute(books.joined().where(wanted)).mappings().first()
    return Around(row["event_name"], row["organiser_name"], row["contact_email"]) if row else None


def handed_out(block_id: str, after: str = "") -> HandedOut:
    """The next fifty places that the holder has given to somebody."""
    statement = visits.handed_out(block_id).where(AllocationSlot.id > after).order_by(AllocationSlot.id)
    rows = db.session.execute(statement.limit(PAGE + 1)).mappings().all()
    return HandedOut(rows[:PAGE], rows[PAGE - 1]["id"] if len(rows) > PAGE else None)


def handed_out_one(block_id: str, slot_id: str) -> RowMapping | None:
    """One of them."""
    statement = visits.handed_out(block_id).where(AllocationSlot.id == slot_id)
    return db.session.execute(statement).mappings().first()
