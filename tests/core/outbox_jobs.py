"""Jobs that do as the test says: `behaviour["name"] = a function of the run`."""

from collections.abc import Callable

from app.core.jobs import Delivery, Run, job

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


@job("core.local", Delivery.LOCAL, max_attempts=3)
def local(run: Run, *, does: str) -> None:
    behaviour[does](run)
