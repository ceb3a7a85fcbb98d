"""Rows that end dead or uncertain, told to their domain in the commit that ends them.

A job that is declared with `ended="stalls.note_ends"` has such rows told to that job, as `ends`: a list of objects with
`kind`, `state`, `error` and `payload`, up to five hundred at once. So a domain can show how its work ended without
looking at the outbox again and again.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from app.core.jobs import UnknownKind, get_job
from app.core.outbox.writer import enqueue_all

BAD = ("dead", "uncertain")
TOGETHER = 500


class FailedRow(NamedTuple):
    """How a row ended."""

    kind: str
    state: str
    error: str
    payload: dict[str, Any]


def notify_failures(ended: Iterable[FailedRow]) -> None:
    """Enqueues, in the open transaction, what tells the domains that want to know."""
    by_listener: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for end in ended:
        if listener := _listener(end.kind):
            by_listener[listener].append(end._asdict())
    works = [
        (listener, {"ends": result[start : start + TOGETHER]})
        for listener, result in by_listener.items()
        for start in range(0, len(result), TOGETHER)
    ]
    if works:
        enqueue_all(works)


def _listener(kind: str) -> str | None:
    try:
        return get_job(kind).ended
    except UnknownKind:
        return None
