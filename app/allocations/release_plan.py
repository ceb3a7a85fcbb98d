"""Staged release: at set times, a block gives some of its unused places back to the public.

A block stores its steps in `release_plan`, in the order of their times. Who changes a step holds the block's lock, so a
step runs once. The worker runs each step by a job of its own; a step that was removed meanwhile is not found.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NotRequired, TypedDict

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.allocations.models import AllocationBlock, ReleaseStepJson
from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.events.timezones import to_instant

Problem = dict[str, str]
STEP_FIELDS = ("due_at", "quantity", "percent")


class PlannedStep(TypedDict):
    """A step as the organiser sends it: a number of places, or per cent of those that are unused then.

    A naive time is in the event's time zone.
    """

    on: datetime
    quantity: NotRequired[int | None]
    percent: NotRequired[int | None]


class ReleaseStep(TypedDict):
    """A step of a block. `released` is how many places it gave back; None before it has run."""

    on: datetime
    quantity: int | None
    percent: int | None
    released_at: datetime | None
    released: int | None


def build_release_plan(
    steps: Sequence[PlannedStep],
    *,
    timezone: str,
    ends_at: datetime,
    release_at: datetime | None,
    present: Sequence[ReleaseStepJson] = (),
    path: str = "releasePlan",
) -> list[ReleaseStepJson]:
    """Return the plan of a block: the steps that were sent, and those of `present` whose time has come.

    A sent step that is in `present` stays as it is. Raises ValidationFailed with all problems.
    """
    if not steps and not present:
        return []
    now = database_now()
    present_steps = {_get_key(step): step for step in present}
    plan = [step for step in present if _is_past(step, now)]
    problems: list[Problem] = []
    for index, sent_step in enumerate(steps):
        step = _build_step(sent_step, timezone)
        step = present_steps.get(_get_key(step), step)
        if step in plan and _is_past(step, now):
            continue
        sentence = _find_time_problem(step, now, ends_at, release_at, plan)
        if sentence is not None:
            code = "in_the_past" if _get_due_at(step) <= now else "contradiction"
            problems.append({"path": f"{path}[{index}].on", "code": code, "message": sentence})
        plan.append(step)
    if problems:
        raise ValidationFailed(problems)
    return sorted(plan, key=_get_due_at)


def check_release_at(plan: Iterable[ReleaseStepJson], release_at: datetime | None) -> None:
    """Raises ValidationFailed if a step that has not run is not before `release_at`."""
    if release_at is None:
        return
    if any(step["released_at"] is None and _get_due_at(step) >= release_at for step in plan):
        raise ValidationFailed.of("releaseAt", "contradiction", "Must be after every step of releasePlan.")


def enqueue_release_plan(
    block_id: str, plan: Iterable[ReleaseStepJson], present: Sequence[ReleaseStepJson] = ()
) -> None:
    """Enqueue the jobs of the steps that are not in `present`."""
    for step in plan:
        if step not in present:
            run_at = _get_due_at(step)
            enqueue(
                "allocations.release_step", run_at=run_at, aggregate=block_id, block_id=block_id, step_id=step["id"]
            )


def find_due_step(plan: Iterable[ReleaseStepJson], step_id: str) -> ReleaseStepJson | None:
    """Return a step of a locked block whose time has come and that has not run."""
    now = database_now()
    return next(
        (step for step in plan if step["id"] == step_id and step["released_at"] is None and _get_due_at(step) <= now),
        None,
    )


def count_step_places(step: ReleaseStepJson, unused: int) -> int:
    """Return how many places a step gives back when so many are unused. Per cent are rounded up to whole places."""
    if step["percent"] is None:
        return min(step["quantity"] or 0, unused)
    return -(-unused * step["percent"] // 100)


def store_released_step(
    session: Session, block_id: str, plan: Iterable[ReleaseStepJson], step_id: str, released: int
) -> None:
    """Store what a step of a locked block has given back."""
    now = database_now().isoformat()
    new_plan = [{**step, "released_at": now, "released": released} if step["id"] == step_id else step for step in plan]
    session.execute(
        update(AllocationBlock)
        .where(AllocationBlock.id == block_id)
        .values(release_plan=new_plan, version=AllocationBlock.version + 1)
        .execution_options(synchronize_session=False)
    )


def list_release_steps(plan: Iterable[ReleaseStepJson]) -> list[ReleaseStep]:
    """Return the steps of a block, the earliest first."""
    return [
        {
            "on": _get_due_at(step),
            "quantity": step["quantity"],
            "percent": step["percent"],
            "released_at": datetime.fromisoformat(step["released_at"]) if step["released_at"] else None,
            "released": step["released"],
        }
        for step in plan
    ]


def _build_step(step: PlannedStep, timezone: str) -> ReleaseStepJson:
    return {
        "id": new_id(),
        "due_at": to_instant(step["on"], timezone).isoformat(),
        "quantity": step.get("quantity"),
        "percent": step.get("percent"),
        "released_at": None,
        "released": None,
    }


def _find_time_problem(
    step: ReleaseStepJson,
    now: datetime,
    ends_at: datetime,
    release_at: datetime | None,
    plan: Iterable[ReleaseStepJson],
) -> str | None:
    due_at = _get_due_at(step)
    if due_at <= now:
        return "Must be in the future; steps whose time has come do not change."
    if due_at >= ends_at:
        return "Must be before the event ends."
    if release_at is not None and due_at >= release_at:
        return "Must be before releaseAt."
    if any(_get_due_at(other) == due_at for other in plan):
        return "Another step has this time."
    return None


def _is_past(step: ReleaseStepJson, now: datetime) -> bool:
    """`now` may be before the time of a step that ran while the caller waited for the block's lock."""
    return step["released_at"] is not None or _get_due_at(step) <= now


def _get_due_at(step: ReleaseStepJson) -> datetime:
    return datetime.fromisoformat(step["due_at"])


def _get_key(step: ReleaseStepJson) -> tuple[object, ...]:
    return tuple(step[name] for name in STEP_FIELDS)  # type: ignore[literal-required]
