"""The caller's stall at an event; every read and action of crew and shifts loads it first."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session as OrmSession

from app.core.db import db
from app.core.errors import NotFound, ValidationFailed
from app.crew.states import CLOCK_TOLERANCE, MAX_AGE
from app.events.models import Event
from app.events.time_conversion import to_instant
from app.invitations.models import Participation
from app.merchants.models import MerchantProfile


@dataclass(frozen=True)
class Stall:
    """A merchant's stall at an event, the database's time, and the version of its crew."""

    merchant_id: str
    event_id: str
    timezone: str
    now: datetime
    crew_version: int


def get_stall(merchant_id: str, event_id: str) -> Stall:
    """The stall, not locked. Raises NotFound if the merchant does not take part."""
    return _load_stall(db.session(), merchant_id, event_id, lock_mode=None)


def lock_stall_shared(session: OrmSession, merchant_id: str, event_id: str) -> Stall:
    """The stall, locked against changes of its crew; others may hold the same lock. Raises NotFound."""
    return _load_stall(session, merchant_id, event_id, lock_mode="share")


def lock_stall_exclusive(session: OrmSession, merchant_id: str, event_id: str) -> Stall:
    """The stall, locked for changing its crew. Raises NotFound."""
    return _load_stall(session, merchant_id, event_id, lock_mode="update")


def resolve_occurred_at(stall: Stall, occurred_at: datetime | None) -> datetime:
    """The time of an action: now, or up to 12 hours ago. Raises ValidationFailed."""
    if occurred_at is None:
        return stall.now
    occurred_instant = to_instant(occurred_at, stall.timezone)
    if occurred_instant < stall.now - MAX_AGE:
        raise ValidationFailed.of("occurredAt", "too_early", "May be up to 12 hours ago.")
    if occurred_instant > stall.now + CLOCK_TOLERANCE:
        raise ValidationFailed.of("occurredAt", "too_late", "Must not be in the future.")
    return min(occurred_instant, stall.now)


def _load_stall(session: OrmSession, merchant_id: str, event_id: str, *, lock_mode: str | None) -> Stall:
    statement = (
        select(Event.timezone, func.now(), Participation.crew_version)
        .join(Participation, Participation.event_id == Event.id)
        .join(MerchantProfile, MerchantProfile.account_id == Participation.merchant_id)
        .where(Participation.merchant_id == merchant_id, Participation.event_id == event_id)
    )
    if lock_mode is not None:
        # The profile is locked first, as by a deletion: a request that waited for a deletion finds no stall.
        statement = statement.with_for_update(read=lock_mode == "share", of=[MerchantProfile, Participation])
    row = session.execute(statement).first()
    if row is None:
        raise NotFound()
    return Stall(merchant_id, event_id, row[0], row[1], row[2])
