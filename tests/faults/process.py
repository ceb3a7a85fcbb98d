"""`python -m tests.faults.process PIDS PACE WORKERS RELAYS [--unfenced]`: workers and relays that are started again.

One process loads the program and forks the others off before it has opened any connection, so a killed worker
is back at once. It adopts the children of killed workers, so that all of them can be found and ended.
"""

import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from flask import Flask

from app import create_app
from app.core import relay
from app.core.outbox.lease import Lease
from app.core.outbox.tuning import EXTENSION, Tuning
from app.worker import serve
from tests.faults import jobs

__all__ = ["jobs"]

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None)


class Nursery:
    def __init__(self, pids: Path, roles: dict[str, Callable[[], int]]) -> None:
        self.pids, self.roles = pids, roles
        self.running: dict[int, str] = {}
        self.stopping = False

    def run(self) -> None:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
        signal.signal(signal.SIGTERM, self._stop)
        for name in self.roles:
            self._start(name)
        while self.running:
            pid, _ = os.wait()
            name = self.running.pop(pid, None)
            if name and not self.stopping:
                time.sleep(0.1)
                self._start(name)

    def _start(self, name: str) -> None:
        pid = os.fork()
        if pid == 0:
            os.setsid()
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os._exit(self.roles[name]())
        self.running[pid] = name
        with self.pids.open("a") as file:
            file.write(f"{name} {pid}\n")

    def _stop(self, *_: object) -> None:
        self.stopping = True
        for pid in self.running:
            os.kill(pid, signal.SIGTERM)


def main(pids: str, pace: str, workers: str, relays: str, *options: str) -> None:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    app = create_app()
    app.extensions[EXTENSION] = Tuning(**json.loads(pace))
    if "--unfenced" in options:
        Lease.fence = lambda self: None  # type: ignore[method-assign]
    roles: dict[str, Callable[[], int]] = {f"worker{n}": lambda: serve(app) for n in range(int(workers))}
    roles |= {f"relay{n}": lambda: _relay(app) for n in range(int(relays))}
    Nursery(Path(pids), roles).run()


def _relay(app: Flask) -> int:
    relay.serve(app)
    return 0


if __name__ == "__main__":
    main(*sys.argv[1:])
