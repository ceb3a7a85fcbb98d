"""The mixed load: a number of requests per second from a dozen clients with seeded operations."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.faults.suite.initial_data import World
from tests.faults.suite.operations import OPERATIONS, SHARES, Caller, bootstrap, campaign
from tests.faults.suite.request_log import UNKNOWN, Journal, Mouth
from tests.faults.suite.stack import Stack
from tests.races import run_concurrently

CLIENTS = 12
RATE = 50.0
TRIES, BETWEEN = 20, 1.0


class Load:
    """`with load.going():` asks until the block ends."""

    def __init__(self, stack: Stack, world: World, seed: int, *, rate: float = RATE) -> None:
        self.stack, self.world, self.seed, self.rate = stack, world, seed, rate
        self.journal = Journal()
        self._over = threading.Event()

    @contextmanager
    def going(self) -> Iterator[Journal]:
        threads = [threading.Thread(target=self._go, args=(number,), daemon=True) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            yield self.journal
        finally:
            self._over.set()
            for thread in threads:
                thread.join(60)

    def caller(self, name: str) -> Caller:
        """Another client, whose every step is the caller's own."""
        return Caller(self.world, Mouth(self.stack.site.secure), self.journal, f"{self.seed}:{name}")

    def send_campaign(self) -> None:
        """Has one message sent to the whole audience, besides the load."""
        caller = self.caller(f"campaign:{len(self.journal.asked)}")
        campaign(caller)
        caller.mouth.close()

    def make_admins(self) -> None:
        """Eight at once who know the secret."""
        run_concurrently(8, lambda number: bootstrap(self.caller(f"admin{number}")))

    def _go(self, number: int) -> None:
        caller, pause = self.caller(str(number)), CLIENTS / self.rate
        names, shares = list(SHARES), list(SHARES.values())
        due = time.monotonic() + random.Random(f"{self.seed}/{number}").uniform(0, pause)
        while not self._over.is_set():
            if self._over.wait(max(0.0, due - time.monotonic())):
                break
            # Anyone who had to wait for an answer does not catch up.
            due = max(due + pause, time.monotonic())
            OPERATIONS[caller.dice.choices(names, shares)[0]](caller)
        caller.mouth.close()

    def resolve(self) -> int:
        """Asks for every answer that is not known yet, with the same key; how many stay unknown."""
        mouth = Mouth(self.stack.site.secure)
        for asked in self.journal.unknown:
            for _ in range(TRIES):
                if mouth.again(asked) != UNKNOWN:
                    break
                time.sleep(BETWEEN)
        mouth.close()
        return len(self.journal.unknown)
