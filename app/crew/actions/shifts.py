"""Starting a shift by its code, and what becomes of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert as insert_or_find
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.tokens import same
from app.core.transaction import transaction
from app.crew import guard
from app.crew.closing import OPEN, close_forgotten
from app.crew.codes import hash_of
from app.crew.errors import NoOpenShift, ShiftCodeWrong, ShiftTimesCross
from app.crew.models import CodeGuard, CrewMember, Shift, ShiftBreak
from app.crew.stall import Stall, moment, stall_at_work
from app.crew.states import CHECKED_OUT, ON_BREAK, STEPS


def verify(
    *,
    caller: Caller,
    event_id: str,
    code: str,
    crew_member_id: str | None = None,
    occurred_at: datetime | None = None,
) -> dict[str, Any]:
    """The shift of whoever has this code: a new one, or the one that is open already.

    Raises NotFound, ShiftCodeWrong (it counts), ShiftCodeLocked, ShiftTimesCross, ValidationFailed.
    """
    right = False
    with transaction() as session:
        own = stall_at_work(session, caller.id, event_id)
        then = moment(own, occurred_at)
        hashed = hash_of(caller.id, event_id, code)
        member = _member(session, own, crew_member_id, hashed)
        subject = crew_member_id or f"{caller.id}:{event_id}"
        guard.count_try(session, subject)
        right = member is not None and same(member.code_hash, hashed)
        if member is not None and right:
            close_forgotten(session, own)
            shift = _begun(session, member, then, subject)
    if member is None or not right:
        raise ShiftCodeWrong()
    return _shown(shift, member)


def check_out(
    *,
    caller: Caller,
    event_id: str,
    status: str,
    crew_member_id: str | None = None,
    occurred_at: datetime | None = None,
) -> dict[str, Any]:
    """Ends shifts, or begins and ends breaks: one person's, or of everybody who is there.

    Repeating it changes nothing. Raises NotFound, NoOpenShift, ShiftTimesCross, ValidationFailed.
    """
    with transaction() as session:
        own = stall_at_work(session, caller.id, event_id)
        then = moment(own, occurred_at)
        close_forgotten(session, own)
        found = _shifts(session, own, crew_member_id)
        if crew_member_id is not None:
            _check(found, status, then)
        steps = [shift for shift, _ in found if status in STEPS[shift.status] and shift.changed_at <= then]
        _end_breaks(session, [step for step in steps if step.break_since is not None], then)
        _go(session, steps, status, then)
    return {"status": status, "shifts": [_shown(*item) for item in found]}


def _member(session: OrmSession, own: Stall, member_id: str | None, hashed: str) -> CrewMember | None:
    """The active member of that id, or of that code. Raises NotFound for an id that is not of this stall."""
    statement = select(CrewMember).where(
        CrewMember.merchant_id == own.merchant_id,
        CrewMember.event_id == own.event_id,
        CrewMember.retired_at.is_(None),
        CrewMember.id == member_id if member_id is not None else CrewMember.code_hash == hashed,
    )
    found = session.scalar(statement)
    if found is None and member_id is not None:
        raise NotFound()
    return found


def _begun(session: OrmSession, member: CrewMember, then: datetime, subject: str) -> Shift:
    """The member's open shift, there now if not before; the tries of whoever had the right code are forgotten."""
    mine = Shift.crew_member_id == member.id
    open_now = select(Shift.id).where(mine, OPEN).exists()
    later = select(Shift.id).where(mine, Shift.ended_at > then).exists()
    values = select(literal(new_id()), literal(member.id), literal(then), literal(then)).where(or_(open_now, ~later))
    statement = insert_or_find(Shift).from_select(["id", "crew_member_id", "started_at", "changed_at"], values)
    statement = statement.on_conflict_do_update(
        index_elements=["crew_member_id"], index_where=OPEN, set_={"crew_member_id": member.id}
    )
    cleared = delete(CodeGuard).where(CodeGuard.subject == subject).cte("cleared")
    shift = session.scalar(statement.returning(Shift).add_cte(cleared), execution_options={"populate_existing": True})
    if shift is None:
        raise ShiftTimesCross()
    return shift


def _shifts(session: OrmSession, own: Stall, member_id: str | None) -> list[tuple[Shift, CrewMember]]:
    """Open shifts of the stall, locked in one order; of a named member the latest, open or not.

    Raises NotFound, NoOpenShift for a member who never had one.
    """
    at_stall = (CrewMember.merchant_id == own.merchant_id, CrewMember.event_id == own.event_id)
    statement = select(Shift, CrewMember).join(CrewMember, CrewMember.id == Shift.crew_member_id).where(*at_stall)
    if member_id is None:
        statement = statement.where(OPEN).order_by(Shift.id)
    else:
        statement = statement.where(CrewMember.id == member_id).order_by(Shift.started_at.desc()).limit(1)
    rows = session.execute(statement.with_for_update(of=Shift), execution_options={"populate_existing": True}).all()
    if member_id is not None and not rows:
        known = session.scalar(select(CrewMember.id).where(*at_stall, CrewMember.id == member_id))
        raise NotFound() if known is None else NoOpenShift()
    return [(shift, member) for shift, member in rows]


def _check(found: Sequence[tuple[Shift, CrewMember]], status: str, then: datetime) -> None:
    shift = found[0][0]
    if status == shift.status:
        return
    if status not in STEPS[shift.status]:
        raise NoOpenShift()
    if shift.changed_at > then:
        raise ShiftTimesCross()


def _end_breaks(session: OrmSession, shifts: Sequence[Shift], then: datetime) -> None:
    if shifts:
        rows = [{"shift_id": shift.id, "started_at": shift.break_since, "ended_at": then} for shift in shifts]
        session.execute(insert(ShiftBreak), rows)


def _go(session: OrmSession, shifts: Sequence[Shift], status: str, then: datetime) -> None:
    """Takes the step in one statement, and on the objects that are shown."""
    changes: dict[str, Any] = {"changed_at": then, "break_since": then if status == ON_BREAK else None}
    if status == CHECKED_OUT:
        changes |= {"ended_at": then, "ended_by": "checkout"}
    ids = [shift.id for shift in shifts]
    if ids:
        session.execute(update(Shift).where(Shift.id.in_(ids)).values(**changes))


def _shown(shift: Shift, member: CrewMember) -> dict[str, Any]:
    return {
        "id": shift.id,
        "crew_member_id": member.id,
        "name": member.name,
        "status": shift.status,
        "started_at": shift.started_at,
        "on_break_since": shift.break_since,
        "ended_at": shift.ended_at,
        "automatic": shift.ended_by == "auto",
    }
