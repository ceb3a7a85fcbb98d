"""Files of a run: the journal of the rail, the log of the mail server, and all logs, searched for secrets."""

import json
from typing import Any

from tests.faults.suite.stack import Stack
from tests.leaks.ledger import RUN, Ledger


def journal_of_rail(stack: Stack) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stack.journal_of_rail.read_text().splitlines()]


def mistakes(stack: Stack) -> list[str]:
    """What the program had no answer for, as it or gunicorn logged it."""
    lines = (line for path in stack.logs for line in path.read_text(errors="replace").splitlines())
    return [line for line in lines if '"unhandled"' in line or "Error handling request" in line]


def leaks(stack: Stack) -> dict[str, str]:
    """Every secret of this process's runs that stands in a log, with its line."""
    ledger = Ledger()
    ledger.secrets, ledger.phrases = set(RUN.secrets), set(RUN.phrases)
    for path in stack.logs:
        for line in path.read_text(errors="replace").splitlines():
            ledger.note(line)
    return ledger.leaks()
