"""Server processes that end with the process that started them."""

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
    """Return a `preexec_fn` by which Linux sends the child this signal when the thread that started it ends.

    It is None on other systems. Python runs it after the change of the OS user, which would undo it.
    """
    if _LIBC is None:
        return None
    prctl, parent = _LIBC.prctl, os.getpid()

    def arm() -> None:
        prctl(PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:  # The parent ended before the call, so no signal will come.
            os._exit(1)

    return arm


@dataclass(frozen=True)
class Child:
    """A server process, its signal for a fast stop and its log file."""

    name: str
    process: subprocess.Popen[bytes]
    stop_signal: signal.Signals
    log: Path

    def check(self) -> None:
        """Raise EmbeddedError with the end of the log if the server has ended."""
        if self.process.poll() is not None:
            raise EmbeddedError(
                f"{self.name} ended with code {self.process.returncode} instead of starting. "
                f"The end of {self.log}:\n{tail(self.log)}"
            )


def tail(log: Path, *, lines: int = 12) -> str:
    """Return the last lines of a log, indented."""
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
    """Start a server in its own session, so that it gets no Ctrl-C of the terminal.

    It inherits the file descriptor `keep`, whose lock lasts as long as any of its processes.
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
    """Stop the children together: by their stop signals, after `patience` seconds by SIGKILL."""
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
    """Write the pids to a file, for the next owner if this one is killed before it stops them."""
    path.write_text(json.dumps([[child.process.pid, int(child.stop_signal)] for child in children]))


def recorded(path: Path, *, mentioning: Sequence[Path]) -> list[tuple[int, int]]:
    """Return the (pid, stop signal) pairs of `record` that still run a server of these folders.

    The command line is compared, because another program may have an old pid by now.
    """
    try:
        pairs = [(int(pid), int(number)) for pid, number in json.loads(path.read_text())]
    except (OSError, ValueError, TypeError):
        return []
    return [pair for pair in pairs if any(str(folder) in command_line(pair[0]) for folder in mentioning)]


def command_line(pid: int) -> str:
    """Return the command line of a process; an empty text if there is none."""
    if sys.platform.startswith("linux"):
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    result = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True)
    return result.stdout.strip()
