"""Automatic checkout: a shift that is open for 16 hours counts as ended then, in every read and before every write."""

from sqlalchemy import ColumnElement, func, insert, literal, select, update
from sqlalchemy.orm import Session as OrmSession

from app.crew.models import CrewMember, Shift, ShiftBreak
from app.crew.stall_access import Stall
from app.crew.states import MAX_SHIFT_DURATION

IS_FORGOTTEN_SQL = Shift.started_at <= func.now() - MAX_SHIFT_DURATION
IS_OPEN_SQL = Shift.ended_at.is_(None)
AUTO_CHECKOUT = "auto"


def is_at_work_sql() -> ColumnElement[bool]:
    """True for a shift that is open and not forgotten."""
    return IS_OPEN_SQL & ~IS_FORGOTTEN_SQL


def check_out_forgotten_shifts(session: OrmSession, stall: Stall | None = None) -> None:
    """Ends the forgotten shifts of one stall, or of all, and the breaks in them, in one statement."""
    forgotten_ids_query = select(Shift.id).where(IS_OPEN_SQL, IS_FORGOTTEN_SQL)
    if stall is not None:
        forgotten_ids_query = forgotten_ids_query.join(CrewMember, CrewMember.id == Shift.crew_member_id).where(
            CrewMember.merchant_id == stall.merchant_id, CrewMember.event_id == stall.event_id
        )
    forgotten_shifts = (
        select(Shift.id, Shift.started_at, Shift.break_since)
        .where(Shift.id.in_(forgotten_ids_query))
        .order_by(Shift.id)
        .with_for_update()
        .cte("forgotten_shift")
    )
    shift_update = (
        update(Shift)
        .where(Shift.id == forgotten_shifts.c.id, IS_OPEN_SQL)
        .values(
            ended_at=forgotten_shifts.c.started_at + MAX_SHIFT_DURATION,
            changed_at=forgotten_shifts.c.started_at + MAX_SHIFT_DURATION,
            ended_by=literal(AUTO_CHECKOUT),
            break_since=None,
        )
        .cte("shift_update")
    )
    break_insert = insert(ShiftBreak).from_select(
        ["shift_id", "started_at", "ended_at"],
        select(
            forgotten_shifts.c.id, forgotten_shifts.c.break_since, forgotten_shifts.c.started_at + MAX_SHIFT_DURATION
        ).where(forgotten_shifts.c.break_since.is_not(None)),
    )
    session.execute(break_insert.add_cte(shift_update).execution_options(synchronize_session=False))
