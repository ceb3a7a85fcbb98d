"""How a merchant comes to take part in an event: the one way, for invitations and for applications."""

from sqlalchemy import func, literal, select
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.orm import Session as OrmSession

from app.invitations.models import Participation
from app.merchants.models import Merchant
from app.merchants.states import CLOSED


def add_participant(
    session: OrmSession, *, event_id: str, merchant_id: str, stall_type: str | None, fee_minor: int | None
) -> bool:
    """Makes the merchant a participant; False when they are one already, whose terms stay.

    Their stall begins with the floor status that they last set.
    """
    statement = add_participant_sql(
        event_id=event_id, merchant_id=merchant_id, stall_type=stall_type, fee_minor=fee_minor
    )
    return session.execute(statement.returning(Participation.event_id)).first() is not None


def add_participant_sql(*, event_id: str, merchant_id: str, stall_type: str | None, fee_minor: int | None) -> Insert:
    """The statement of `take_part`, for one that does more at once."""
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
