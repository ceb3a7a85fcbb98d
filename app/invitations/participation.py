"""Participation of merchants in events: adding one, and the floor status of a stall."""

from sqlalchemy import ColumnElement, case, func, literal, or_, select
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.orm import Session as OrmSession

from app.invitations.models import Participation
from app.merchants.models import Merchant
from app.merchants.states import CLOSED, PAUSED


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


def floor_status_sql() -> ColumnElement[str]:
    """A stall's floor status, for a query that joins Merchant. A pause closes the stall until the status is set again."""
    is_closed = or_(Merchant.status == PAUSED, Merchant.paused_at >= Participation.floor_set_at)
    return case((is_closed, CLOSED), else_=Participation.floor_status)
