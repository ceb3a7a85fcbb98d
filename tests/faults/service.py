"""The whole service, or its web part alone, as processes of one test."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.leaks.ledger import RUN
from tests.waiting import MAX_SECONDS, wait_for_exit

ROOT = Path(__file__).resolve().parents[2]
OURS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "BOOTSTRAP_SECRET", "PUBLIC_BASE_URL", "RATE_LIMIT_SCALE")
UP = [sys.executable, "-m", "flask", "--app", "wsgi", "up"]
WEB = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]


def free_port() -> int:
    """A port that nobody listens on, below those that Linux gives to outgoing connections of other tests."""
    for port in random.sample(range(20_000, 32_000), 100):
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("", port))
            return port
    raise RuntimeError("no port is free")


@contextmanager
def kept_open() -> Iterator[Path]:
    """A folder that the account of the embedded servers can enter; pytest's own are closed to it."""
    folder = ROOT / "var" / "tests" / uuid4().hex[:12]
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def call(url: str, body: Any = None, *, timeout: float = 10) -> tuple[int, dict[str, Any]]:
    """Status and JSON of an answer; status 0 when there was none."""
    asked = urllib.request.Request(
        url, json.dumps(body).encode() if body is not None else None, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(asked, timeout=timeout) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except (OSError, ValueError):
        return 0, {}


@contextmanager
def started(argv: list[str], log: Path, variables: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A process in a session of its own; it must end well when asked to."""
    environment = {name: value for name, value in os.environ.items() if name not in OURS} | dict(variables)
    with log.open("ab") as output:
        process = subprocess.Popen(
            argv, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        code = wait_for_exit(process)
    for line in log.read_text(errors="replace").splitlines():
        RUN.note(line)
    assert code == 0, log.read_text()[-3000:]


@dataclass(frozen=True)
class Service:
    """What `make run` starts: its address, its log, the seconds until it was ready, the supervisor's process, its rail."""

    base: str
    log: Path
    seconds: float
    pid: int
    rail: str


@contextmanager
def everything(folder: Path) -> Iterator[Service]:
    """Web, worker, relay, mock rail, PostgreSQL and Redis on ports of their own."""
    port, log, begun = free_port(), folder / "log", time.monotonic()
    rail = f"http://127.0.0.1:{free_port()}"
    settings = {"DATA_DIR": str(folder / "var"), "PORT": str(port), "PAYRAIL_MODE": "mock", "PAYRAIL_URL": rail}
    with started(UP, log, settings) as process:
        base = f"http://localhost:{port}"
        until_ready(base, process, log, complete=True)
        yield Service(base, log, time.monotonic() - begun, process.pid, rail)


def until_ready(base: str, process: "subprocess.Popen[bytes]", log: Path, *, complete: bool = False) -> None:
    """Waits for /ready; with `complete` for relay and worker as well."""
    deadline = time.monotonic() + MAX_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        status, answer = call(f"{base}/ready", timeout=2)
        if status == 200 and (not complete or (answer["data"]["workers"] and answer["data"]["relay"] == "up")):
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-3000:])
