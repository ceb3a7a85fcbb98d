"""What happens at a stall: one verb, one transaction.

Replacing the crew of a stall.

Starting a shift by its code, and what becomes of it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import NotFound, StaleVersion
from app.core.ids import new_id
from app.core.tokens import same
from app.core.transaction import transaction
from app.crew import shift_codes
from app.crew.auto_checkout import IS_OPEN_SQL, check_out_forgotten_shifts, is_at_work_sql
from app.crew.crew_matching import CrewChange, match_crew
from app.crew.errors import NoOpenShift, ShiftCodeWrong, ShiftOpen, ShiftTimesCross
from app.crew.models import CodeGuard, CrewMember, Shift, ShiftBreak
from app.crew.shift_codes import hash_code
from app.crew.stall_access import Stall, lock_stall_exclusive, lock_stall_shared, resolve_occurred_at
from app.crew.states import CHECKED_OUT, ON_BREAK, STEPS
from app.invitations.models import Participation

__all__ = ["change_shift_status", "replace_crew", "start_shift"]

UPDATED_COLUMNS = ("position", "name", "phone", "email", "role", "code_hash", "retired_at")
MEMBER_COLUMNS = ("id", "merchant_id", "event_id", *UPDATED_COLUMNS)


def replace_crew(
    *, caller: Caller, event_id: str, expected_version: int | None, crew: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The crew as it is now; who is new, or wanted a new code, has it in `shift_code`, this once.

    Who is not named is retired and keeps their hours. Raises NotFound, StaleVersion, ShiftOpen, ValidationFailed.
    """
    with transaction() as session:
        own_stall = lock_stall_exclusive(session, caller.id, event_id)
        if expected_version not in (None, own_stall.crew_version):
            raise StaleVersion()
        known_members = _load_members(session, own_stall, [str(entry["id"]) for entry in crew if entry.get("id")])
        changes = match_crew(own_stall, crew, [member for member, _ in known_members])
        retired_members = _find_members_to_retire(known_members, {member.id for member in changes})
        _save_crew(session, own_stall, changes, retired_members)
        version = session.scalar(
            update(Participation)
            .where(Participation.merchant_id == caller.id, Participation.event_id == event_id)
            .values(crew_version=Participation.crew_version + 1)
            .returning(Participation.crew_version)
            .execution_options(synchronize_session=False)
        )
    return {"crew": [member.to_dict() for member in changes], "version": version}


def _load_members(session: OrmSession, own_stall: Stall, ids: Sequence[str]) -> list[tuple[CrewMember, bool]]:
    """Who is in the crew, or was and is named again; and whether a shift of theirs is open."""
    is_at_work = select(Shift.id).where(Shift.crew_member_id == CrewMember.id, is_at_work_sql()).exists()
    rows = session.execute(
        select(CrewMember, is_at_work)
        .where(
            CrewMember.merchant_id == own_stall.merchant_id,
            CrewMember.event_id == own_stall.event_id,
            or_(CrewMember.retired_at.is_(None), CrewMember.id.in_(ids)),
        )
        .order_by(CrewMember.position)
    )
    return [(member, has_open_shift) for member, has_open_shift in rows]


def _find_members_to_retire(
    known_members: Sequence[tuple[CrewMember, bool]], remaining_ids: set[str]
) -> list[CrewMember]:
    """Who is retired by the new list. Raises ShiftOpen, which names those still at work."""
    members_to_retire = [
        (member, has_open_shift) for member, has_open_shift in known_members if member.id not in remaining_ids
    ]
    working_members = [
        {"id": member.id, "name": member.name} for member, has_open_shift in members_to_retire if has_open_shift
    ]
    if working_members:
        raise ShiftOpen(members=working_members)
    return [member for member, _ in members_to_retire if member.retired_at is None]


def _save_crew(
    session: OrmSession, own_stall: Stall, crew_changes: Sequence[CrewChange], retired_members: Sequence[CrewMember]
) -> None:
    """Writes all of them in one statement: first who leaves, so that their code is free for the others."""
    retired_rows = [
        {**{column: getattr(retired_member, column) for column in MEMBER_COLUMNS}, "retired_at": own_stall.now}
        for retired_member in retired_members
    ]
    rows = [*retired_rows, *(crew_change.to_row(own_stall) for crew_change in crew_changes)]
    if not rows:
        return
    statement = insert(CrewMember).values(rows)
    updated_values = {column: getattr(statement.excluded, column) for column in UPDATED_COLUMNS}
    session.execute(statement.on_conflict_do_update(index_elements=["id"], set_=updated_values))


def start_shift(
    *,
    caller: Caller,
    event_id: str,
    code: str,
    crew_member_id: str | None = None,
    occurred_at: datetime | None = None,
) -> dict[str, Any]:
    """The shift of the member with this code: a new one, or the one that is open already.

    Raises NotFound, ShiftCodeWrong (it counts), ShiftCodeLocked, ShiftTimesCross, ValidationFailed.
    """
    is_correct = False
    with transaction() as session:
        own_stall = lock_stall_shared(session, caller.id, event_id)
        occurred_instant = resolve_occurred_at(own_stall, occurred_at)
        code_hash = hash_code(caller.id, event_id, code)
        member = _find_member(session, own_stall, crew_member_id, code_hash)
        subject = crew_member_id or f"{caller.id}:{event_id}"
        shift_codes.count_try(session, subject)
        is_correct = member is not None and same(member.code_hash, code_hash)
        if member is not None and is_correct:
            check_out_forgotten_shifts(session, own_stall)
            shift = _start_or_find_shift(session, member, occurred_instant, subject)
    if member is None or not is_correct:
        raise ShiftCodeWrong()
    return _serialize_shift(shift, member)


def change_shift_status(
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
        own_stall = lock_stall_shared(session, caller.id, event_id)
        occurred_instant = resolve_occurred_at(own_stall, occurred_at)
        check_out_forgotten_shifts(session, own_stall)
        shift_rows = _lock_shifts(session, own_stall, crew_member_id)
        if crew_member_id is not None:
            _check_step(shift_rows, status, occurred_instant)
        shifts_to_change = [
            shift for shift, _ in shift_rows if status in STEPS[shift.status] and shift.changed_at <= occurred_instant
        ]
        _end_breaks(
            session,
            [changing_shift for changing_shift in shifts_to_change if changing_shift.break_since is not None],
            occurred_instant,
        )
        _update_shifts(session, shifts_to_change, status, occurred_instant)
    return {"status": status, "shifts": [_serialize_shift(*shift_row) for shift_row in shift_rows]}


def _find_member(session: OrmSession, own_stall: Stall, member_id: str | None, code_hash: str) -> CrewMember | None:
    """The active member of that id, or of that code. Raises NotFound for an id that is not of this stall."""
    statement = select(CrewMember).where(
        CrewMember.merchant_id == own_stall.merchant_id,
        CrewMember.event_id == own_stall.event_id,
        CrewMember.retired_at.is_(None),
        CrewMember.id == member_id if member_id is not None else CrewMember.code_hash == code_hash,
    )
    member = session.scalar(statement)
    if member is None and member_id is not None:
        raise NotFound()
    return member


def _start_or_find_shift(session: OrmSession, member: CrewMember, occurred_instant: datetime, subject: str) -> Shift:
    """The member's open shift, there now if not before; the tries of anyone who had the right code are forgotten."""
    of_member = Shift.crew_member_id == member.id
    has_open_shift = select(Shift.id).where(of_member, IS_OPEN_SQL).exists()
    has_later_shift = select(Shift.id).where(of_member, Shift.ended_at > occurred_instant).exists()
    values = select(literal(new_id()), literal(member.id), literal(occurred_instant), literal(occurred_instant)).where(
        or_(has_open_shift, ~has_later_shift)
    )
    statement = insert(Shift).from_select(["id", "crew_member_id", "started_at", "changed_at"], values)
    statement = statement.on_conflict_do_update(
        index_elements=["crew_member_id"], index_where=IS_OPEN_SQL, set_={"crew_member_id": member.id}
    )
    deleted_tries = delete(CodeGuard).where(CodeGuard.subject == subject).cte("cleared")
    shift = session.scalar(
        statement.returning(Shift).add_cte(deleted_tries), execution_options={"populate_existing": True}
    )
    if shift is None:
        raise ShiftTimesCross()
    return shift


def _lock_shifts(session: OrmSession, own_stall: Stall, member_id: str | None) -> list[tuple[Shift, CrewMember]]:
    """Open shifts of the stall, locked in one order; of a named member the latest, open or not.

    Raises NotFound, NoOpenShift for a member who never had one.
    """
    stall_conditions = (CrewMember.merchant_id == own_stall.merchant_id, CrewMember.event_id == own_stall.event_id)
    statement = (
        select(Shift, CrewMember).join(CrewMember, CrewMember.id == Shift.crew_member_id).where(*stall_conditions)
    )
    if member_id is None:
        statement = statement.where(IS_OPEN_SQL).order_by(Shift.id)
    else:
        statement = statement.where(CrewMember.id == member_id).order_by(Shift.started_at.desc()).limit(1)
    rows = session.execute(statement.with_for_update(of=Shift), execution_options={"populate_existing": True}).all()
    if member_id is not None and not rows:
        known_id = session.scalar(select(CrewMember.id).where(*stall_conditions, CrewMember.id == member_id))
        raise NotFound() if known_id is None else NoOpenShift()
    return [(shift, member) for shift, member in rows]


def _check_step(shift_rows: Sequence[tuple[Shift, CrewMember]], status: str, occurred_instant: datetime) -> None:
    shift = shift_rows[0][0]
    if status == shift.status:
        return
    if status not in STEPS[shift.status]:
        raise NoOpenShift()
    if shift.changed_at > occurred_instant:
        raise ShiftTimesCross()


def _end_breaks(session: OrmSession, shifts: Sequence[Shift], occurred_instant: datetime) -> None:
    if shifts:
        rows = [
            {"shift_id": shift.id, "started_at": shift.break_since, "ended_at": occurred_instant} for shift in shifts
        ]
        session.execute(insert(ShiftBreak), rows)


def _update_shifts(session: OrmSession, shifts: Sequence[Shift], status: str, occurred_instant: datetime) -> None:
    """Takes the step in one statement, and on the objects that are shown."""
    changes: dict[str, Any] = {
        "changed_at": occurred_instant,
        "break_since": occurred_instant if status == ON_BREAK else None,
    }
    if status == CHECKED_OUT:
        changes |= {"ended_at": occurred_instant, "ended_by": "checkout"}
    ids = [shift.id for shift in shifts]
    if ids:
        session.execute(update(Shift).where(Shift.id.in_(ids)).values(**changes))


def _serialize_shift(shift: Shift, member: CrewMember) -> dict[str, Any]:
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
