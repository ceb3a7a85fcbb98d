"""Children that begin where their parent stands: the program is imported once, however many processes serve it."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import dataclass, field

from app.embedded.subprocesses import dying_with_parent

_SYSTEM = multiprocessing.get_context("fork")
_OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)


class ChildProcess:
    """A forked child as the supervisor looks at it."""

    def __init__(self, work: Callable[[], int], environment: Mapping[str, str]) -> None:
        self._process = _SYSTEM.Process(target=_begin, args=(work, environment, dying_with_parent(signal.SIGTERM)))
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
    """What to run in a fork: a function that gives the exit code. `env` is set in the child before it runs.

    Nothing may be open that two processes cannot share: the caller closes its database connections before.
    """

    name: str
    work: Callable[[], int]
    env: Mapping[str, str] = field(default_factory=dict)
    restart: bool = True

    def begin(self) -> ChildProcess:
        """Starts it in a session of its own. Raises OSError."""
        return ChildProcess(self.work, self.env)


def _begin(work: Callable[[], int], environment: Mapping[str, str], arm: Callable[[], None] | None) -> None:
    os.setsid()
    for number in _OURS:
        signal.signal(number, signal.SIG_DFL)
    if arm is not None:
        arm()
    os.environ.update(environment)
    # The parent is inside a command; what runs here is not.
    sys.exit(Context().run(work))
