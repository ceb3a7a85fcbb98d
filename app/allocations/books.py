"""How places change: one statement that changes slots, writes what happened to each, and books it everywhere.

Everybody locks in one order, so that nobody waits in a circle: the block (of two, the one with the smaller id
first), then its slots, then the ticket type, then its day's figures. A write begins with the block's lock, in a
statement of its own (who has waited for a lock sees the locked row as it is now, but other rows as they were before
the wait), and then changes everything in a second one. Who holds the lock knows that nobody else changes the block's
slots but the gate; the ticket type is held only from there to the commit.

The gate takes a claimed slot alone and counts beside (see `admit`), so it never waits for a block nor makes one wait.
Whoever takes a claimed slot away therefore says so in his statement (`AND status = …`), and looks whether it was there.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, Select, bindparam, func, select, text
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.models import Account, OrganiserProfile
from app.accounts.outgoing_mail import sender_columns
from app.allocations import states
from app.allocations.invoicing.queries import summary
from app.allocations.models import AllocationBlock, AllocationSlot
from app.core.db import ObjectId
from app.core.errors import NotFound
from app.events import availability
from app.events.models import Event, TicketAdmission, TicketType
from app.events.queries import READS, WRITES, owned
from app.events.visibility import ARCHIVED, CANCELLED

SLOT = "s.id, s.block_id, s.ticket_type_id"
COUNTED = availability.BOOKED
FREE = "b.available + m.available + b.invited + m.invited"
HELD = " + ".join(f"b.{each} + m.{each}" for each in availability.PLACES)
STATUS = f"""CASE WHEN {FREE} > 0 THEN 'open' WHEN m.released > 0 OR b.status = 'released' THEN 'released'
                  WHEN {HELD} > 0 THEN 'exhausted' WHEN b.released + m.released > 0 THEN 'released'
                  ELSE 'cancelled' END"""
ADMITTED = (
    select(func.coalesce(func.sum(TicketAdmission.count), 0))
    .where(TicketAdmission.block_id == AllocationBlock.id)
    .correlate(AllocationBlock)
    .scalar_subquery()
)
SHOWN_APART = ("claimed", "admitted", "version")
# Each of them ends every link of the block.
ENDS = (
    Event.visibility.in_((ARCHIVED, CANCELLED)).label("called_off"),
    (Event.ends_at <= func.now()).label("event_over"),
    (AllocationBlock.release_at <= func.now()).label("over"),
)
BLOCK = (
    *(each for each in AllocationBlock.__table__.columns if each.name not in SHOWN_APART),
    (AllocationBlock.claimed - ADMITTED).label("claimed"),
    ADMITTED.label("admitted"),
    (AllocationBlock.version + ADMITTED).label("version"),
    TicketType.name.label("ticket_type_name"),
    Event.name.label("event_name"),
    Event.timezone,
    Event.starts_at,
    Event.ends_at,
    Event.venue,
    Event.city,
    func.coalesce(OrganiserProfile.org_name, Account.name).label("organiser_name"),
    Account.email.label("contact_email"),
    *ENDS,
    *sender_columns(Account),
    (AllocationBlock.open_expires_at <= func.now()).label("open_expired"),
)


@dataclass(frozen=True)
class Actor:
    """Who does it: `organiser`, `holder`, `guest` or `service`, and his account where he has one."""

    role: str
    id: str | None = None


def organiser(caller: Caller) -> Actor:
    return Actor(states.ORGANISER, caller.id)


HOLDER, GUEST, SERVICE = Actor(states.HOLDER), Actor(states.GUEST), Actor(states.SERVICE)


def changing(touched: str, answer: str, *, also: str = "") -> str:
    """The statement around `touched`, a CTE (or several) of that name that changes slots.

    It gives `id, block_id, ticket_type_id, was, became, gate` of each: null in `was` for a new place. `also` adds to
    what is set at the block `b`. Parameters: those of `touched`, and `verb, actor, actor_id`.
    """
    return f"""
        WITH {touched},
        noted AS ({_noted()}),
        moves AS (SELECT block_id, ticket_type_id, {", ".join(map(_change, COUNTED))}
                    FROM touched GROUP BY block_id, ticket_type_id),
        booked AS (
            UPDATE allocation_block b
               SET {", ".join(f"{each} = b.{each} + m.{each}" for each in COUNTED)}, status = {STATUS},
                   version = b.version + 1, updated_at = now(){", " + also if also else ""}
              FROM moves m WHERE b.id = m.block_id
            RETURNING m.*),
        {availability.booking("booked")}
        {answer}"""


def noting(touched: str, answer: str) -> str:
    """The same for changes that move no place: only what happened is written."""
    return f"WITH {touched}, noted AS ({_noted()}) {answer}"


def acting(actor: Actor, verb: str) -> dict[str, Any]:
    """The parameters that every change has."""
    return {"verb": verb, "actor": actor.role, "actor_id": actor.id}


def locked(session: Session, caller: Caller, event_id: str, block_id: str) -> RowMapping:
    """A block of the caller's, locked, with what surrounds it (`BLOCK`). Raises NotFound."""
    return _one(session, _blocks(caller, event_id, WRITES).where(AllocationBlock.id == block_id))


def locked_two(session: Session, caller: Caller, event_id: str, ids: tuple[str, str]) -> dict[str, RowMapping]:
    """Two blocks of one event, locked in the order of their ids. Raises NotFound."""
    statement = _blocks(caller, event_id, WRITES).where(AllocationBlock.id.in_(ids)).order_by(AllocationBlock.id)
    found = {row["id"]: row for row in session.execute(_lock(statement)).mappings()}
    if set(ids) - found.keys():
        raise NotFound()
    return found


def locked_behind(session: Session, *, block_id: str | None = None, slot_id: str | None = None) -> RowMapping:
    """The block that a link leads to, by its own id or by that of a slot; locked. Raises NotFound."""
    statement = BEHIND_SLOT if block_id is None else BEHIND_BLOCK
    row = session.execute(_lock(statement), {"wanted": slot_id if block_id is None else block_id}).mappings().first()
    if row is None:
        raise NotFound()
    return row


def owned_blocks(caller: Caller, event_id: str) -> Select[Any]:
    """Blocks of an event that the caller may read, each with the short form of its invoice."""
    return _blocks(caller, event_id, READS).add_columns(summary(AllocationBlock.id).label("invoice"))


def joined() -> Select[Any]:
    """Blocks with what surrounds them."""
    return (
        select(*BLOCK)
        .select_from(AllocationBlock)
        .join(TicketType, TicketType.id == AllocationBlock.ticket_type_id)
        .join(Event, Event.id == AllocationBlock.event_id)
        .join(Account, Account.id == Event.organiser_id)
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
    )


def _blocks(caller: Caller, event_id: str, tier: str) -> Select[Any]:
    return joined().where(AllocationBlock.event_id == event_id, owned(caller, tier))


def _one(session: Session, statement: Select[Any]) -> RowMapping:
    row = session.execute(_lock(statement)).mappings().first()
    if row is None:
        raise NotFound()
    return row


def _lock(statement: Select[Any]) -> Select[Any]:
    """FOR NO KEY UPDATE, which does not stop rows from pointing at the block."""
    return statement.with_for_update(of=AllocationBlock, key_share=True)


def _noted() -> str:
    return """INSERT INTO allocation_slot_event
                     (slot_id, block_id, verb, from_status, to_status, actor, actor_id, gate)
              SELECT id, block_id, :verb, was, became, :actor, :actor_id, gate FROM touched"""


def _change(name: str) -> str:
    return f"count(*) FILTER (WHERE became = '{name}') - count(*) FILTER (WHERE was = '{name}') AS {name}"


def sql(statement: str) -> Any:
    """A statement as the session takes it."""
    return text(statement)


# Built once: claims under one lock wait for every millisecond of whoever holds it.
WANTED = bindparam("wanted", type_=ObjectId)
BEHIND_BLOCK = joined().where(AllocationBlock.id == WANTED)
BEHIND_SLOT = joined().where(
    AllocationBlock.id == select(AllocationSlot.block_id).where(AllocationSlot.id == WANTED).scalar_subquery()
)
