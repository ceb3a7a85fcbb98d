"""Shifts that nobody ended: after 16 hours they count as ended then, in every read and before every write."""

from sqlalchemy import ColumnElement, func, insert, literal, select, update
from sqlalchemy.orm import Session as OrmSession

from app.crew.models import CrewMember, Shift, ShiftBreak
from app.crew.stall import Stall
from app.crew.states import LONGEST

FORGOTTEN = Shift.started_at <= func.now() - LONGEST
OPEN = Shift.ended_at.is_(None)
AUTO = "auto"


def really_open() -> ColumnElement[bool]:
    """The condition that a shift is open and not merely forgotten."""
    return OPEN & ~FORGOTTEN


def close_forgotten(session: OrmSession, stall: Stall | None = None) -> None:
    """Ends forgotten shifts, of one stall or everywhere, and the breaks in them; one statement."""
    late = select(Shift.id).where(OPEN, FORGOTTEN)
    if stall is not None:
        late = late.join(CrewMember, CrewMember.id == Shift.crew_member_id).where(
            CrewMember.merchant_id == stall.merchant_id, CrewMember.event_id == stall.event_id
        )
    found = (
        select(Shift.id, Shift.started_at, Shift.break_since)
        .where(Shift.id.in_(late))
        .order_by(Shift.id)
        .with_for_update()
        .cte("found")
    )
    ended = (
        update(Shift)
        .where(Shift.id == found.c.id, OPEN)
        .values(
            ended_at=found.c.started_at + LONGEST,
            changed_at=found.c.started_at + LONGEST,
            ended_by=literal(AUTO),
            break_since=None,
        )
        .cte("ended")
    )
    breaks = insert(ShiftBreak).from_select(
        ["shift_id", "started_at", "ended_at"],
        select(found.c.id, found.c.break_since, found.c.started_at + LONGEST).where(found.c.break_since.is_not(None)),
    )
    session.execute(breaks.add_cte(ended).execution_options(synchronize_session=False))
