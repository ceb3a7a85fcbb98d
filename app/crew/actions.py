"""Actions of crew and shifts: replace the crew of a stall, start a shift by its code, change its status.

A shift that is open for 16 hours was forgotten: it counts as ended then, in every read and before every write.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import NotFound, StaleVersion
from app.core.ids import new_id
from app.core.tokens import same
from app.core.transaction import transaction
from app.crew import crew_members
from app.crew.crew_members import CrewChange, CrewEntry, MemberWithCode, hash_code, match_crew
from app.crew.errors import NoOpenShift, ShiftCodeWrong, ShiftOpen, ShiftTimesCross, StallCodeWrong
from app.crew.models import CodeGuard, CrewMember, PlannedShift, Shift, ShiftBreak
from app.crew.queries import Stall, lock_stall_exclusive, lock_stall_shared, resolve_occurred_at
from app.crew.rotating_codes import is_valid_stall_code, parse_pass
from app.crew.states import CHECKED_OUT, MAX_SHIFT_DURATION, ON_BREAK, STEPS
from app.events.event_rows import belongs_to
from app.invitations.models import Participation

UPDATED_COLUMNS = ("position", "name", "phone", "email", "role", "code_hash", "retired_at")
MEMBER_COLUMNS = ("id", "merchant_id", "event_id", *UPDATED_COLUMNS)
IS_FORGOTTEN_SQL = Shift.started_at <= func.now() - MAX_SHIFT_DURATION
IS_OPEN_SQL = Shift.ended_at.is_(None)
AUTO_CHECKOUT = "auto"


@dataclass(frozen=True)
class ReplacedCrew:
    """The crew after a change, with new shift codes, and its version."""

    crew: list[MemberWithCode]
    version: int


@dataclass(frozen=True)
class ShiftDetails:
    """A shift with the name of its crew member."""

    id: str
    crew_member_id: str
    name: str
    status: str
    started_at: datetime
    on_break_since: datetime | None
    ended_at: datetime | None
    automatic: bool


@dataclass(frozen=True)
class ShiftStatusChange:
    """The requested status, and the shifts it was requested for."""

    status: str
    shifts: list[ShiftDetails]


def replace_crew(
    *, caller: Caller, event_id: str, expected_version: int | None, crew: Sequence[CrewEntry]
) -> ReplacedCrew:
    """Replaces the crew. Members who are new, or whose code is rotated, have it in `shift_code` of this result only.

    Members who are not in the list are retired and keep their hours, but not their planned shifts. Raises NotFound, StaleVersion, ShiftOpen,
    ValidationFailed.
    """
    with transaction() as session:
        stall = lock_stall_exclusive(session, caller.merchant_id, event_id)
        if expected_version not in (None, stall.crew_version):
            raise StaleVersion()
        known_members = _load_members(session, stall, [str(entry["id"]) for entry in crew if entry.get("id")])
        changes = match_crew(stall, crew, [member for member, _ in known_members])
        retired_members = _find_members_to_retire(known_members, {member.id for member in changes})
        _save_crew(session, stall, changes, retired_members)
        has_changed_plan = _delete_planned_shifts(session, retired_members)
        version = session.scalar(
            update(Participation)
            .where(Participation.merchant_id == caller.merchant_id, Participation.event_id == event_id)
            .values(
                crew_version=Participation.crew_version + 1,
                plan_version=Participation.plan_version + int(has_changed_plan),
            )
            .returning(Participation.crew_version)
            .execution_options(synchronize_session=False)
        )
        assert version is not None
    return ReplacedCrew([change.to_dict() for change in changes], version)


def _load_members(session: OrmSession, stall: Stall, ids: Sequence[str]) -> list[tuple[CrewMember, bool]]:
    """The active members, and retired ones with these ids; with each, whether they have an open shift."""
    is_at_work = select(Shift.id).where(belongs_to(Shift.crew_member_id, CrewMember), _is_at_work_sql()).exists()
    rows = session.execute(
        select(CrewMember, is_at_work)
        .where(
            CrewMember.merchant_id == stall.merchant_id,
            CrewMember.event_id == stall.event_id,
            or_(CrewMember.retired_at.is_(None), CrewMember.id.in_(ids)),
        )
        .order_by(CrewMember.position)
    )
    return [(member, has_open_shift) for member, has_open_shift in rows]


def _find_members_to_retire(
    known_members: Sequence[tuple[CrewMember, bool]], remaining_ids: set[str]
) -> list[CrewMember]:
    """The members that the new list retires. Raises ShiftOpen, which names those with an open shift."""
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
    session: OrmSession, stall: Stall, crew_changes: Sequence[CrewChange], retired_members: Sequence[CrewMember]
) -> None:
    """Writes all members in one statement, the retired ones first, so that their codes are free for the others."""
    retired_rows = [
        {**{column: getattr(retired_member, column) for column in MEMBER_COLUMNS}, "retired_at": stall.now}
        for retired_member in retired_members
    ]
    rows = [*retired_rows, *(crew_change.to_row(stall) for crew_change in crew_changes)]
    if not rows:
        return
    statement = insert(CrewMember).values(rows)
    updated_values = {column: getattr(statement.excluded, column) for column in UPDATED_COLUMNS}
    session.execute(statement.on_conflict_do_update(constraint="pk_crew_member", set_=updated_values))


def _delete_planned_shifts(session: OrmSession, retired_members: Sequence[CrewMember]) -> bool:
    """Deletes the planned shifts of people who leave the crew. Returns whether there were any."""
    if not retired_members:
        return False
    member_ids = [member.id for member in retired_members]
    deleted_ids = session.scalars(
        delete(PlannedShift).where(PlannedShift.crew_member_id.in_(member_ids)).returning(PlannedShift.id)
    )
    return bool(deleted_ids.all())


def start_shift(
    *,
    caller: Caller,
    event_id: str,
    code: str,
    crew_member_id: str | None = None,
    occurred_at: datetime | None = None,
    stall_code: str | None = None,
) -> ShiftDetails:
    """The shift of the member with this code: a new one, or the one that is open already.

    A stall with a rotating code needs that code too. Raises NotFound, StallCodeWrong, ShiftCodeWrong (it counts),
    ShiftCodeLocked, ShiftTimesCross, ValidationFailed.
    """
    with transaction() as session:
        stall = lock_stall_shared(session, caller.merchant_id, event_id)
        if stall.check_in_secret is not None and not is_valid_stall_code(stall, stall_code):
            raise StallCodeWrong()
        occurred_instant = resolve_occurred_at(stall, occurred_at)
        outcome = _try_code(session, stall, code, crew_member_id, occurred_instant)
    return _require_shift(outcome)


def start_shift_at_stall(*, pass_token: str, crew_member_id: str, code: str) -> ShiftDetails:
    """Starts the shift of somebody who has scanned the rotating code of the stall.

    Raises LinkExpired, and the errors of `start_shift`; NotFound after the rotating code was turned off.
    """
    merchant_id, event_id = parse_pass(pass_token)
    with transaction() as session:
        stall = lock_stall_shared(session, merchant_id, event_id)
        if stall.check_in_secret is None:
            raise NotFound()
        outcome = _try_code(session, stall, code, crew_member_id, stall.now)
    return _require_shift(outcome)


def _try_code(
    session: OrmSession, stall: Stall, code: str, crew_member_id: str | None, occurred_instant: datetime
) -> tuple[Shift, CrewMember] | None:
    """The shift of the member with this code; None if it is wrong, which counts."""
    code_hash = hash_code(stall.merchant_id, stall.event_id, code)
    member = _find_member(session, stall, crew_member_id, code_hash)
    subject = crew_member_id or f"{stall.merchant_id}:{stall.event_id}"
    crew_members.count_try(session, subject)
    if member is None or not same(member.code_hash, code_hash):
        return None
    check_out_forgotten_shifts(session, stall)
    return _start_or_find_shift(session, member, occurred_instant, subject), member


def _require_shift(outcome: tuple[Shift, CrewMember] | None) -> ShiftDetails:
    """The details of a shift. Raises ShiftCodeWrong, after the transaction that has counted the try."""
    if outcome is None:
        raise ShiftCodeWrong()
    return _build_shift_details(*outcome)


def change_shift_status(
    *,
    caller: Caller,
    event_id: str,
    status: str,
    crew_member_id: str | None = None,
    occurred_at: datetime | None = None,
) -> ShiftStatusChange:
    """Ends shifts, or starts and ends breaks, of one member or of everybody at work.

    A repeated request changes nothing. Raises NotFound, NoOpenShift, ShiftTimesCross, ValidationFailed.
    """
    with transaction() as session:
        stall = lock_stall_shared(session, caller.merchant_id, event_id)
        occurred_instant = resolve_occurred_at(stall, occurred_at)
        check_out_forgotten_shifts(session, stall)
        shift_rows = _lock_shifts(session, stall, crew_member_id)
        if crew_member_id is not None:
            _check_step(shift_rows, status, occurred_instant)
        shifts_to_change = [
            shift for shift, _ in shift_rows if status in STEPS[shift.status] and shift.changed_at <= occurred_instant
        ]
        _end_breaks(session, [shift for shift in shifts_to_change if shift.break_since is not None], occurred_instant)
        _update_shifts(session, shifts_to_change, status, occurred_instant)
    return ShiftStatusChange(status, [_build_shift_details(shift, member) for shift, member in shift_rows])


def _find_member(session: OrmSession, stall: Stall, member_id: str | None, code_hash: str) -> CrewMember | None:
    """The active member with this id, or with this code if no id is given. Raises NotFound for an unknown id.

    The row is locked, so one shift of a member starts at a time: between migrations 0023 and 0024 two unique indexes
    refuse a second open shift, and an insert that meets the other one fails.
    """
    statement = (
        select(CrewMember)
        .where(
            CrewMember.merchant_id == stall.merchant_id,
            CrewMember.event_id == stall.event_id,
            CrewMember.retired_at.is_(None),
            CrewMember.id == member_id if member_id is not None else CrewMember.code_hash == code_hash,
        )
        .with_for_update(key_share=True)
    )
    member = session.scalar(statement)
    if member is None and member_id is not None:
        raise NotFound()
    return member


def _start_or_find_shift(session: OrmSession, member: CrewMember, occurred_instant: datetime, subject: str) -> Shift:
    """The member's open shift, inserted if there is none; deletes the counted tries. Raises ShiftTimesCross."""
    of_member = and_(Shift.crew_member_id == member.id, Shift.event_id == member.event_id)
    has_open_shift = select(Shift.id).where(of_member, IS_OPEN_SQL).exists()
    has_later_shift = select(Shift.id).where(of_member, Shift.ended_at > occurred_instant).exists()
    values = select(*map(literal, (new_id(), member.id, member.event_id, occurred_instant, occurred_instant))).where(
        or_(has_open_shift, ~has_later_shift)
    )
    columns = ["id", "crew_member_id", "event_id", "started_at", "changed_at"]
    statement = insert(Shift).from_select(columns, values)
    statement = statement.on_conflict_do_update(
        index_elements=["crew_member_id", "event_id"], index_where=IS_OPEN_SQL, set_={"crew_member_id": member.id}
    )
    deleted_tries = delete(CodeGuard).where(CodeGuard.subject == subject).cte("deleted_tries")
    shift = session.scalar(
        statement.returning(Shift).add_cte(deleted_tries), execution_options={"populate_existing": True}
    )
    if shift is None:
        raise ShiftTimesCross()
    return shift


def _lock_shifts(session: OrmSession, stall: Stall, member_id: str | None) -> list[tuple[Shift, CrewMember]]:
    """The open shifts of the stall, locked in the order of their ids; of a given member the latest, open or not.

    Raises NotFound, NoOpenShift for a member who never had one.
    """
    stall_conditions = (CrewMember.merchant_id == stall.merchant_id, CrewMember.event_id == stall.event_id)
    statement = (
        select(Shift, CrewMember)
        .join(CrewMember, belongs_to(Shift.crew_member_id, CrewMember))
        .where(*stall_conditions)
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
            {
                "shift_id": shift.id,
                "event_id": shift.event_id,
                "started_at": shift.break_since,
                "ended_at": occurred_instant,
            }
            for shift in shifts
        ]
        session.execute(insert(ShiftBreak), rows)


def _update_shifts(session: OrmSession, shifts: Sequence[Shift], status: str, occurred_instant: datetime) -> None:
    """Sets the status in one statement, and on the loaded objects."""
    changes: dict[str, datetime | str | None] = {
        "changed_at": occurred_instant,
        "break_since": occurred_instant if status == ON_BREAK else None,
    }
    if status == CHECKED_OUT:
        changes |= {"ended_at": occurred_instant, "ended_by": "checkout"}
    ids = [shift.id for shift in shifts]
    if ids:
        session.execute(update(Shift).where(Shift.id.in_(ids)).values(**changes))


def _build_shift_details(shift: Shift, member: CrewMember) -> ShiftDetails:
    return ShiftDetails(
        id=shift.id,
        crew_member_id=member.id,
        name=member.name,
        status=shift.status,
        started_at=shift.started_at,
        on_break_since=shift.break_since,
        ended_at=shift.ended_at,
        automatic=shift.ended_by == AUTO_CHECKOUT,
    )


def _is_at_work_sql() -> ColumnElement[bool]:
    """True for a shift that is open and not forgotten."""
    return IS_OPEN_SQL & ~IS_FORGOTTEN_SQL


def check_out_forgotten_shifts(session: OrmSession, stall: Stall | None = None) -> None:
    """Ends the forgotten shifts of one stall, or of all, and the breaks in them, in one statement."""
    forgotten_ids_query = select(Shift.id).where(IS_OPEN_SQL, IS_FORGOTTEN_SQL)
    if stall is not None:
        forgotten_ids_query = forgotten_ids_query.join(CrewMember, belongs_to(Shift.crew_member_id, CrewMember)).where(
            CrewMember.merchant_id == stall.merchant_id, CrewMember.event_id == stall.event_id
        )
    forgotten_shifts = (
        select(Shift.id, Shift.event_id, Shift.started_at, Shift.break_since)
        .where(Shift.id.in_(forgotten_ids_query))
        .order_by(Shift.id)
        .with_for_update()
        .cte("forgotten_shift")
    )
    shift_update = (
        update(Shift)
        .where(Shift.id == forgotten_shifts.c.id, Shift.event_id == forgotten_shifts.c.event_id, IS_OPEN_SQL)
        .values(
            ended_at=forgotten_shifts.c.started_at + MAX_SHIFT_DURATION,
            changed_at=forgotten_shifts.c.started_at + MAX_SHIFT_DURATION,
            ended_by=literal(AUTO_CHECKOUT),
            break_since=None,
        )
        .cte("shift_update")
    )
    break_insert = insert(ShiftBreak).from_select(
        ["shift_id", "event_id", "started_at", "ended_at"],
        select(
            forgotten_shifts.c.id,
            forgotten_shifts.c.event_id,
            forgotten_shifts.c.break_since,
            forgotten_shifts.c.started_at + MAX_SHIFT_DURATION,
        ).where(forgotten_shifts.c.break_since.is_not(None)),
    )
    session.execute(break_insert.add_cte(shift_update).execution_options(synchronize_session=False))
