"""What every process on this machine sees change at once, so that kept answers are dropped in time.

A topic ("events") is eight bytes in a small shared file: when it changed last. Anyone who changes something writes them
after their commit; anyone who keeps answers compares. Reading costs less than a microsecond, and no server is asked.
Processes on other machines do not see it: for them a kept answer lives for its second or two (see app/web/response_cache.py).
"""

import mmap
import time
from functools import cache
from pathlib import Path

from flask import current_app
from sqlalchemy.orm import Session

from app.core.session import ReadOrWriteSession
from app.core.transaction import after_commit

TOPICS = ("events", "tickets")
WIDTH = 8


def cache_version(*topics: str) -> bytes:
    """Bytes that differ once any of the topics has changed. Take them before reading what is kept."""
    board = _board()
    return b"".join(bytes(board[_at(topic)]) for topic in topics)


def changed_at(*topics: str) -> float:
    """When one of the topics changed last on this machine, by its monotonic clock."""
    board = _board()
    moment = max(int.from_bytes(board[_at(topic)], "big") for topic in topics) / 1e9
    # The file may be older than the machine's last start, with which that clock began anew.
    return moment if moment <= time.monotonic() else 0.0


def invalidate(session: Session, topic: str) -> None:
    """Says, once the open transaction has committed, that a topic has changed."""
    assert isinstance(session, ReadOrWriteSession)
    board = _board()
    after_commit(session, lambda: _write(board, topic))


def _write(board: memoryview, topic: str) -> None:
    board[_at(topic)] = time.monotonic_ns().to_bytes(WIDTH, "big")


def _at(topic: str) -> slice:
    start = TOPICS.index(topic) * WIDTH
    return slice(start, start + WIDTH)


def _board() -> memoryview:
    return _opened(current_app.extensions["settings"].DATA_DIR)


@cache
def _opened(folder: Path) -> memoryview:
    size = WIDTH * len(TOPICS)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "freshness").open("ab+") as file:
            if file.tell() < size:
                file.truncate(size)
            return memoryview(mmap.mmap(file.fileno(), size))
    except OSError:
        # Without a folder to share in, each process knows of its own changes only.
        return memoryview(bytearray(size))
