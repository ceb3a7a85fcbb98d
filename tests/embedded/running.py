"""What the tests of the embedded servers need: processes that hold them, and a look at what is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

ROOT = Path(__file__).resolve().parents[2]
# The package without its wiring, which the servers do not need and which takes long to import.
BARE = """
import sys, types
sys.modules["app"] = types.ModuleType("app")
sys.modules["app"].__path__ = ["app"]
"""
HOLD = f"""{BARE}
import json
from pathlib import Path
import app.embedded, app.embedded.subprocesses
if "undying" in sys.argv:
    app.embedded.subprocesses._LIBC = None
home = Path(sys.argv[1])
with app.embedded.servers(home / "state", durable="durable" in sys.argv, spare=home / "spare") as running:
    print(json.dumps(vars(running)), flush=True)
    sys.stdin.read()
"""


class Holder:
    """Another process that uses the servers of `home` until it is told to leave or killed."""

    def __init__(self, home: Path, *words: str, **options: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(home), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
            **options,
        )

    def wait(self) -> dict[str, Any]:
        """The servers it found, once it has them."""
        assert self.process.stdout is not None
        running: dict[str, Any] = json.loads(self.process.stdout.readline())
        return running

    def leave(self) -> None:
        """Lets it reach the end of its block."""
        self.process.communicate()

    def kill(self) -> None:
        """Ends it as `kill -9` does."""
        self.process.kill()
        self.process.communicate()


def processes(mentioning: Path) -> dict[int, str]:
    """The servers of a folder that are running, by pid, with their command lines."""
    shown = subprocess.run(["ps", "-axww", "-o", "pid=,command="], capture_output=True, text=True, check=True)
    lines = [line.strip().partition(" ") for line in shown.stdout.splitlines() if str(mentioning) in line]
    return {int(pid): command for pid, _, command in lines if "import sys, types" not in command}


def owners(mentioning: Path) -> set[int]:
    """The numbers of the accounts under which the servers of a folder run."""
    pids = ",".join(str(pid) for pid in processes(mentioning))
    shown = subprocess.run(["ps", "-o", "uid=", "-p", pids], capture_output=True, text=True, check=True)
    return {int(uid) for uid in shown.stdout.split()}


def query(database_url: str, statement: str) -> list[tuple[Any, ...]]:
    """The rows of one statement."""
    with psycopg.connect(database_url.replace("+psycopg", ""), autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def client(redis_url: str) -> redis.Redis:
    """A client of Redis."""
    return redis.Redis.from_url(redis_url)


def modes(path: Path) -> dict[Path, tuple[int, int]]:
    """Mode and owner of every folder above `path`."""
    return {folder: (folder.stat().st_mode, folder.stat().st_uid) for folder in path.absolute().parents}


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the servers as another account")
