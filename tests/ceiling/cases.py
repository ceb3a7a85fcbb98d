"""The cases of the ceiling: what has to be there first, and the one request that is counted then."""

from collections.abc import Callable
from dataclasses import dataclass

from werkzeug.test import TestResponse

from tests.http import Client

Ask = Callable[[], TestResponse]
Prepare = Callable[[Client], Ask]


@dataclass(frozen=True)
class Case:
    """A request of one method and path, in one of the situations it may meet."""

    name: str
    route: str
    status: int
    prepare: Prepare


CASES: list[Case] = []


def case(route: str, status: int = 200) -> Callable[[Prepare], Prepare]:
    """Adds what the function prepares: it makes the ground ready, and gives the request that is counted."""

    def add(prepare: Prepare) -> Prepare:
        CASES.append(Case(prepare.__name__, route, status, prepare))
        return prepare

    return add
