"""One owner, many users: who starts the servers of a state folder, and how the others find them."""

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

_held: set[int] = set()


def _forget_in_child() -> None:
    # A forked child shares the open file, and with it the lock, which must end with its owner.
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_forget_in_child)


def take(path: Path) -> int | None:
    """The descriptor that holds the lock, nothing announced yet, or None while another process has it."""
    descriptor = _locked(path)
    if descriptor is not None:
        _held.add(descriptor)
        os.ftruncate(descriptor, 0)
    return descriptor


def release(descriptor: int) -> None:
    """Withdraws the announcement and frees the lock."""
    if descriptor not in _held:
        return
    _held.remove(descriptor)
    os.ftruncate(descriptor, 0)
    os.close(descriptor)


def announce(descriptor: int, run: Path) -> None:
    """Tells the waiting processes in which folder the sockets are."""
    os.pwrite(descriptor, json.dumps({"run": str(run)}).encode(), 0)


def announced(path: Path) -> Path | None:
    """The folder of the sockets, or None while the owner is still starting the servers."""
    try:
        return Path(json.loads(path.read_text())["run"])
    except (OSError, ValueError, KeyError):
        return None


def successor(state: Path, *, mentioning: Sequence[Path], patience: float = 30) -> int:
    """A descriptor for the servers to inherit, once none of a killed predecessor's processes is left.

    Every server process holds this second lock, so that no two ever work on the same files. What a
    predecessor left running is asked to stop, and killed after `patience` seconds.
    """
    pids, started = state / "pids", time.monotonic()
    while (descriptor := _locked(state / "running")) is None:
        waited = time.monotonic() - started
        if waited > patience + 10:
            raise EmbeddedError(f"The servers of an earlier run still use {state}: stop them and try again.")
        for pid, number in recorded(pids, mentioning=mentioning):
            _signal(pid, signal.SIGKILL if waited > patience else number)
        time.sleep(0.05)
    pids.unlink(missing_ok=True)
    return descriptor


def _locked(path: Path) -> int | None:
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
