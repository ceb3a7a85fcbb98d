"""One at a time, and nothing kept."""

import ctypes
import time
from pathlib import Path

import pytest

from app.core import memory
from app.core.memory import OneAtATime
from tests.races import at_once


def test_one_runs_at_a_time_and_the_last_gives_back(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    inside: list[int] = []
    most: list[int] = []
    turn = OneAtATime()
    monkeypatch.setattr(memory, "_give_back", lambda: given.append(len(most)))

    def work(number: int) -> None:
        with turn:
            inside.append(number)
            most.append(len(inside))
            time.sleep(0.01)
            inside.remove(number)

    at_once(8, work)
    assert max(most) == 1 and len(most) == 8
    assert given and given[-1] == 8 and len(given) < 8


def test_an_error_leaves_the_turn_to_the_next() -> None:
    turn = OneAtATime()
    with pytest.raises(ValueError), turn:
        raise ValueError
    with turn:
        pass


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc keeps freed memory")
def test_what_was_freed_leaves_the_process() -> None:
    blocks = [ctypes.create_string_buffer(b"x" * 60_000) for _ in range(1000)]
    kept = blocks.pop()
    blocks.clear()
    held = resident()
    with OneAtATime():
        pass
    assert resident() < held - 30 * 1024 and kept[0] == b"x"


def resident() -> int:
    """Resident memory of this process in KiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4
