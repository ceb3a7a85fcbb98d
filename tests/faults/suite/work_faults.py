"""F3, F4, F16, F17, F18: workers killed, stopped, poisoned; two of everything; kills in the middle of long work."""

import time
from collections import Counter

from sqlalchemy import text

from app.core.db import db
from app.core.outbox import enqueue
from app.core.transaction import transaction
from tests.faults import jobs
from tests.faults.cluster import find_pids, kill
from tests.faults.storm import continued, stopped
from tests.faults.suite.operations import sheet
from tests.faults.suite.plan import fault
from tests.faults.suite.scenario import Scene

__all__ = ["jobs"]
HELD = """
    SELECT DISTINCT split_part(a.worker, ':', 3)::int FROM outbox o
      JOIN outbox_attempt a ON a.outbox_id = o.id AND a.n = o.attempts
     WHERE o.state = 'leased' AND a.ended IS NULL AND a.worker LIKE 'worker:%' AND o.kind LIKE :kind"""
LARGE, FAN_OUT = 6_000, "campaigns.fan_out"


@fault("F3")
def kill_workers(scene: Scene) -> None:
    """kill -9 of a worker's child, of the worker, or of both, every second"""
    scene.load.send_campaign()
    scene.rage(("horse", "parent", "both"))


@fault("F4")
def stop_a_worker(scene: Scene) -> None:
    """SIGSTOP of a worker that holds work, until long after its lease is over; then SIGCONT"""
    scene.load.send_campaign()
    asleep = holders(scene)
    stopped(asleep)
    scene.notes.append(f"{len(asleep)} asleep for {scene.long:.0f} s")
    time.sleep(scene.long)
    before = ended(scene)
    continued(asleep)
    time.sleep(5)
    # What they held was somebody else's by then, and has ended; none of it may change.
    scene.note("late writes", sum(before[key] != state for key, state in ended(scene).items() if key in before))
    scene.uncertain_allowed += len(asleep)


def holders(scene: Scene, kind: str = "%") -> list[int]:
    """Processes that hold work of a kind at this moment; asked for until there are some."""
    found: list[int] = []

    def some() -> bool:
        with db.engine.connect() as connection:
            alive = find_pids()
            found[:] = [pid for (pid,) in connection.execute(text(HELD), {"kind": kind}) if pid in alive]
        return bool(found)

    scene.seconds_until(some, 15)
    return found[:2]


def ended(scene: Scene) -> dict[int, tuple[str, int]]:
    with db.engine.connect() as connection:
        query = "SELECT id, state, attempts FROM outbox WHERE state IN ('done', 'dead', 'uncertain')"
        return {row.id: (row.state, row.attempts) for row in connection.execute(text(query))}


@fault("F16")
def poison(scene: Scene) -> None:
    """work that kills its process each time"""
    with transaction():
        for number in range(3):
            enqueue("faults.poison", key=f"pill-{number}")
    time.sleep(scene.seconds)
    scene.seconds_until(lambda: pills() == {("dead", 5): 3}, 120)
    scene.note("pills not dead after five", 3 - pills()[("dead", 5)])


def pills() -> Counter[tuple[str, int]]:
    with db.engine.connect() as connection:
        query = "SELECT state, attempts FROM outbox WHERE kind = 'faults.poison'"
        return Counter((row.state, row.attempts) for row in connection.execute(text(query)))


@fault("F17")
def two_relays(scene: Scene) -> None:
    """two relays, so two reapers and two schedulers, while children of workers and relays are killed"""
    scene.load.send_campaign()
    scene.rage(("horse", "relay"))
    with db.engine.connect() as connection:
        query = "SELECT dedupe_key FROM outbox WHERE dedupe_key LIKE 'tick:%'"
        turns = Counter(key for (key,) in connection.execute(text(query)))
        doubled = "SELECT count(*) FROM outbox WHERE kind = 'outbox.housekeeping'"
        scene.note("hourly work begun", connection.execute(text(doubled)).scalar_one())
    scene.note("turns taken twice", sum(count - 1 for count in turns.values()))


@fault("F18")
def kill_long_work(scene: Scene) -> None:
    """kill -9 of workers' children in the middle of imports, of fan-outs to 10,000 people and of papers"""
    caller = scene.load.caller("large")
    scene.load.send_campaign()
    hit = 0
    for _ in range(3):
        hit += sum(kill(pid) for pid in holders(scene, FAN_OUT)[:1])
    scene.storm.killed["horse"] += hit
    scene.note("no fan-out hit", float(not hit))
    for turn in scene.every(1.0):
        if turn % 8 == 0:
            sheet(caller, LARGE)
        scene.storm.killed["horse"] += scene.storm.horse(scene.dice)
    caller.mouth.close()
    scene.note("half-written files", len(half_written(scene)))


def half_written(scene: Scene) -> list[str]:
    """What a store keeps while it writes has another name than what it has written."""
    names = [path.name for path in scene.stack.site.storage.rglob("*") if path.is_file()]
    return [name for name in names if "#" in name or name.endswith(".tmp")]
