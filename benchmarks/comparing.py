"""What rates are compared with. Other programs use the machine too, so both sides of a comparison take turns."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from app.accounts import authentication
from benchmarks.outcome import Outcome, Run, of_rounds
from benchmarks.registry import Benchmark, Measure, Prepare
from benchmarks.stage import BARE, Stage

READERS, FLOOD = 4, 8
CALM, EVEN = 0.10, 0.75


@dataclass(frozen=True)
class Round:
    """The comparison of one turn of both sides."""

    value: float
    run: Run
    other: Run
    before: Run | None = None

    @property
    def disturbance(self) -> float:
        """The share of the machine that other programs took, in the worse of the turns; and 1 more when nearly all
        connections came to one worker: they stay where they were accepted, so half of the server stood idle."""
        turns = (self.run, self.other)
        return max(turn.others or 0 for turn in turns) + any((turn.busiest or 0) > EVEN for turn in turns)


def share_of_bare(stage: Stage, it: Benchmark) -> Outcome:
    """The rate as a share of the bare application's, under the same server settings."""

    def play() -> Round:
        bare = stage.run(BARE, on=stage.bare)
        before = stage.run(it.prepare(stage), on=stage.before) if stage.before else None
        run = stage.run(it.prepare(stage))
        return Round(run.rate / bare.rate, run, bare, before)

    rounds = calmest(stage, play)
    bare = median(round_.other.rate for round_ in rounds)
    return _outcome(rounds, "of bare", f"bare {bare:,.0f}/s{_costs(rounds)}")


def _costs(rounds: Sequence[Round]) -> str:
    """The CPU of a request, as a multiple of the bare application's and of another version's."""

    def multiple(figure: str, one: str, other: str) -> str:
        pairs = [(getattr(getattr(round_, one), figure), getattr(getattr(round_, other), figure)) for round_ in rounds]
        return f"{median(mine / theirs for mine, theirs in pairs):.2f}"

    note = f", CPU × {multiple('server_cpu', 'run', 'other')}, with PostgreSQL × {multiple('cpu', 'run', 'other')}"
    if rounds[0].before is None:
        return note
    return (
        f"{note}; before × {multiple('server_cpu', 'before', 'other')}, now ÷ before"
        f" {multiple('server_cpu', 'run', 'before')}, with PostgreSQL {multiple('cpu', 'run', 'before')}"
    )


def share_of_hashing(stage: Stage, it: Benchmark) -> Outcome:
    """The rate as a share of what the cores could do if a sign-in were nothing but its argon2id hash."""
    hash_seconds = min(_hash_seconds() for _ in range(20))

    def play() -> Round:
        run = stage.run(it.prepare(stage))
        return Round(run.rate * hash_seconds / (os.cpu_count() or 1), run, run)

    return _outcome(calmest(stage, play), "of cores ÷ hash", f"one hash {1000 * hash_seconds:.1f} ms")


def kept_during(flood: Prepare) -> Measure:
    """The share of its own rate that a load of few readers keeps while many send `flood`."""

    def measure(stage: Stage, it: Benchmark) -> Outcome:
        floods = []

        def play() -> Round:
            alone = stage.run(it.prepare(stage), clients=READERS)
            blow = stage.blow(flood(stage), clients=FLOOD, longer=1)
            time.sleep(0.5)
            amid = replace(stage.run(it.prepare(stage), clients=READERS), server_cpu=None, database_cpu=None)
            floods.append(blow.finish()[0].rate)
            return Round(amid.rate / alone.rate, amid, alone)

        rounds = calmest(stage, play)
        return _outcome(rounds, "of its rate alone", f"flood {median(floods):,.0f}/s")

    return measure


def calmest(stage: Stage, play: Callable[[], Round]) -> list[Round]:
    """As many rounds as were asked for; up to half as many again are played to find some that nobody disturbed."""
    played: list[Round] = []
    while len(played) < 1.5 * stage.rounds and sum(item.disturbance < CALM for item in played) < stage.rounds:
        stage.wait_for_quiet(CALM)
        played.append(play())
    return sorted(played, key=lambda item: item.disturbance)[: stage.rounds]


def _outcome(rounds: Sequence[Round], unit: str, note: str) -> Outcome:
    return of_rounds([round_.value for round_ in rounds], unit, [round_.run for round_ in rounds], note)


def _hash_seconds() -> float:
    began = time.thread_time()
    authentication.HASHER.hash("a password that is hashed for the time it takes")
    return time.thread_time() - began
