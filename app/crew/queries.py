"""Reads of the crew of the caller's stall."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from app.accounts.caller import Caller
from app.core.db import db
from app.core.errors import NotFound
from app.crew.models import CrewMember, Shift, ShiftBreak
from app.crew.stall_access import get_stall
from app.crew.worked_hours import HoursSummary, WorkedShift, calculate_hours


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


def get_crew(caller: Caller, event_id: str) -> Crew:
    """The crew of the caller's stall. Raises NotFound."""
    stall = get_stall(caller.id, event_id)
    members = db.session.scalars(
        select(CrewMember)
        .where(
            CrewMember.merchant_id == caller.id,
            CrewMember.event_id == event_id,
            CrewMember.retired_at.is_(None),
        )
        .order_by(CrewMember.position, CrewMember.id)
    ).all()
    return Crew(members, stall.crew_version)


def get_member_stats(caller: Caller, event_id: str, member_id: str) -> MemberStats:
    """The hours of a member, also of a retired one, per day of the event's time zone. Raises NotFound."""
    stall = get_stall(caller.id, event_id)
    member = db.session.scalar(
        select(CrewMember).where(
            CrewMember.id == member_id, CrewMember.merchant_id == caller.id, CrewMember.event_id == event_id
        )
    )
    if member is None:
        raise NotFound()
    shifts = db.session.scalars(
        select(Shift).where(Shift.crew_member_id == member_id).order_by(Shift.started_at, Shift.id)
    ).all()
    breaks = db.session.scalars(
        select(ShiftBreak).join(Shift, Shift.id == ShiftBreak.shift_id).where(Shift.crew_member_id == member_id)
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
