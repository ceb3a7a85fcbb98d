"""The part of pytest that reads every line of the log and fails the run when a secret stands in one."""

import logging
from typing import Any

import pytest

from tests.leaks.ledger import RUN

LEAKS = "leaks"


class _Reader(logging.Handler):
    """Sees what the handler of the service writes, formatted as that handler formats it."""

    def emit(self, record: logging.LogRecord) -> None:
        ours = next((handler for handler in logging.getLogger().handlers if getattr(handler, "is_ours", False)), None)
        if ours is not None and record.levelno >= ours.level:
            RUN.note(ours.format(record))


class Watch:
    """Registered by conftest in every process of a run; the controlling one gathers what the others found."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.lines = 0

    def pytest_sessionstart(self) -> None:
        logging.getLogger().addHandler(_Reader())

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        found, lines = getattr(node, "workeroutput", {}).get(LEAKS, ({}, 0))
        self.found |= found
        self.lines += lines

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.found |= RUN.leaks()
        self.lines += RUN.lines
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[LEAKS] = (self.found, self.lines)
        elif self.found:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for secret, line in sorted(self.found.items()):
            terminalreporter.write_line(f"A secret stands in the log: {secret[:4]}… in {line[:500]}", red=True)
        if not self.found and self.lines:
            terminalreporter.write_line(f"{self.lines} lines of log hold no secret of this run.")
