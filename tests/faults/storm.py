"""Random kills from a seed, counted."""

import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field

from sqlalchemy import text

from app.core.db import db
from tests.faults.cluster import NAME, Cluster, kill

EVERYTHING = ("horse", "parent", "both", "relay", "redis", "flush", "sink", "backend")
BACKENDS = text("""
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = :name
""")


@dataclass
class Storm:
    cluster: Cluster
    seed: int
    kinds: tuple[str, ...] = EVERYTHING
    killed: Counter[str] = field(default_factory=Counter)

    def rage(self, *, kills: int, every: float) -> None:
        dice = random.Random(self.seed)
        for _ in range(kills):
            kind = dice.choice(self.kinds)
            self.killed[kind] += getattr(self, kind)(dice)
            time.sleep(every * dice.uniform(0.5, 1.5))

    def bound_on_uncertain(self) -> int:
        """One row for each worker killed, and one for each worker when what they all talk to is killed."""
        workers = self.killed["horse"] + self.killed["parent"] + 2 * self.killed["both"]
        return workers + 4 * self.killed["sink"] + self.killed["backend"]

    def horse(self, dice: random.Random) -> bool:
        horses = self.cluster.horses()
        return bool(horses) and kill(dice.choice(horses))

    def parent(self, dice: random.Random) -> bool:
        workers = self.cluster.running("worker")
        return bool(workers) and kill(dice.choice(workers))

    def both(self, dice: random.Random) -> bool:
        self.horse(dice)
        return self.parent(dice)

    def relay(self, dice: random.Random) -> bool:
        relays = self.cluster.running("relay")
        return bool(relays) and kill(dice.choice(relays))

    def redis(self, dice: random.Random) -> bool:
        self.cluster.redis.kill()
        time.sleep(dice.uniform(0, 0.5))
        self.cluster.redis.start()
        return True

    def flush(self, _: random.Random) -> bool:
        self.cluster.redis.client.flushall()
        return True

    def sink(self, dice: random.Random) -> bool:
        self.cluster.sink.kill()
        time.sleep(dice.uniform(0, 0.3))
        self.cluster.sink.start()
        return True

    def backend(self, dice: random.Random) -> bool:
        """Cuts the connection of a worker or relay to the database."""
        with db.engine.connect() as connection:
            pids = list(connection.execute(BACKENDS, {"name": NAME}).scalars())
            if pids:
                connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": dice.choice(pids)})
        return bool(pids)


def stopped(pids: list[int]) -> None:
    for pid in pids:
        kill(pid, signal.SIGSTOP)


def continued(pids: list[int]) -> None:
    for pid in pids:
        kill(pid, signal.SIGCONT)
