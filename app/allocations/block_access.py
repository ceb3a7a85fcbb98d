"""Blocks as their owners and their links reach them, and the locks of a change.

All transactions lock in the same order, so they do not deadlock: the block (of two blocks, the smaller id first), its
slots, the ticket type, the day's figures. A change first locks the block in a statement of its own, because a statement
that has waited for a lock sees the locked row as it is now, but other rows as they were before. A second statement of
`sql.py` then changes everything. Under the block's lock only the gate changes slots of the block.

Admission takes a claimed slot without the block's lock, so scanners never wait for a block. A statement that takes a
claimed slot away therefore names the status (`AND status = …`), and its caller checks that a row came back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, and_, bindparam, func, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.models import Account, OrganiserProfile
from app.accounts.outgoing_mail import list_sender_columns
from app.allocations import states
from app.allocations.invoicing.queries import invoice_summary_sql
from app.allocations.models import AllocationBlock, AllocationSlot
from app.core.db import ObjectId, db
from app.core.errors import NotFound
from app.events.models import Event, TicketAdmission, TicketType
from app.events.queries import READS, WRITES, owned
from app.events.visibility import ARCHIVED, CANCELLED

ADMITTED_COUNT = (
    select(func.coalesce(func.sum(TicketAdmission.count), 0))
    .where(TicketAdmission.block_id == AllocationBlock.id)
    .correlate(AllocationBlock)
    .scalar_subquery()
)
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
BlocksQuery = Select[*tuple[Any, ...]]
BlockRow = Mapping[Any, Any]
"""A row of `blocks_query`: the block's columns by name, and those of BLOCK_COLUMNS."""


@dataclass(frozen=True)
class Actor:
    """Who makes a change: `organiser`, `holder`, `guest` or `service`, and the account's id if there is one."""

    role: str
    id: str | None = None

    def build_params(self, verb: str, *, open_link_claims: int = 0) -> dict[str, str | int | None]:
        """The parameters that every change of `sql.py` has."""
        return {"verb": verb, "actor": self.role, "actor_id": self.id, "open_link_claims": open_link_claims}


HOLDER_ACTOR, GUEST_ACTOR, SERVICE_ACTOR = Actor(states.HOLDER), Actor(states.GUEST), Actor(states.SERVICE)


def build_organiser_actor(caller: Caller) -> Actor:
    return Actor(states.ORGANISER, caller.id)


def owned_block(caller: Caller, event_id: str, block_id: str, tier: str = READS) -> ColumnElement[bool]:
    """The condition that a block belongs to this event, and the event to the caller. The query joins the event."""
    return and_(AllocationBlock.id == block_id, AllocationBlock.event_id == event_id, owned(caller, tier))


def blocks_query() -> BlocksQuery:
    """Select blocks with their ticket type, event, organiser, and whether their links have ended."""
    return (
        select(*BLOCK_COLUMNS)
        .select_from(AllocationBlock)
        .join(TicketType, TicketType.id == AllocationBlock.ticket_type_id)
        .join(Event, Event.id == AllocationBlock.event_id)
        .join(Account, Account.id == Event.organiser_id)
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
    )


def owned_blocks_query(caller: Caller, event_id: str) -> BlocksQuery:
    """Select the blocks of an event that the caller may read, each with a summary of its invoice."""
    return (
        blocks_query()
        .where(AllocationBlock.event_id == event_id, owned(caller, READS))
        .add_columns(invoice_summary_sql(AllocationBlock.id).label("invoice"))
    )


def find_block(condition: ColumnElement[bool]) -> RowMapping | None:
    """The block that meets a condition, without a lock."""
    return db.session.execute(blocks_query().where(condition)).mappings().first()


# Built once: everybody who waits for the lock also waits for the compilation of this statement.
ID_PARAM = bindparam("id_param", type_=ObjectId)
BLOCK_BY_ID = blocks_query().where(AllocationBlock.id == ID_PARAM)
BLOCK_BY_SLOT_ID = blocks_query().where(
    AllocationBlock.id == select(AllocationSlot.block_id).where(AllocationSlot.id == ID_PARAM).scalar_subquery()
)


def lock_block(session: Session, caller: Caller, event_id: str, block_id: str) -> RowMapping:
    """Lock a block of the caller. Raises NotFound."""
    return _lock_one_block(session, blocks_query().where(owned_block(caller, event_id, block_id, WRITES)))


def lock_block_by_id(session: Session, block_id: str) -> RowMapping:
    """Lock the block of a link, or of a job. Raises NotFound."""
    return _lock_one_block(session, BLOCK_BY_ID, {"id_param": block_id})


def lock_block_of_slot(session: Session, slot_id: str) -> RowMapping:
    """Lock the block that a slot belongs to. Raises NotFound."""
    return _lock_one_block(session, BLOCK_BY_SLOT_ID, {"id_param": slot_id})


def lock_two_blocks(session: Session, caller: Caller, event_id: str, ids: tuple[str, str]) -> dict[str, RowMapping]:
    """Lock two blocks of one event, in the order of their ids. Raises NotFound."""
    statement = (
        blocks_query()
        .where(AllocationBlock.event_id == event_id, owned(caller, WRITES), AllocationBlock.id.in_(ids))
        .order_by(AllocationBlock.id)
    )
    blocks = {row["id"]: row for row in session.execute(_with_block_lock(statement)).mappings()}
    if set(ids) - blocks.keys():
        raise NotFound()
    return blocks


def _lock_one_block(session: Session, statement: BlocksQuery, params: dict[str, str] | None = None) -> RowMapping:
    row = session.execute(_with_block_lock(statement), params or {}).mappings().first()
    if row is None:
        raise NotFound()
    return row


def _with_block_lock(statement: BlocksQuery) -> BlocksQuery:
    """FOR NO KEY UPDATE, which does not stop other rows from referring to the block."""
    return statement.with_for_update(of=AllocationBlock, key_share=True)
