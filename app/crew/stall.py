"""A merchant's stall at an event: where every action on crew and shifts begins."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session as OrmSession

from app.core.db import db
from app.core.errors import NotFound, ValidationFailed
from app.crew.states import AHEAD, REACHES_BACK
from app.events.models import Event
from app.events.times import instant
from app.invitations.models import Participation
from app.merchants.models import MerchantProfile


@dataclass(frozen=True)
class Stall:
    """Whose it is and where, the database's time, and the version of its crew."""

    merchant_id: str
    event_id: str
    timezone: str
    now: datetime
    crew_version: int


def stall(merchant_id: str, event_id: str) -> Stall:
    """The stall, for reading. Raises NotFound where the merchant takes no part."""
    return _found(db.session(), merchant_id, event_id, lock=None)


def stall_at_work(session: OrmSession, merchant_id: str, event_id: str) -> Stall:
    """The stall whose crew does not change until the transaction ends; others may work there as well."""
    return _found(session, merchant_id, event_id, lock="share")


def stall_to_change(session: OrmSession, merchant_id: str, event_id: str) -> Stall:
    """The stall for one who changes its crew, alone."""
    return _found(session, merchant_id, event_id, lock="update")


def moment(stall: Stall, occurred_at: datetime | None) -> datetime:
    """When something happened: now, or up to 12 hours ago. Raises ValidationFailed."""
    if occurred_at is None:
        return stall.now
    then = instant(occurred_at, stall.timezone)
    if then < stall.now - REACHES_BACK:
        raise ValidationFailed.of("occurredAt", "too_early", "May be up to 12 hours ago.")
    if then > stall.now + AHEAD:
        raise ValidationFailed.of("occurredAt", "too_late", "Must not be in the future.")
    return min(then, stall.now)


def _found(session: OrmSession, merchant_id: str, event_id: str, *, lock: str | None) -> Stall:
    statement = (
        select(Event.timezone, func.now(), Participation.crew_version)
        .join(Participation, Participation.event_id == Event.id)
        .join(MerchantProfile, MerchantProfile.account_id == Participation.merchant_id)
        .where(Participation.merchant_id == merchant_id, Participation.event_id == event_id)
    )
    if lock is not None:
        # The profile first, as a deletion does: whoever waits for one finds no stall.
        statement = statement.with_for_update(read=lock == "share", of=[MerchantProfile, Participation])
    row = session.execute(statement).first()
    if row is None:
        raise NotFound()
    return Stall(merchant_id, event_id, row[0], row[1], row[2])
