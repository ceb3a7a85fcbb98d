"""Benchmarks, declared where their area is:

    @benchmark("me", goal=0.40)
    def me(stage):
        '''Read the signed-in account.'''
        return Load("/api/auth/me", headers=bearer(stage))

The function tells the request and seeds what it needs; it is called before every round. `seed=` is for data that
takes its time: it runs once. `measure=` says what is made of the request; without it the rate is compared with that
of a bare Flask application, round by round (see comparing.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.outcome import Outcome
    from benchmarks.stage import Stage

# A new area is a file beside this one and its name here.
AREAS = (
    "accounts",
    "allocations",
    "campaigns",
    "desk",
    "events",
    "inventory",
    "outbox",
    "papers",
    "payouts",
    "streams",
    "system",
)


@dataclass(frozen=True)
class Load:
    """A request to repeat.

    `bodies` are sent in turn, or `paths` asked for in turn, each with the one body if there is one; with as many
    `tokens`, each body by another caller. With `carry`, that field of a connection's last answer goes into its next
    body, and each connection begins with a body of its own: there must be as many as `clients`. With `pause`, a
    connection waits so many ms between an answer and its next request.
    """

    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    bodies: Sequence[Any] = ()
    paths: Sequence[str] = ()
    carry: str = ""
    tokens: Sequence[str] = ()
    pause: int = 0


Prepare = Callable[["Stage"], Load]
Measure = Callable[["Stage", "Benchmark"], "Outcome"]


@dataclass(frozen=True)
class Benchmark:
    """What is measured, and its goal: the least that is good, or with `at_most` the most."""

    name: str
    doc: str
    goal: float
    at_most: bool
    prepare: Prepare
    measure: Measure | None
    seed: Callable[[Stage], None] | None

    def met(self, value: float) -> bool:
        return value <= self.goal if self.at_most else value >= self.goal


_registered: dict[str, Benchmark] = {}


def benchmark(
    name: str,
    *,
    goal: float,
    at_most: bool = False,
    measure: Measure | None = None,
    seed: Callable[[Stage], None] | None = None,
) -> Callable[[Prepare], Prepare]:
    """Declares a benchmark under the first line of the function's docstring."""

    def register(prepare: Prepare) -> Prepare:
        if name in _registered:
            raise ValueError(f"Two benchmarks are called {name}.")
        doc = (prepare.__doc__ or "").strip().partition("\n")[0]
        _registered[name] = Benchmark(name, doc, goal, at_most, prepare, measure, seed)
        return prepare

    return register


def registered() -> dict[str, Benchmark]:
    """Every benchmark by its name, area after area."""
    for area in AREAS:
        import_module(f"benchmarks.{area}")
    return dict(_registered)
