"""The lock of a state folder: its owner starts the servers, other processes read where they are."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from app.embedded.errors import EmbeddedError
from app.embedded.subprocesses import recorded

_descriptors: set[int] = set()


def _close_in_child() -> None:
    # A forked child shares the open file and so the lock, which must end with its owner.
    for descriptor in _descriptors:
        os.close(descriptor)
    _descriptors.clear()


os.register_at_fork(after_in_child=_close_in_child)


def take(path: Path) -> int | None:
    """Lock the file and return its descriptor; None while another process has the lock."""
    descriptor = _try_lock(path)
    if descriptor is not None:
        _descriptors.add(descriptor)
        os.ftruncate(descriptor, 0)
    return descriptor


def release(descriptor: int) -> None:
    """Delete the announcement and free the lock."""
    if descriptor not in _descriptors:
        return
    _descriptors.remove(descriptor)
    os.ftruncate(descriptor, 0)
    os.close(descriptor)


def announce(descriptor: int, run: Path) -> None:
    """Write the folder of the sockets into the lock file, for other processes."""
    os.pwrite(descriptor, json.dumps({"run": str(run)}).encode(), 0)


def announced(path: Path) -> Path | None:
    """Return the folder of the sockets; None while the owner is still starting the servers."""
    try:
        return Path(json.loads(path.read_text())["run"])
    except (OSError, ValueError, KeyError):
        return None


def successor(state: Path, *, mentioning: Sequence[Path], patience: float = 30) -> int:
    """Stop the servers of a killed owner and return a lock descriptor that the new servers inherit.

    Each server process holds this second lock, so that no two ever work on the same files. Old servers get their stop
    signal, and SIGKILL after `patience` seconds.
    """
    pids, started_at = state / "pids", time.monotonic()
    while (descriptor := _try_lock(state / "running")) is None:
        waited = time.monotonic() - started_at
        if waited > patience + 10:
            raise EmbeddedError(f"The servers of an earlier run still use {state}: stop them and try again.")
        for pid, number in recorded(pids, mentioning=mentioning):
            _signal(pid, signal.SIGKILL if waited > patience else number)
        time.sleep(0.05)
    pids.unlink(missing_ok=True)
    return descriptor


def _try_lock(path: Path) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except PermissionError:
        raise EmbeddedError(f"{path} belongs to another account: choose another state folder.") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
