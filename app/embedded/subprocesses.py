"""Server processes that never outlive the process that started them."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.embedded.errors import EmbeddedError
from app.embedded.os_user import ENVIRONMENT, Account

PR_SET_PDEATHSIG = 1
LARGEST_LOG = 5_000_000
_LIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None


def dying_with_parent(number: int) -> Callable[[], None] | None:
    """What a child runs before exec so that Linux sends it `number` when the thread that started it ends.

    Other systems have no such call and get None. Python runs it after the change of account, which undoes it.
    """
    if _LIBC is None:
        return None
    prctl, parent = _LIBC.prctl, os.getpid()

    def arm() -> None:
        prctl(PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:  # It died before the call, so no signal will come.
            os._exit(1)

    return arm


@dataclass(frozen=True)
class Child:
    """A server process, with the signal that asks it to end quickly and the file it writes to."""

    name: str
    process: subprocess.Popen[bytes]
    stop_signal: signal.Signals
    log: Path

    def check(self) -> None:
        """Raises EmbeddedError with the end of the log if the server is gone."""
        if self.process.poll() is not None:
            raise EmbeddedError(
                f"{self.name} ended with code {self.process.returncode} instead of starting. "
                f"The end of {self.log}:\n{tail(self.log)}"
            )


def tail(log: Path, *, lines: int = 12) -> str:
    """The last lines of a log, indented."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return "\n".join("    " + line for line in text.splitlines()[-lines:])


def spawn(
    name: str,
    argv: Sequence[str | Path],
    *,
    account: Account,
    stop_signal: signal.Signals,
    log: Path,
    keep: int,
    cwd: Path = Path("/"),
) -> Child:
    """A started server, in its own session so that a Ctrl-C in the terminal does not reach it.

    `keep` is a file descriptor it inherits and so holds for as long as any of its processes lives.
    """
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        log.replace(log.with_suffix(".log.1"))
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(part) for part in argv],
            user=account.uid,
            group=account.gid,
            extra_groups=account.groups,
            umask=0o077,
            cwd=cwd,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(keep,),
            preexec_fn=dying_with_parent(stop_signal),
        )
    return Child(name, process, stop_signal, log)


def stop(children: Sequence[Child], *, patience: float = 20) -> None:
    """Ends the children, all at once: first politely, after `patience` seconds by SIGKILL."""
    for child in children:
        if child.process.poll() is None:
            child.process.send_signal(child.stop_signal)
    deadline = time.monotonic() + patience
    for child in children:
        try:
            child.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait()


def record(children: Sequence[Child], path: Path) -> None:
    """Writes down who runs, for the successor of a process that was killed before it could stop them."""
    path.write_text(json.dumps([[child.process.pid, int(child.stop_signal)] for child in children]))


def recorded(path: Path, *, mentioning: Sequence[Path]) -> list[tuple[int, int]]:
    """The (pid, stop signal) pairs of `record` that still run a server of these folders.

    The command line is looked at because a pid of the past may by now belong to any other program.
    """
    try:
        pairs = [(int(pid), int(number)) for pid, number in json.loads(path.read_text())]
    except (OSError, ValueError, TypeError):
        return []
    return [pair for pair in pairs if any(str(folder) in command_line(pair[0]) for folder in mentioning)]


def command_line(pid: int) -> str:
    """The command line of a process, or nothing if there is no such process."""
    if sys.platform.startswith("linux"):
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    result = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True)
    return result.stdout.strip()
