"""What an invoice is about: the block, its event, who sells and who buys."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.models import Account, OrganiserProfile
from app.allocations.models import AllocationBlock
from app.core.dates import moment
from app.events import queries as events
from app.events.models import Event, TicketType

SUBJECT = (
    select(
        AllocationBlock,
        Event.name,
        Event.venue,
        Event.city,
        Event.starts_at,
        Event.timezone,
        TicketType.name,
        Account,
        OrganiserProfile.org_name,
        func.now(),
    )
    .join(Event, Event.id == AllocationBlock.event_id)
    .join(TicketType, TicketType.id == AllocationBlock.ticket_type_id)
    .join(Account, Account.id == Event.organiser_id)
    .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
)


@dataclass(frozen=True)
class Subject:
    """A block with everything that its papers say beside the money.

    `moment` is the database's time at the start of the transaction: it decides the year of the number, the date that is
    printed, and when the paper was issued.
    """

    block: AllocationBlock
    organiser_id: str
    ticket_type: str
    seller: list[str]
    buyer: list[str]
    facts: list[tuple[str, str]]
    contact: str
    moment: datetime


def locked(
    session: Session, block_id: str, *, event_id: str | None = None, caller: Caller | None = None
) -> AllocationBlock | None:
    """A block, locked for whoever moves its money; None when there is none, or it is somebody else's.

    What stands around it is read afterwards: who has waited for a lock sees rows that are joined to the locked one as
    they were before the wait.
    """
    wanted = select(AllocationBlock).where(AllocationBlock.id == block_id)
    if caller is not None:
        owned = (AllocationBlock.event_id == event_id, events.owned(caller, events.WRITES))
        wanted = wanted.join(Event, Event.id == AllocationBlock.event_id).where(*owned)
    return session.scalar(wanted.with_for_update(of=AllocationBlock))


def subject(session: Session, block_id: str) -> Subject:
    """What stands around a block that is locked."""
    asked = SUBJECT.where(AllocationBlock.id == block_id).execution_options(populate_existing=True)
    return _read(session.execute(asked).one())


def _read(row: Any) -> Subject:
    block, event, venue, city, starts_at, zone, ticket_type, organiser, org_name, now = row
    where = ", ".join(each for each in (venue, city) if each)
    facts = [
        ("Event", event),
        ("When", moment(starts_at, zone)),
        ("Where", where),
        ("Reference", " · ".join(each for each in (block.name, block.id) if each)),
    ]
    holder = [block.holder_organisation, block.holder_name, block.holder_email, block.holder_phone]
    return Subject(
        block=block,
        organiser_id=organiser.id,
        ticket_type=ticket_type,
        seller=_named(org_name, organiser.name, organiser.email, organiser.phone),
        buyer=_named(*holder) or [block.name or "The holder of this block"],
        facts=facts,
        contact=organiser.email,
        moment=now,
    )


def _named(*parts: str | None) -> list[str]:
    """What is known, each thing once."""
    return list(dict.fromkeys(part for part in parts if part))
