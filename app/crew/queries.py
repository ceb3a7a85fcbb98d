"""Reads of the caller's stall, its crew and their hours; every action on crew and shifts locks the stall first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.db import db
from app.core.errors import NotFound, ValidationFailed
from app.crew.models import CrewMember, Shift, ShiftBreak
from app.crew.states import CLOCK_TOLERANCE, MAX_AGE, MAX_SHIFT_DURATION
from app.crew.worked_hours import HoursSummary, WorkedShift, calculate_hours
from app.events.event_rows import belongs_to
from app.events.models import Event
from app.events.timezones import to_instant
from app.invitations.models import Participation
from app.merchants.models import MerchantProfile


@dataclass(frozen=True)
class Crew:
    """The crew of a stall in its order; one resource with one version."""

    crew: Sequence[CrewMember]
    version: int


class MemberStats(HoursSummary):
    """What one member has worked at one event."""

    id: str
    name: str
    role: str | None
    active: bool
    timezone: str


@dataclass(frozen=True)
class Stall:
    """A merchant's stall at an event, the database's time, the versions of its crew and plan, and its encrypted secret."""

    merchant_id: str
    event_id: str
    timezone: str
    now: datetime
    crew_version: int
    plan_version: int
    check_in_secret: str | None


def get_crew(caller: Caller, event_id: str) -> Crew:
    """The crew of the caller's stall. Raises NotFound."""
    stall = get_stall(caller.merchant_id, event_id)
    members = db.session.scalars(
        select(CrewMember)
        .where(
            CrewMember.merchant_id == caller.merchant_id,
            CrewMember.event_id == event_id,
            CrewMember.retired_at.is_(None),
        )
        .order_by(CrewMember.position, CrewMember.id)
    ).all()
    return Crew(members, stall.crew_version)


def get_member_stats(caller: Caller, event_id: str, member_id: str) -> MemberStats:
    """The hours of a member, also of a retired one, per day of the event's time zone. Raises NotFound."""
    stall = get_stall(caller.merchant_id, event_id)
    member = db.session.scalar(
        select(CrewMember).where(
            CrewMember.id == member_id, CrewMember.merchant_id == caller.merchant_id, CrewMember.event_id == event_id
        )
    )
    if member is None:
        raise NotFound()
    shifts = db.session.scalars(
        select(Shift).where(Shift.crew_member_id == member_id).order_by(Shift.started_at, Shift.id)
    ).all()
    breaks = db.session.scalars(
        select(ShiftBreak).join(Shift, belongs_to(ShiftBreak.shift_id, Shift)).where(Shift.crew_member_id == member_id)
    ).all()
    worked_shifts = [
        WorkedShift.from_shift(
            shift, [shift_break for shift_break in breaks if shift_break.shift_id == shift.id], stall.now
        )
        for shift in shifts
    ]
    return {
        "id": member.id,
        "name": member.name,
        "role": member.role,
        "active": member.retired_at is None,
        "timezone": stall.timezone,
        **calculate_hours(worked_shifts, stall.timezone),
    }


@dataclass(frozen=True)
class RunningShift:
    """A shift of a member at work."""

    event_id: str
    event_name: str
    timezone: str
    member_id: str
    name: str
    started_at: datetime
    on_break_since: datetime | None


def list_running_shifts(merchant_id: str) -> list[RunningShift]:
    """The shifts that are open and not forgotten, at all stalls of the merchant, the earliest first."""
    statement = (
        select(
            CrewMember.event_id,
            Event.name.label("event_name"),
            Event.timezone,
            CrewMember.id.label("member_id"),
            CrewMember.name,
            Shift.started_at,
            Shift.break_since.label("on_break_since"),
        )
        .join(CrewMember, belongs_to(Shift.crew_member_id, CrewMember))
        .join(Event, Event.id == CrewMember.event_id)
        .where(
            CrewMember.merchant_id == merchant_id,
            Shift.ended_at.is_(None),
            Shift.started_at > func.now() - MAX_SHIFT_DURATION,
        )
        .order_by(Shift.started_at, Shift.id)
    )
    return [RunningShift(**row._asdict()) for row in db.session.execute(statement)]


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
        select(
            Event.timezone,
            func.now(),
            Participation.crew_version,
            Participation.plan_version,
            Participation.check_in_secret,
        )
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
    return Stall(merchant_id, event_id, *row)
