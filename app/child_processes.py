"""Forked child processes: the program is imported once for all of them."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import dataclass, field

from app.embedded.subprocesses import dying_with_parent

_FORK = multiprocessing.get_context("fork")
_RESET_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)


class ChildProcess:
    """A running forked child."""

    def __init__(self, work: Callable[[], int], environment: Mapping[str, str]) -> None:
        arguments = (work, environment, dying_with_parent(signal.SIGTERM))
        self._process = _FORK.Process(target=_run_child, args=arguments)
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def terminate(self) -> None:
        self._process.terminate()

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode


@dataclass(frozen=True)
class Process:
    """A function to run in a fork, which returns the exit code; `env` is set in the child before it runs.

    The caller closes its database connections before it forks: two processes cannot share them.
    """

    name: str
    work: Callable[[], int]
    env: Mapping[str, str] = field(default_factory=dict)
    restart: bool = True

    def start(self) -> ChildProcess:
        """Start the process in a session of its own. Raises OSError."""
        return ChildProcess(self.work, self.env)


def _run_child(
    work: Callable[[], int], environment: Mapping[str, str], die_with_parent: Callable[[], None] | None
) -> None:
    os.setsid()
    for number in _RESET_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    if die_with_parent is not None:
        die_with_parent()
    os.environ.update(environment)
    # An empty context: the parent is inside a command, the child is not.
    sys.exit(Context().run(work))
