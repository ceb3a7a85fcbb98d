"""Gunicorn with the program's own settings, on a port of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from app.embedded.subprocesses import dying_with_parent, tail
from benchmarks import processes
from benchmarks.outcome import Failed

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 30.0


@dataclass(frozen=True)
class Server:
    """A gunicorn that answers; `started_in` is how many seconds it took from its start to its first answer."""

    address: str
    process: int
    started_in: float

    @property
    def workers(self) -> list[int]:
        return processes.descendants(self.process)

    def wait(self) -> None:
        """Returns once it answers /health."""
        wait_for(f"{self.address}/health", None, Path(os.devnull))

    def work_done(self) -> dict[int, float]:
        """CPU seconds of each worker."""
        return {worker: processes.cpu_seconds(worker) for worker in self.workers}


@contextmanager
def serving(
    application: str,
    environment: Mapping[str, str],
    *,
    log: Path,
    probe: str,
    configuration: str = "gunicorn.conf.py",
    checkout: Path = ROOT,
) -> Iterator[Server]:
    """`application` of a checkout behind gunicorn until the block ends."""
    place = f"127.0.0.1:{free_port()}"
    argv = ["-m", "gunicorn", "--config", configuration, application]
    began = time.monotonic()
    with beside(argv, {**environment, "BIND": place}, log=log, folder=checkout) as process:
        wait_for(f"http://{place}{probe}", process, log)
        yield Server(f"http://{place}", process.pid, time.monotonic() - began)


@contextmanager
def beside(
    argv: Sequence[str], environment: Mapping[str, str], *, log: Path, folder: Path = ROOT
) -> Iterator[subprocess.Popen[bytes]]:
    """A Python program that runs in a folder until the block ends."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, *argv],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=output,
            stderr=output,
            preexec_fn=dying_with_parent(signal.SIGTERM),
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes] | None, log: Path) -> None:
    """Returns once `url` answers well. Raises Failed when the process ends before, or never does."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and (process is None or process.poll() is None):
        try:
            if httpx.get(url, timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.005)
    raise Failed(f"{url} does not answer. The end of its log:\n{tail(log)}")
