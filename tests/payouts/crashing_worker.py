"""`python -m tests.payouts.crashing_worker SINK SEED… [--unasked]`: workers that are killed between claim, call and record.

One process loads the program; for every seed it forks one worker after the other, each of which kills itself at a
point that the seed chooses, until nothing is left to do. The rail is a file: every transfer that is sent is a line,
and nothing about it is idempotent, so that a second call for one payout shows.
"""

import fcntl
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flask import Flask
from sqlalchemy import text

from app import create_app
from app.clients.payrail import Transfer, TransferOutcome, TransferState
from app.core.db import db
from app.core.outbox.executor import run_due_jobs
from app.core.outbox.lease import expire_leases
from app.core.outbox.tuning import EXTENSION, Tuning
from app.core.transaction import transaction
from app.payouts import jobs, transfers

LEASE, KILLS = 0.2, 3
POINTS = ("claimed", "calling", "called", "recording", "recorded")
FREE = "UPDATE outbox SET run_at = now() WHERE state = 'ready' AND kind = 'payouts.carry'"
LEFT = "SELECT count(*) FROM outbox WHERE state IN ('ready', 'leased') AND kind = 'payouts.carry'"


class FileRail:
    """What a rail would have done, line by line, however often it is told."""

    def __init__(self, path: Path, reached: Callable[[str], None]) -> None:
        self.path, self.reached = path, reached

    def check(self) -> None: ...

    def send_transfer(self, transfer: Transfer) -> TransferState:
        self.reached("calling")
        with self.path.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(f"{transfer.reference}\n")
        self.reached("called")
        return TransferState(outcome=TransferOutcome.PAID)

    def transfer_status(self, reference: str) -> TransferState:
        known = reference in self.path.read_text().split()
        return TransferState(outcome=TransferOutcome.PAID if known else TransferOutcome.NOT_FOUND)


def worker(app: Flask, sink: Path, chance: random.Random, mortal: bool) -> int:
    """One worker's life: 0 when nothing is left to do, 3 when there is."""
    point, countdown = chance.choice(POINTS), [chance.randrange(1, 3)]

    def reached(name: str) -> None:
        if mortal and name == point:
            countdown[0] -= 1
            if countdown[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    app.extensions["payrail"] = FileRail(sink, reached)
    _mark(transfers, "mark_processing", reached, after="claimed")
    _mark(jobs, "record_outcome", reached, before="recording", after="recorded")
    with app.app_context():
        expire_leases(app.extensions[EXTENSION])
        with transaction() as session:
            session.execute(text(FREE))
        while run_due_jobs(worker="dying", only_critical=True):
            pass
        left = db.session.execute(text(LEFT)).scalar_one()
    return 3 if left else 0


def _mark(module: Any, name: str, reached: Callable[[str], None], *, before: str = "", after: str = "") -> None:
    inner = getattr(module, name)

    def marked(*arguments: Any, **options: Any) -> Any:
        reached(before)
        found = inner(*arguments, **options)
        reached(after)
        return found

    setattr(module, name, marked)


def seed(app: Flask, sink: Path, number: int) -> int:
    """Lets workers live and die until all is done; how many were killed."""
    killed = 0
    for life in range(100):
        pid = os.fork()
        if pid == 0:
            os._exit(worker(app, sink, random.Random(f"{number}:{life}"), killed < KILLS))
        _, status = os.waitpid(pid, 0)
        if os.waitstatus_to_exitcode(status) == 0:
            return killed
        killed += os.WIFSIGNALED(status)
        time.sleep(LEASE)
    raise SystemExit(f"seed {number} finds no end")


def main(sink: str, *options: str) -> None:
    app = create_app()
    app.extensions[EXTENSION] = Tuning(lease=LEASE, time_limit=40, max_lost=1000)
    if "--unasked" in options:
        unknown = TransferState(outcome=TransferOutcome.NOT_FOUND)
        transfers.get_transfer_state = lambda payout_id: unknown  # type: ignore[assignment]
    for line in sys.stdin:
        sys.stdout.write(f"{seed(app, Path(sink), int(line))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
