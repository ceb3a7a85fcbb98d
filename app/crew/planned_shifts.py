"""Planned shifts of a stall: the plan as one list with a version, and who is missing.

A planned shift is at risk from 30 minutes before it begins until it ends, while its person is not checked in.
"""

from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, NotRequired, TypedDict

from sqlalchemy import ColumnElement, Select, case, delete, func, insert, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.db import db
from app.core.errors import StaleVersion, ValidationFailed
from app.core.ids import new_id
from app.core.transaction import transaction
from app.crew.models import CrewMember, PlannedShift, Shift
from app.crew.queries import Stall, get_stall, lock_stall_exclusive
from app.crew.states import MAX_SHIFT_DURATION
from app.events.event_rows import belongs_to
from app.events.models import Event
from app.events.timezones import to_instant
from app.invitations.models import Participation

WARNING_TIME = timedelta(minutes=30)
LATE, DUE = "late", "due"
"""Whether a planned shift at risk has begun, or begins soon."""
Problem = dict[str, str]
ShiftKey = tuple[str, datetime, datetime]
"""The id of the person, the start and the end of a planned shift."""


class PlannedMember(NamedTuple):
    """A person of the crew, with their place in its order."""

    name: str
    position: int


class PlannedShiftEntry(TypedDict):
    """A planned shift in the list that was sent. Naive times are in the event's time zone.

    The id is only for the sender: a shift of the same person at the same time keeps its id.
    """

    id: NotRequired[str]
    crew_member_id: str
    starts_at: datetime
    ends_at: datetime
    note: NotRequired[str | None]


@dataclass(frozen=True)
class PlannedShiftDetails:
    """A planned shift with the name of its person."""

    id: str
    crew_member_id: str
    name: str
    starts_at: datetime
    ends_at: datetime
    note: str | None


@dataclass(frozen=True)
class ShiftPlan:
    """The planned shifts of a stall in the order of time; one resource with one version."""

    planned_shifts: Sequence[PlannedShiftDetails]
    version: int


@dataclass(frozen=True)
class AtRiskShift(PlannedShiftDetails):
    """A planned shift whose person is not checked in."""

    event_id: str
    event_name: str
    timezone: str
    phone: str | None
    state: str


def get_shift_plan(caller: Caller, event_id: str) -> ShiftPlan:
    """The planned shifts of the caller's stall. Raises NotFound."""
    stall = get_stall(caller.merchant_id, event_id)
    rows = db.session.execute(_planned_shifts_query().where(*_at_stall(stall))).all()
    return ShiftPlan([PlannedShiftDetails(**row._asdict()) for row in rows], stall.plan_version)


def list_plan_entries(plan: ShiftPlan) -> list[PlannedShiftEntry]:
    """The plan as a list that changes nothing when it is sent."""
    return [
        {
            "id": shift.id,
            "crew_member_id": shift.crew_member_id,
            "starts_at": shift.starts_at,
            "ends_at": shift.ends_at,
            "note": shift.note,
        }
        for shift in plan.planned_shifts
    ]


def replace_shift_plan(
    *,
    caller: Caller,
    event_id: str,
    expected_version: int | None,
    planned_shifts: Sequence[PlannedShiftEntry],
) -> ShiftPlan:
    """Replaces the planned shifts. Sending the same list again changes nothing but the version.

    Raises NotFound, StaleVersion, ValidationFailed.
    """
    with transaction() as session:
        stall = lock_stall_exclusive(session, caller.merchant_id, event_id)
        if expected_version not in (None, stall.plan_version):
            raise StaleVersion()
        members, id_by_shift = _load_members_and_ids(session, stall)
        rows = _build_rows(stall, planned_shifts, members, id_by_shift)
        deleted_shifts = delete(PlannedShift).where(*_at_stall(stall)).returning(PlannedShift.id).cte("deleted_shift")
        version = session.scalar(
            update(Participation)
            .where(Participation.merchant_id == stall.merchant_id, Participation.event_id == stall.event_id)
            .values(plan_version=Participation.plan_version + 1)
            .returning(Participation.plan_version)
            .add_cte(deleted_shifts)
            .execution_options(synchronize_session=False)
        )
        assert version is not None
        if rows:
            session.execute(insert(PlannedShift), rows)
    saved_shifts = [
        PlannedShiftDetails(
            **{name: value for name, value in row.items() if name not in ("event_id", "merchant_id")},
            name=members[row["crew_member_id"]].name,
        )
        for row in rows
    ]
    saved_shifts.sort(key=lambda shift: (shift.starts_at, members[shift.crew_member_id].position, shift.id))
    return ShiftPlan(saved_shifts, version)


def move_shifts(session: OrmSession, event_id: str, days: int) -> None:
    """Moves the planned shifts of all stalls that have not begun by so many days; they keep their time of the day."""
    stalls = (
        select(Participation.merchant_id)
        .where(Participation.event_id == event_id)
        .order_by(Participation.merchant_id)
        .with_for_update()
    )
    session.execute(stalls).all()
    zone = select(Event.timezone).where(Event.id == event_id).scalar_subquery()
    local_start = func.timezone(zone, PlannedShift.starts_at) + timedelta(days=days)
    new_start = func.timezone(zone, local_start)
    duration = PlannedShift.ends_at - PlannedShift.starts_at
    moved_shifts = (
        update(PlannedShift)
        .where(PlannedShift.event_id == event_id, PlannedShift.starts_at > func.now())
        .values(starts_at=new_start, ends_at=new_start + duration)
        .returning(PlannedShift.merchant_id)
        .cte("moved_shift")
    )
    session.execute(
        update(Participation)
        .where(Participation.event_id == event_id, Participation.merchant_id.in_(select(moved_shifts.c.merchant_id)))
        .values(plan_version=Participation.plan_version + 1)
        .execution_options(synchronize_session=False)
    )


def count_planned_shifts(merchant_id: str, event_id: str) -> tuple[int, int]:
    """How many planned shifts of a stall have not begun, and how many of them begin when the event is over."""
    row = db.session.execute(
        select(func.count(), func.count().filter(PlannedShift.starts_at >= Event.ends_at))
        .select_from(PlannedShift)
        .join(Event, Event.id == PlannedShift.event_id)
        .where(
            PlannedShift.merchant_id == merchant_id,
            PlannedShift.event_id == event_id,
            PlannedShift.starts_at > func.now(),
        )
    ).one()
    return row[0], row[1]


def list_at_risk_shifts(
    merchant_id: str, event_id: str | None = None, *, moment: datetime | None = None
) -> list[AtRiskShift]:
    """The planned shifts at risk at `moment` (by default now) at one event or at all, the earliest first."""
    now = func.now() if moment is None else moment
    is_checked_in = (
        select(Shift.id)
        .where(
            belongs_to(Shift.crew_member_id, CrewMember),
            Shift.ended_at.is_(None),
            Shift.started_at > now - MAX_SHIFT_DURATION,
        )
        .exists()
    )
    statement = (
        _planned_shifts_query()
        .add_columns(
            PlannedShift.event_id,
            Event.name.label("event_name"),
            Event.timezone,
            CrewMember.phone,
            case((PlannedShift.starts_at <= now, LATE), else_=DUE).label("state"),
        )
        .join(Event, Event.id == PlannedShift.event_id)
        .where(
            PlannedShift.merchant_id == merchant_id,
            PlannedShift.starts_at <= now + WARNING_TIME,
            PlannedShift.ends_at > now,
            CrewMember.retired_at.is_(None),
            ~is_checked_in,
        )
    )
    if event_id is not None:
        statement = statement.where(PlannedShift.event_id == event_id)
    return [AtRiskShift(**row._asdict()) for row in db.session.execute(statement)]


def get_at_risk_shifts(caller: Caller, event_id: str) -> list[AtRiskShift]:
    """The planned shifts at risk now at the caller's stall. Raises NotFound."""
    get_stall(caller.merchant_id, event_id)
    return list_at_risk_shifts(caller.merchant_id, event_id)


def _planned_shifts_query() -> Select[*tuple[object, ...]]:
    """The columns of `PlannedShiftDetails`, in the order of time."""
    return (
        select(
            PlannedShift.id,
            PlannedShift.crew_member_id,
            CrewMember.name,
            PlannedShift.starts_at,
            PlannedShift.ends_at,
            PlannedShift.note,
        )
        .join(CrewMember, belongs_to(PlannedShift.crew_member_id, CrewMember))
        .order_by(PlannedShift.starts_at, CrewMember.position, PlannedShift.id)
    )


def _at_stall(stall: Stall) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return PlannedShift.merchant_id == stall.merchant_id, PlannedShift.event_id == stall.event_id


def _load_members_and_ids(session: OrmSession, stall: Stall) -> tuple[dict[str, PlannedMember], dict[ShiftKey, str]]:
    """The active members by id, and the ids of their planned shifts. One that stays in the list keeps its id."""
    rows = session.execute(
        select(
            CrewMember.id,
            CrewMember.name,
            CrewMember.position,
            PlannedShift.id,
            PlannedShift.starts_at,
            PlannedShift.ends_at,
        )
        .outerjoin(PlannedShift, belongs_to(PlannedShift.crew_member_id, CrewMember))
        .where(
            CrewMember.merchant_id == stall.merchant_id,
            CrewMember.event_id == stall.event_id,
            CrewMember.retired_at.is_(None),
        )
    ).all()
    members = {member_id: PlannedMember(name, position) for member_id, name, position, *_ in rows}
    ids = {(row[0], row[4], row[5]): row[3] for row in rows if row[3] is not None}
    return members, ids


def _build_rows(
    stall: Stall,
    entries: Sequence[PlannedShiftEntry],
    members: Container[str],
    id_by_shift: dict[ShiftKey, str],
) -> list[dict[str, Any]]:
    """The rows of the new plan. Raises ValidationFailed with all problems."""
    rows: list[dict[str, Any]] = []
    problems: list[Problem] = []
    earlier_spans: dict[str, list[tuple[datetime, datetime]]] = defaultdict(list)
    for position, entry in enumerate(entries):
        starts_at, ends_at = (to_instant(entry[name], stall.timezone) for name in ("starts_at", "ends_at"))
        member_id, path = entry["crew_member_id"], f"plannedShifts[{position}]"
        if member_id not in members:
            problems.append(_problem(f"{path}.crewMemberId", "not_found", "Take the id of a member of this crew."))
        if ends_at <= starts_at:
            problems.append(_problem(f"{path}.endsAt", "ends_before_start", "Must be after the start."))
        elif ends_at - starts_at > MAX_SHIFT_DURATION:
            problems.append(_problem(f"{path}.endsAt", "too_long", "A shift has at most 16 hours."))
        elif any(start < ends_at and starts_at < end for start, end in earlier_spans[member_id]):
            problems.append(_problem(f"{path}.startsAt", "overlap", "This person has another shift at that time."))
        earlier_spans[member_id].append((starts_at, ends_at))
        rows.append(
            {
                "id": id_by_shift.pop((member_id, starts_at, ends_at), None) or new_id(),
                "event_id": stall.event_id,
                "merchant_id": stall.merchant_id,
                "crew_member_id": member_id,
                "starts_at": starts_at,
                "ends_at": ends_at,
                "note": entry.get("note") or None,
            }
        )
    if problems:
        raise ValidationFailed(problems)
    return rows


def _problem(path: str, code: str, message: str) -> Problem:
    return {"path": path, "code": code, "message": message}
