"""Drops cached responses in all processes of this machine when a topic changes.

A topic ("events") is eight bytes in a small shared file: the time of its last change. A writer updates it after the
commit, a cache compares it. Reading takes less than a microsecond and no server. Processes on other machines do not see
a change: their cached responses live for a second or two (app/web/response_cache.py).
"""

import mmap
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from flask import current_app
from sqlalchemy.orm import Session

from app.core.db import ReadOrWriteSession
from app.core.transaction import after_commit

TOPICS = ("events", "tickets")
TOPIC_BYTES = 8


def cache_version(folder: Path, topics: Iterable[str]) -> bytes:
    """Return bytes that differ after any of the topics changed. Take them before you read what you cache."""
    times = _map_shared_file(folder)
    return b"".join(bytes(times[_slice_of(topic)]) for topic in topics)


def changed_at(*topics: str) -> float:
    """Return when one of the topics last changed on this machine, in seconds of the monotonic clock."""
    times = _change_times()
    latest = max(int.from_bytes(times[_slice_of(topic)], "big") for topic in topics) / 1e9
    # The monotonic clock restarts with the machine, and the file may be older.
    return latest if latest <= time.monotonic() else 0.0


def invalidate(session: Session, topic: str) -> None:
    """Record, after the open transaction has committed, that a topic changed."""
    assert isinstance(session, ReadOrWriteSession)
    times = _change_times()
    after_commit(session, lambda: _record_change(times, topic))


def _record_change(times: memoryview, topic: str) -> None:
    times[_slice_of(topic)] = time.monotonic_ns().to_bytes(TOPIC_BYTES, "big")


def _slice_of(topic: str) -> slice:
    start = TOPICS.index(topic) * TOPIC_BYTES
    return slice(start, start + TOPIC_BYTES)


def _change_times() -> memoryview:
    return _map_shared_file(current_app.extensions["settings"].DATA_DIR)


@cache
def _map_shared_file(folder: Path) -> memoryview:
    size = TOPIC_BYTES * len(TOPICS)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "freshness").open("ab+") as file:
            if file.tell() < size:
                file.truncate(size)
            return memoryview(mmap.mmap(file.fileno(), size))
    except OSError:
        # Without a shared file each process sees its own changes only.
        return memoryview(bytearray(size))
