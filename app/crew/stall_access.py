"""A merchant's stall at an event: where every action on crew and shifts begins."""

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
    """Whose it is and where, the database's time, and the version of its crew."""

    merchant_id: str
    event_id: str
    timezone: str
    now: datetime
    crew_version: int


def get_stall(merchant_id: str, event_id: str) -> Stall:
    """The stall, for reading. Raises NotFound where the merchant takes no part."""
    return _load_stall(db.session(), merchant_id, event_id, lock_mode=None)


def lock_stall_shared(session: OrmSession, merchant_id: str, event_id: str) -> Stall:
    """The stall whose crew does not change until the transaction ends; others may work there as well."""
    return _load_stall(session, merchant_id, event_id, lock_mode="share")


def lock_stall_exclusive(session: OrmSession, merchant_id: str, event_id: str) -> Stall:
    """The stall for one who changes its crew, alone."""
    return _load_stall(session, merchant_id, event_id, lock_mode="update")


def resolve_occurred_at(stall: Stall, occurred_at: datetime | None) -> datetime:
    """When something happened: now, or up to 12 hours ago. Raises ValidationFailed."""
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
        # The profile first, as a deletion does: anyone who waits for one finds no stall.
        statement = statement.with_for_update(read=lock_mode == "share", of=[MerchantProfile, Participation])
    row = session.execute(statement).first()
    if row is None:
        raise NotFound()
    return Stall(merchant_id, event_id, row[0], row[1], row[2])
