"""How places change: one statement that changes slots, writes what happened to each, and books it everywhere.

Everybody locks in one order, so that nobody waits in a circle: the block (of two, the one with the smaller id
first), then its slots, then the ticket type, then its day's figures. A write begins with the block's lock, in a
statement of its own (who has waited for a lock sees the locked row as it is now, but other rows as they were before
the wait), and then changes everything in a second one. Who holds the lock knows that nobody else changes the block's
slots but the gate; the ticket type is held only from there to the commit.

The gate takes a claimed slot alone and counts beside (see `admit`), so it never waits for a block nor makes one wait.
Anyone who takes a claimed slot away therefore says so in their statement (`AND status = …`), and looks whether it was there.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, Select, bindparam, func, select, text
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.models import Account, OrganiserProfile
from app.accounts.outgoing_mail import list_sender_columns
from app.allocations import states
from app.allocations.invoicing.queries import invoice_summary_sql
from app.allocations.models import AllocationBlock, AllocationSlot
from app.core.db import ObjectId
from app.core.errors import NotFound
from app.events import availability
from app.events.models import Event, TicketAdmission, TicketType
from app.events.queries import READS, WRITES, owned
from app.events.visibility import ARCHIVED, CANCELLED

SLOT_COLUMNS_SQL = "s.id, s.block_id, s.ticket_type_id"
COUNTERS = availability.BOOKED
FREE_COUNT_SQL = "b.available + m.available + b.invited + m.invited"
HELD_COUNT_SQL = " + ".join(f"b.{column} + m.{column}" for column in availability.PLACES)
BLOCK_STATUS_SQL = f"""CASE WHEN {FREE_COUNT_SQL} > 0 THEN 'open'
                  WHEN m.released > 0 OR b.status = 'released' THEN 'released'
                  WHEN {HELD_COUNT_SQL} > 0 THEN 'exhausted' WHEN b.released + m.released > 0 THEN 'released'
                  ELSE 'cancelled' END"""
ADMITTED_COUNT = (
    select(func.coalesce(func.sum(TicketAdmission.count), 0))
    .where(TicketAdmission.block_id == AllocationBlock.id)
    .correlate(AllocationBlock)
    .scalar_subquery()
)
COMPUTED_COLUMNS = ("claimed", "admitted", "version")
# Each of them ends every link of the block.
LINK_END_COLUMNS = (
    Event.visibility.in_((ARCHIVED, CANCELLED)).label("called_off"),
    (Event.ends_at <= func.now()).label("event_over"),
    (AllocationBlock.release_at <= func.now()).label("over"),
)
BLOCK_COLUMNS = (
    *(column for column in AllocationBlock.__table__.columns if column.name not in COMPUTED_COLUMNS),
    (AllocationBlock.claimed - ADMITTED_COUNT).label("claimed"),
    ADMITTED_COUNT.label("admitted"),
    (AllocationBlock.version + ADMITTED_COUNT).label("version"),
    TicketType.name.label("ticket_type_name"),
    Event.name.label("event_name"),
    Event.timezone,
    Event.starts_at,
    Event.ends_at,
    Event.venue,
    Event.city,
    func.coalesce(OrganiserProfile.org_name, Account.name).label("organiser_name"),
    Account.email.label("contact_email"),
    *LINK_END_COLUMNS,
    *list_sender_columns(Account),
    (AllocationBlock.open_expires_at <= func.now()).label("open_expired"),
)


@dataclass(frozen=True)
class Actor:
    """Who does it: `organiser`, `holder`, `guest` or `service`, and their account where they have one."""

    role: str
    id: str | None = None


def build_organiser_actor(caller: Caller) -> Actor:
    return Actor(states.ORGANISER, caller.id)


HOLDER_ACTOR, GUEST_ACTOR, SERVICE_ACTOR = Actor(states.HOLDER), Actor(states.GUEST), Actor(states.SERVICE)


def slot_change_sql(change_ctes: str, result_sql: str, *, block_assignments: str = "") -> str:
    """The statement around `touched`, a CTE (or several) of that name that changes slots.

    It gives `id, block_id, ticket_type_id, was, became, gate` of each: null in `was` for a new place. `also` adds to
    what is set at the block `b`. Parameters: those of `touched`, and `verb, actor, actor_id`.
    """
    return f"""
        WITH {change_ctes},
        noted AS ({_insert_slot_events_sql()}),
        moves AS (SELECT block_id, ticket_type_id, {", ".join(map(_counter_change_sql, COUNTERS))}
                    FROM touched GROUP BY block_id, ticket_type_id),
        booked AS (
            UPDATE allocation_block b
               SET {", ".join(f"{counter} = b.{counter} + m.{counter}" for counter in COUNTERS)},
                   status = {BLOCK_STATUS_SQL},
                   version = b.version + 1, updated_at = now(){", " + block_assignments if block_assignments else ""}
              FROM moves m WHERE b.id = m.block_id
            RETURNING m.*),
        {availability.booking("booked")}
        {result_sql}"""


def slot_event_sql(change_ctes: str, result_sql: str) -> str:
    """The same for changes that move no place: only what happened is written."""
    return f"WITH {change_ctes}, noted AS ({_insert_slot_events_sql()}) {result_sql}"


def actor_params(actor: Actor, verb: str) -> dict[str, Any]:
    """The parameters that every change has."""
    return {"verb": verb, "actor": actor.role, "actor_id": actor.id}


def lock_block(session: Session, caller: Caller, event_id: str, block_id: str) -> RowMapping:
    """A block of the caller's, locked, with what surrounds it (`BLOCK`). Raises NotFound."""
    return _lock_one_block(session, _event_blocks_query(caller, event_id, WRITES).where(AllocationBlock.id == block_id))


def lock_two_blocks(session: Session, caller: Caller, event_id: str, ids: tuple[str, str]) -> dict[str, RowMapping]:
    """Two blocks of one event, locked in the order of their ids. Raises NotFound."""
    statement = (
        _event_blocks_query(caller, event_id, WRITES).where(AllocationBlock.id.in_(ids)).order_by(AllocationBlock.id)
    )
    blocks = {row["id"]: row for row in session.execute(_with_block_lock(statement)).mappings()}
    if set(ids) - blocks.keys():
        raise NotFound()
    return blocks


def lock_block_by_id(session: Session, *, block_id: str | None = None, slot_id: str | None = None) -> RowMapping:
    """The block that a link leads to, by its own id or by that of a slot; locked. Raises NotFound."""
    statement = BLOCK_BY_SLOT_ID if block_id is None else BLOCK_BY_ID
    row = (
        session.execute(_with_block_lock(statement), {"wanted": slot_id if block_id is None else block_id})
        .mappings()
        .first()
    )
    if row is None:
        raise NotFound()
    return row


def owned_blocks_query(caller: Caller, event_id: str) -> Select[Any]:
    """Blocks of an event that the caller may read, each with the short form of its invoice."""
    return _event_blocks_query(caller, event_id, READS).add_columns(
        invoice_summary_sql(AllocationBlock.id).label("invoice")
    )


def blocks_query() -> Select[Any]:
    """Blocks with what surrounds them."""
    return (
        select(*BLOCK_COLUMNS)
        .select_from(AllocationBlock)
        .join(TicketType, TicketType.id == AllocationBlock.ticket_type_id)
        .join(Event, Event.id == AllocationBlock.event_id)
        .join(Account, Account.id == Event.organiser_id)
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
    )


def _event_blocks_query(caller: Caller, event_id: str, tier: str) -> Select[Any]:
    return blocks_query().where(AllocationBlock.event_id == event_id, owned(caller, tier))


def _lock_one_block(session: Session, statement: Select[Any]) -> RowMapping:
    row = session.execute(_with_block_lock(statement)).mappings().first()
    if row is None:
        raise NotFound()
    return row


def _with_block_lock(statement: Select[Any]) -> Select[Any]:
    """FOR NO KEY UPDATE, which does not stop rows from pointing at the block."""
    return statement.with_for_update(of=AllocationBlock, key_share=True)


def _insert_slot_events_sql() -> str:
    return """INSERT INTO allocation_slot_event
                     (slot_id, block_id, verb, from_status, to_status, actor, actor_id, gate)
              SELECT id, block_id, :verb, was, became, :actor, :actor_id, gate FROM touched"""


def _counter_change_sql(status: str) -> str:
    return f"count(*) FILTER (WHERE became = '{status}') - count(*) FILTER (WHERE was = '{status}') AS {status}"


def build_statement(statement: str) -> Any:
    """A statement as the session takes it."""
    return text(statement)


# Built once: claims under one lock wait for every millisecond of anyone who holds it.
ID_PARAM = bindparam("wanted", type_=ObjectId)
BLOCK_BY_ID = blocks_query().where(AllocationBlock.id == ID_PARAM)
BLOCK_BY_SLOT_ID = blocks_query().where(
    AllocationBlock.id == select(AllocationSlot.block_id).where(AllocationSlot.id == ID_PARAM).scalar_subquery()
)
