"""One run of a fault: load, fault, quiet, retries of unknown requests, and checks of all rules."""

import shutil
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from app.core.outbox.tuning import Tuning
from tests.faults.suite import (
    account_rules,
    gate_rules,
    inventory_rules,
    machine_faults,
    message_rules,
    mixed,
    money_rules,
    outside_faults,
    release_faults,
    store_faults,
    web_faults,
    work_faults,
)
from tests.faults.suite.access_probes import probe, round_trip
from tests.faults.suite.evidence import Evidence, broken
from tests.faults.suite.evidence_files import journal_of_rail, leaks, mistakes
from tests.faults.suite.gate_load import GateLoad
from tests.faults.suite.health_monitor import Watch
from tests.faults.suite.initial_data import World, made
from tests.faults.suite.load import RATE, Load
from tests.faults.suite.plan import ACTS, ALWAYS, PLAN, Fault, Impossible
from tests.faults.suite.scenario import UNANSWERED, Scene
from tests.faults.suite.stack import Stack, stack

__all__ = [
    "gate_rules",
    "inventory_rules",
    "machine_faults",
    "message_rules",
    "mixed",
    "money_rules",
    "outside_faults",
    "account_rules",
    "release_faults",
    "store_faults",
    "web_faults",
    "work_faults",
]
QUICK = Tuning(
    lease=6, time_limit=220, wakeup_interval=0.5, expiry_interval=1.5, takeover_delay=2, backoff=0.5, backoff_cap=5
)
TAIL = 3.0
LEFT = """
    SELECT kind, state, attempts, last_error, run_at - now() AS due FROM outbox
     WHERE state = 'leased' OR state = 'ready' AND (run_at <= now() OR attempts > 0) LIMIT 5"""


@dataclass
class Outcome:
    """What a run came to: its figures with those that are not good enough, and the laws that were broken."""

    fault: str
    seed: int
    asked: int = 0
    unknown: int = 0
    seconds: float = 0.0
    figures: dict[str, float] = field(default_factory=dict)
    broken: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    limits: dict[str, float] = field(default_factory=dict)
    impossible: str = ""

    @property
    def missed(self) -> dict[str, float]:
        return {
            name: self.figures.get(name, -1.0)
            for name, limit in self.limits.items()
            if self.figures.get(name, limit + 1) > limit
        }


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How long the load lasts, whether outages are as long as in the plan, and how fast work turns."""

    seconds: float = 20.0
    full: bool = False
    rate: float = RATE
    pace: Tuning = Tuning()


def tried(name: str, seed: int, folder: Path, data: Path, settings: Settings) -> Outcome:
    """Runs that fault with that seed on a stack of its own, below `folder`."""
    plan, began = PLAN[name], time.monotonic()
    pace = QUICK if plan.quick else settings.pace
    place = folder / f"{name}-{seed}"
    try:
        with stack(place, data, pace, relays=plan.relays) as it:
            outcome = _in(it, name, seed, settings)
    except Impossible as error:
        outcome = Outcome(name, seed, impossible=str(error))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    outcome.seconds = time.monotonic() - began
    return outcome


def _in(it: Stack, name: str, seed: int, settings: Settings) -> Outcome:
    plan = PLAN[name]
    world = made(
        it,
        places=round(settings.rate * settings.seconds * 0.4) + 200,
        gate_places=round(settings.rate * settings.seconds * 0.1) + 40,
        manners=plan.manners,
        audience=plan.audience,
        fees=plan.fees,
    )
    load = Load(it, world, seed, rate=settings.rate)
    watch = Watch(it)
    gates = GateLoad(it.site.secure, world, load.journal, seed, rate=settings.rate)
    scene = Scene(it, world, load, gates, watch, seed, settings.seconds, plan.long[settings.full])
    with watch.going():
        with load.going(), gates.running():
            time.sleep(TAIL)
            load.send_campaign()
            load.make_admins()
            ACTS[name](scene)
            over = time.monotonic()
            time.sleep(TAIL)
        unknown, unresolved = _quiet(scene, plan, over)
    found = _evidence(scene)
    scene.note("unresolved", unresolved)
    if name == "F12":
        scene.note("not what the rail says", outside_faults.differences_with_rail(scene))
    said = broken(found)
    scene.note("broken laws", len(said))
    return Outcome(
        name, seed, len(load.journal.asked), unknown, 0.0, scene.figures, said, scene.notes, ALWAYS | plan.limits
    )


def _quiet(scene: Scene, plan: Fault, over: float) -> tuple[int, int]:
    """Waits until nothing is left to do; how many answers were unknown before asking again, and after it."""
    scene.forget_connections()
    asked = [item for item in scene.load.journal.asked if item.at]
    errors = Counter(f"{item.kind} {item.status}" for item in asked if item.status in UNANSWERED + (500, 503))
    if errors:
        scene.notes.append(f"errors: {dict(errors.most_common(6))}")
    scene.note("error rate %", 100 * sum(item.status in UNANSWERED + (500, 503) for item in asked) / len(asked))
    wait = scene.seconds_until(scene.settled, plan.patience)
    scene.note("quiet after s", time.monotonic() - over if wait < plan.patience else plan.patience)
    unknown = len(scene.load.journal.unknown)
    unresolved = scene.load.resolve() + scene.gates.finish()
    scene.notes.append(scene.gates.summarize())
    probe(scene)
    if scene.seconds_until(scene.settled, 60) >= 60:
        scene.notes += [f"still waiting: {row}" for row in Evidence().rows(LEFT)]
    return unknown, unresolved


def _evidence(scene: Scene) -> Evidence:
    it, world = scene.stack, scene.world
    scene.forget_connections()
    return Evidence(
        journal=scene.load.journal,
        mails=it.sink.noted(),
        rail=journal_of_rail(it),
        audience=_reachable(world),
        uncertain_allowed=scene.allow_uncertain(),
        is_database_clock_wrong=scene.is_database_clock_wrong,
        longest_transaction=scene.watch.longest_transaction,
        leaks=leaks(it),
        mistakes=mistakes(it),
        round_trip=round_trip(scene),
        gate_lists=scene.gates.list_differences(),
    )


def _reachable(world: World) -> list[str]:
    """A recipient whose mail server says never is not written to again."""
    return [item for item in world.audience if not item.startswith("never.")]
