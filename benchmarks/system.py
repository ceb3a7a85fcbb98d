"""The floor: an answer that touches nothing, and what a worker costs before it answers anything."""

from __future__ import annotations

import os
import signal
import time

from benchmarks import processes
from benchmarks.accounts import login, me
from benchmarks.outcome import Outcome, of_rounds
from benchmarks.registry import Benchmark, Load, benchmark
from benchmarks.serving import beside, free_port, wait_for
from benchmarks.stage import Stage


def start_seconds(stage: Stage, it: Benchmark) -> Outcome:
    """From the death of gunicorn's only worker to the first answer of the one that is started in its place."""
    found, began = [], []
    for _ in range(stage.rounds):
        with stage.another(WEB_WORKERS="1") as server:
            began.append(server.started_in)
            died = time.monotonic()
            os.kill(server.workers[0], signal.SIGKILL)
            server.wait()
            found.append(time.monotonic() - died)
    return of_rounds(found, "s", note=f"{max(began):.1f} from the start of gunicorn itself")


def second_start_seconds(stage: Stage, it: Benchmark) -> Outcome:
    """From `flask up` to a good /ready, with the data of a first start in place."""
    found = [_up(stage) for _ in range(stage.rounds + 1)]
    return of_rounds(found[1:], "s", note=f"{found[0]:.1f} with an empty folder: cluster, migrations, demo data")


def _up(stage: Stage) -> float:
    port, log = free_port(), stage.folder / "up.log"
    environment = {"DATA_DIR": str(stage.folder / "whole"), "PORT": str(port)}
    began = time.monotonic()
    with beside(["-m", "flask", "--app", "wsgi", "up"], environment, log=log) as process:
        wait_for(f"http://127.0.0.1:{port}/ready", process, log)
        return time.monotonic() - began


def worker_memory(stage: Stage, it: Benchmark) -> Outcome:
    """What the largest worker takes of the machine after a round of sign-ins and a round of the load."""
    with stage.another() as server:
        fresh = max(map(processes.memory_mb, server.workers))
        stage.run(login(stage), on=server)
        stage.run(it.prepare(stage), on=server)
        largest = max(server.workers, key=processes.memory_mb)
        resident = processes.memory_mb(largest, "Rss")
        found = processes.memory_mb(largest)
    return of_rounds(
        [found], "MB", note=f"{fresh:.0f} before its first sign-in; {resident:.0f} resident, shared pages and all"
    )


@benchmark("health", goal=0.85)
def health(stage: Stage) -> Load:
    """`GET /health`: the envelope and nothing else."""
    return Load("/health")


@benchmark("worker-start", goal=1.5, at_most=True, measure=start_seconds)
def worker_start(stage: Stage) -> Load:
    """From the start of a worker to its first answer."""
    return Load("/health")


@benchmark("second-start", goal=5, at_most=True, measure=second_start_seconds)
def second_start(stage: Stage) -> Load:
    """From `flask up` to a good /ready, data in place."""
    return Load("/ready")


@benchmark("worker-memory", goal=90, at_most=True, measure=worker_memory)
def worker_in_memory(stage: Stage) -> Load:
    """Memory of a worker (PSS) that has signed people in and read accounts."""
    return me(stage)
