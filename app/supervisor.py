"""Keeps the processes of the service running: `flask up` is this and nothing else needs installing for it."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from app.child_processes import ChildProcess, Process

FIRST_DELAY = 0.5
LONGEST_DELAY = 10.0
STEADY = 30.0
LOOK_EVERY = 0.1
ECHO = 0.5

logger = logging.getLogger("app.supervisor")


class Supervisor:
    """Starts processes in order, starts them again when they end, and stops them all together."""

    def __init__(self, processes: Sequence[Process], *, grace: float = 35.0) -> None:
        """`grace` is how many seconds the processes have to end before they are killed."""
        self._children = [_Child(process) for process in processes]
        self._grace = grace
        self._asked_at: float | None = None
        self._impatient = False

    def run(self) -> int:
        """The exit code, once a signal stopped everything or nothing is left that would be started again.

        It is 0 after SIGINT, SIGTERM or SIGHUP, else that of the first process that failed, and 127 if one
        cannot be started at all. A second Ctrl-C kills at once. Call it in the main thread: signals go there.
        """
        with self._listening():
            try:
                self._start()
                self._watch()
            except OSError as error:
                logger.error("cannot start: %s", error)
                return 127
            finally:
                self._stop()
        if self._asked_at is not None:
            return 0
        return next((child.code for child in self._children if child.code), 0)

    def _start(self) -> None:
        for child in self._children:
            if self._asked_at is None:
                child.start()

    def _watch(self) -> None:
        while self._asked_at is None and any(child.should_run for child in self._children):
            for child in self._children:
                child.check()
            time.sleep(LOOK_EVERY)

    def _stop(self) -> None:
        for child in reversed(self._children):
            child.terminate()
        deadline = time.monotonic() + self._grace
        while any(child.alive for child in self._children):
            if self._impatient or time.monotonic() > deadline:
                break
            time.sleep(LOOK_EVERY / 2)
        for child in reversed(self._children):
            child.kill()

    @contextmanager
    def _listening(self) -> Iterator[None]:
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, self._ask) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _ask(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._asked_at is None:
            self._asked_at = now
        # A program around us may pass on the Ctrl-C that the terminal has sent us: that is no second one.
        elif number == signal.SIGINT and now - self._asked_at > ECHO:
            self._impatient = True


class _Child:
    """One process over all its lives, each in a session of its own."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._running: ChildProcess | None = None
        self._started_at = 0.0
        self._delay = FIRST_DELAY
        self._due: float | None = None
        self.code: int | None = None

    @property
    def alive(self) -> bool:
        return self._running is not None and self._running.poll() is None

    @property
    def should_run(self) -> bool:
        """Whether it runs or is going to run again."""
        return self._running is not None or self._due is not None

    def start(self) -> None:
        self._due, self._started_at = None, time.monotonic()
        self._running = self._process.begin()

    def check(self) -> None:
        """Notes an end, and starts the process again when its time has come."""
        if self._running is not None and (code := self._running.poll()) is not None:
            self._record_exit(code)
        elif self._due is not None and time.monotonic() >= self._due:
            try:
                self.start()
            except OSError as error:
                self._schedule_restart(f"cannot be started: {error}")

    def terminate(self) -> None:
        """Asks for the end; only the process itself, which knows best how to end its own children."""
        if self._running is not None and self.alive:
            self._running.terminate()

    def kill(self) -> None:
        """Ends the process and whatever it left in its session."""
        if self._running is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._running.pid, signal.SIGKILL)
            self._running.wait()

    def _record_exit(self, code: int) -> None:
        self.kill()
        self._running, self.code = None, code if code >= 0 else 128 - code
        if not self._process.restart:
            logger.info("%s ended with code %s", self._process.name, code)
            return
        if time.monotonic() - self._started_at >= STEADY:
            self._delay = FIRST_DELAY
        self._schedule_restart(f"ended with code {code}")

    def _schedule_restart(self, what: str) -> None:
        logger.warning("%s %s; next start in %.1f s", self._process.name, what, self._delay)
        self._due = time.monotonic() + self._delay
        self._delay = min(self._delay * 2, LONGEST_DELAY)
