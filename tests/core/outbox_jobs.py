"""Jobs that do as the test says: `behaviour["name"] = a function of the run`."""

from collections.abc import Callable
from typing import Any

from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction

noted: list[list[dict[str, Any]]] = []
behaviour: dict[str, Callable[[Run], None]] = {}


def does(name: str, what: Callable[[Run], None]) -> str:
    behaviour[name] = what
    return name


@job("core.once", Delivery.AT_MOST_ONCE, max_attempts=3)
def once(run: Run, *, does: str) -> None:
    behaviour[does](run)


@job("core.surely", Delivery.AT_LEAST_ONCE, max_attempts=3)
def surely(run: Run, *, does: str) -> None:
    behaviour[does](run)


@job("core.urgent", Delivery.AT_LEAST_ONCE, critical=True)
def urgent(run: Run, *, does: str) -> None:
    behaviour[does](run)


@job("core.many", Delivery.AT_MOST_ONCE, bulk=True, max_attempts=3, ended="core.note_ends")
def many(run: Run, *, does: str) -> None:
    behaviour[does](run)


@job("core.note_ends", Delivery.LOCAL)
def note_ends(run: Run, *, ends: list[dict[str, Any]]) -> None:
    with transaction() as session:
        run.done_in(session)
    noted.append(ends)


@job("core.local", Delivery.LOCAL, max_attempts=3)
def local(run: Run, *, does: str) -> None:
    behaviour[does](run)
