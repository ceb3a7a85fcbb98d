"""The context of a fault: stack, load, random generator and recorded figures."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import psycopg

from app.core.db import db
from tests.faults.storm import Storm
from tests.faults.suite.gate_load import GateLoad
from tests.faults.suite.health_monitor import Watch
from tests.faults.suite.initial_data import World
from tests.faults.suite.load import Load
from tests.faults.suite.request_log import RequestRecord
from tests.faults.suite.stack import WORKERS, Stack
from tests.waiting import wait_until

WAITING = """
    SELECT (SELECT count(*) FROM outbox WHERE state = 'leased')
         + (SELECT count(*) FROM outbox WHERE state = 'ready' AND (run_at <= now() OR
                 attempts > 0 AND coalesce(last_error, '') NOT LIKE 'Postpone:%'))
         + (SELECT count(*) FROM payout WHERE status IN ('requested', 'processing'))
         + (SELECT count(*) FROM stall_payment WHERE tries > answered AND status <> 'paid')
         + (SELECT count(*) FROM campaign WHERE status = 'sending')"""
UNANSWERED = (0, 502, 504)
PAUSE = 0.3


@dataclass
class Scene:
    """One run of one fault. `long` is for how many seconds something stays away."""

    stack: Stack
    world: World
    load: Load
    gates: GateLoad
    watch: Watch
    seed: int
    seconds: float
    long: float
    figures: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    killed: Counter[str] = field(default_factory=Counter)
    uncertain_allowed: int = 0
    is_database_clock_wrong: bool = False

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.storm = Storm(self.stack.cluster, self.seed)

    def note(self, figure: str, value: float) -> None:
        """The worst value of a figure."""
        self.figures[figure] = max(value, self.figures.get(figure, float("-inf")))

    def every(self, seconds: float) -> Iterator[int]:
        """Counts turns until the time of the run is over, one every so many seconds, one at least."""
        ends, turn = time.monotonic() + self.seconds, 0
        while turn == 0 or time.monotonic() + seconds / 2 < ends:
            began = time.monotonic()
            yield turn
            turn += 1
            time.sleep(max(0.0, seconds - (time.monotonic() - began)))

    def rage(self, kinds: tuple[str, ...], every: float = 1.0) -> None:
        """Kills at random for the time of the run."""
        self.storm.kinds = kinds
        self.storm.rage(kills=max(1, round(self.seconds / every)), every=every)

    def seconds_until(self, true: Callable[[], bool], most: float) -> float:
        """How long it takes; `most` when it never comes."""
        began = time.monotonic()
        try:
            wait_until(true, most)
        except TimeoutError:
            return most
        return time.monotonic() - began

    def settled(self) -> bool:
        """Whether nothing is due, held or on its way any more."""
        try:
            with psycopg.connect(self.stack.database.plain_url, connect_timeout=2, autocommit=True) as connection:
                row = connection.execute(WAITING).fetchone()
        except psycopg.OperationalError:
            row = None
        if row and row[0] == 0:
            return True
        time.sleep(PAUSE)
        return False

    def unanswered(self, since: float = 0.0) -> list[RequestRecord]:
        return [item for item in list(self.load.journal.asked) if item.status in UNANSWERED and item.at >= since]

    def p99(self, since: float, until: float, *, writes: bool = False) -> float:
        """Milliseconds, of what was asked between two moments."""
        found = sorted(
            item.seconds
            for item in list(self.load.journal.asked)
            if since <= item.at < until and (item.writes or not writes)
        )
        return found[int((len(found) - 1) * 0.99)] * 1000 if found else 0.0

    def allow_uncertain(self) -> int:
        """A row for each worker that was killed, and one for each worker when what all talk to was killed."""
        self.killed.update(self.storm.killed)
        each_time = self.killed["stack"] * WORKERS
        return self.uncertain_allowed + self.storm.bound_on_uncertain() + each_time

    def forget_connections(self) -> None:
        """This process's own connections may be dead."""
        db.session.remove()
        db.engine.dispose()
