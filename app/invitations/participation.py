"""Participation of merchants in events: adding and ending one, and the floor status of stalls.

`@on_participation_ended` registers a function that runs in the transaction which ends a participation, with its row
locked. It erases what a domain has stored about the stall, or refuses:

    @on_participation_ended
    def end_crew(session, participation):
        if …: raise StallHasShifts()
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import NotFound
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.models import Participation
from app.invitations.sql import is_event_open_sql
from app.merchants.errors import MerchantPaused
from app.merchants.models import Merchant
from app.merchants.queries import lock_merchant
from app.merchants.states import CLOSED, PAUSED

ParticipationHook = Callable[[OrmSession, Participation], None]
_end_hooks: list[ParticipationHook] = []


@dataclass(frozen=True)
class FloorStatusChange:
    """The new status, and the events at which it applies."""

    status: str
    event_ids: list[str]


def add_participant(
    session: OrmSession, *, event_id: str, merchant_id: str, stall_type: str | None, fee_minor: int | None
) -> None:
    """Makes the merchant a participant; the terms of one who is a participant already stay.

    The stall starts with the floor status that the merchant set last. Its row is locked until the transaction ends.
    """
    statement = add_participant_sql(
        event_id=event_id, merchant_id=merchant_id, stall_type=stall_type, fee_minor=fee_minor
    )
    session.execute(statement.execution_options(synchronize_session=False))


def add_participant_sql(*, event_id: str, merchant_id: str, stall_type: str | None, fee_minor: int | None) -> Insert:
    """The statement of `add_participant`, to be used as a CTE of a larger one."""
    last_floor_status = select(Merchant.floor_status).where(Merchant.profile_id == merchant_id).scalar_subquery()
    statement = insert(Participation).values(
        event_id=event_id,
        merchant_id=merchant_id,
        stall_type=stall_type,
        fee_minor=fee_minor,
        floor_status=func.coalesce(last_floor_status, literal(CLOSED)),
        crew_version=1,
    )
    # An update that changes nothing locks the row, so that a participation does not end while somebody relies on it.
    key = [Participation.merchant_id, Participation.event_id]
    return statement.on_conflict_do_update(index_elements=key, set_={"fee_minor": Participation.fee_minor})


def on_participation_ended(hook: ParticipationHook) -> ParticipationHook:
    """Registers a function that runs before a participation ends."""
    _end_hooks.append(hook)
    return hook


def lock_participation(session: OrmSession, event_id: str, merchant_id: str) -> Participation | None:
    """The participation, locked until the transaction ends; None if the merchant does not take part."""
    participation: Participation | None = session.get(
        Participation, (merchant_id, event_id), with_for_update=True, populate_existing=True
    )
    return participation


def end_participation(session: OrmSession, participation: Participation) -> None:
    """Ends a locked participation, after the hooks. Raises what they raise."""
    for hook in _end_hooks:
        hook(session, participation)
    key = (Participation.merchant_id == participation.merchant_id, Participation.event_id == participation.event_id)
    session.execute(delete(Participation).where(*key).execution_options(synchronize_session=False))


def set_floor_status(*, caller: Caller, status: str, event_id: str | None = None) -> FloorStatusChange:
    """Sets the floor status of one stall, or of all at events that are not over. Later stalls start with it too.

    Raises NotFound for an event without the caller's participation, MerchantPaused (a paused merchant's stalls are
    closed).
    """
    with transaction() as session:
        merchant = lock_merchant(session, caller.merchant_id)
        if merchant.status == PAUSED and status != CLOSED:
            raise MerchantPaused()
        conditions = [Participation.merchant_id == caller.merchant_id]
        if event_id is not None:
            conditions.append(Participation.event_id == event_id)
        else:
            conditions.append(Participation.event_id.in_(select(Event.id).where(is_event_open_sql())))
        event_ids = session.scalars(
            update(Participation)
            .where(*conditions)
            .values(floor_status=status, floor_set_at=func.clock_timestamp())
            .returning(Participation.event_id)
            .execution_options(synchronize_session=False)
        ).all()
        if event_id is not None and not event_ids:
            raise NotFound()
        if merchant.floor_status != status:
            merchant.floor_status = status
            merchant.version += 1
        session.flush()
    return FloorStatusChange(status, sorted(event_ids))
