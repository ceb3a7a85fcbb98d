"""Starts, restarts and stops the processes of the service for `flask up`."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from app.child_processes import ChildProcess, Process

FIRST_DELAY, MAX_DELAY = 0.5, 10.0
STABLE_SECONDS = 30.0
POLL_SECONDS = 0.1
SECOND_SIGNAL_SECONDS = 0.5
"""A wrapper program may forward the Ctrl-C that the terminal sent to us as well; that is not a second Ctrl-C."""

logger = logging.getLogger("app.supervisor")


class Supervisor:
    """Starts processes in order, restarts them when they end, and stops all of them together."""

    def __init__(self, processes: Sequence[Process], *, grace: float = 35.0) -> None:
        """Take the processes and how many seconds they get to end before they are killed."""
        self._children = [_Child(process) for process in processes]
        self._grace = grace
        self._stop_requested_at: float | None = None
        self._kill_now = False

    def run(self) -> int:
        """Run until a signal stops everything or no process is left to restart; return the exit code.

        It is 0 after SIGINT, SIGTERM or SIGHUP, else that of the first process that failed, and 127 if one cannot
        start. A second Ctrl-C kills immediately. Call it in the main thread, which gets the signals.
        """
        with self._signal_handlers():
            try:
                self._start()
                self._watch()
            except OSError as error:
                logger.error("cannot start: %s", error)
                return 127
            finally:
                self._stop()
        if self._stop_requested_at is not None:
            return 0
        return next((child.code for child in self._children if child.code), 0)

    def _start(self) -> None:
        for child in self._children:
            if self._stop_requested_at is None:
                child.start()

    def _watch(self) -> None:
        while self._stop_requested_at is None and any(child.should_run for child in self._children):
            for child in self._children:
                child.check()
            time.sleep(POLL_SECONDS)

    def _stop(self) -> None:
        for child in reversed(self._children):
            child.terminate()
        deadline = time.monotonic() + self._grace
        while any(child.alive for child in self._children):
            if self._kill_now or time.monotonic() > deadline:
                break
            time.sleep(POLL_SECONDS / 2)
        for child in reversed(self._children):
            child.kill()

    @contextmanager
    def _signal_handlers(self) -> Iterator[None]:
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        previous = {number: signal.signal(number, self._handle_signal) for number in numbers}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _handle_signal(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._stop_requested_at is None:
            self._stop_requested_at = now
        elif number == signal.SIGINT and now - self._stop_requested_at > SECOND_SIGNAL_SECONDS:
            self._kill_now = True


class _Child:
    """One process with its restarts, each in a session of its own."""

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
        """Whether it runs or is going to restart."""
        return self._running is not None or self._due is not None

    def start(self) -> None:
        self._due, self._started_at = None, time.monotonic()
        self._running = self._process.start()

    def check(self) -> None:
        """Record an exit, and restart the process when its delay is over."""
        if self._running is not None and (code := self._running.poll()) is not None:
            self._record_exit(code)
        elif self._due is not None and time.monotonic() >= self._due:
            try:
                self.start()
            except OSError as error:
                self._schedule_restart(f"cannot be started: {error}")

    def terminate(self) -> None:
        """Send SIGTERM to the process only, which ends its own children."""
        if self._running is not None and self.alive:
            self._running.terminate()

    def kill(self) -> None:
        """Kill the process and all others in its session."""
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
        if time.monotonic() - self._started_at >= STABLE_SECONDS:
            self._delay = FIRST_DELAY
        self._schedule_restart(f"ended with code {code}")

    def _schedule_restart(self, reason: str) -> None:
        logger.warning("%s %s; next start in %.1f s", self._process.name, reason, self._delay)
        self._due = time.monotonic() + self._delay
        self._delay = min(self._delay * 2, MAX_DELAY)
