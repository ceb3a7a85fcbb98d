"""Participation of merchants in events: adding one, and the floor status of stalls (open, busy, paused or closed)."""

from dataclasses import dataclass

from sqlalchemy import func, literal, select, update
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


@dataclass(frozen=True)
class FloorStatusChange:
    """The new status, and the events at which it applies."""

    status: str
    event_ids: list[str]


def add_participant(
    session: OrmSession, *, event_id: str, merchant_id: str, stall_type: str | None, fee_minor: int | None
) -> bool:
    """Makes the merchant a participant; False if they are one already, and then their terms stay.

    The stall starts with the floor status that the merchant set last.
    """
    statement = add_participant_sql(
        event_id=event_id, merchant_id=merchant_id, stall_type=stall_type, fee_minor=fee_minor
    )
    return session.execute(statement.returning(Participation.event_id)).first() is not None


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
    return statement.on_conflict_do_nothing()


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
