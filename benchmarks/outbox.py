"""Work that left the request: how fast mails go out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sqlalchemy import func, select

from app.core.db import db
from app.core.outbox import Outbox, enqueue_many
from app.core.transaction import transaction
from benchmarks.accounts import account
from benchmarks.outcome import Failed, Outcome, of_rounds
from benchmarks.registry import Benchmark, Load, benchmark
from benchmarks.serving import beside, free_port
from benchmarks.stage import Stage

MAILS, WORKERS, PATIENCE = 2_000, 4, 120.0
KIND = "accounts.mail_notice"


def mails_a_second(stage: Stage, it: Benchmark) -> Outcome:
    """From the commit that asks for MAILS mails until the last one is done; the SMTP server is a local one."""
    owner = account(stage).id
    with workers(stage):
        rounds = [MAILS / _sent(owner, number) for number in range(stage.rounds)]
    return of_rounds(rounds, "/s", note=f"{MAILS} mails, {WORKERS} workers, one relay, a local SMTP server")


@benchmark("mails", goal=100, measure=mails_a_second)
def mails(stage: Stage) -> Load:
    """Mails from the outbox over SMTP by 4 workers."""
    return Load("/health")


def _sent(owner: str, number: int) -> float:
    """The seconds that one round of mails took."""
    payload = {"template": "password_changed", "account_id": owner}
    with transaction():
        enqueue_many(KIND, [(f"bench:{number}:{item}", payload) for item in range(MAILS)])
    began = time.monotonic()
    while _left():
        if time.monotonic() - began > PATIENCE:
            raise Failed(f"{_left()} of {MAILS} mails were not sent within {PATIENCE:.0f} s")
        time.sleep(0.02)
    return time.monotonic() - began


def _left() -> int:
    with transaction() as session:
        return session.scalar(select(func.count()).where(Outbox.kind == KIND, Outbox.state != "done")) or 0


@contextmanager
def workers(stage: Stage, count: int = WORKERS) -> Iterator[None]:
    """A local SMTP server, a relay and the workers, ready to work."""
    place = f"127.0.0.1:{free_port()}"
    environment = {**stage.environment, "SMTP_URL": f"smtp://{place}"}
    sink = ["-m", "aiosmtpd", "-n", "-c", "aiosmtpd.handlers.Sink", "-l", place]
    with ExitStack() as stack:
        for argv in (sink, ["-m", "flask", "--app", "wsgi", "relay"], *[["-m", "app.worker"]] * count):
            process = stack.enter_context(beside(argv, environment, log=stage.folder / "workers.log"))
            if argv is sink:  # It stands for a machine elsewhere, which takes no processor from this one.
                os.setpriority(os.PRIO_PROCESS, process.pid, 19)
        _wait_for_workers(count)
        yield


def _wait_for_workers(count: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with db.engine.connect() as connection:
            found = connection.exec_driver_sql("SELECT count(*) FROM heartbeat WHERE name LIKE 'worker:%%'").scalar()
        if found == count:
            return
        time.sleep(0.1)
    raise Failed("the workers did not start")
