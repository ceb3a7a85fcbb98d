"""One at a time, behind everybody else, and nothing kept."""

import ctypes
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from app.core import low_priority_executor
from app.core.low_priority_executor import NICE, LowPriorityExecutor
from tests.races import run_concurrently


def test_one_call_runs_at_a_time_and_memory_is_returned_when_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    inside: list[int] = []
    most: list[int] = []
    seat = LowPriorityExecutor()
    monkeypatch.setattr(low_priority_executor, "_return_free_memory", lambda: given.append(len(most)))

    def work(number: int) -> None:
        inside.append(number)
        most.append(len(inside))
        time.sleep(0.01)
        inside.remove(number)

    run_concurrently(8, lambda number: seat.run(work, number))
    assert max(most) == 1 and len(most) == 8
    assert given and given[-1] == 8 and len(given) < 8


def test_an_error_is_raised_in_the_caller_and_the_next_call_runs() -> None:
    seat = LowPriorityExecutor()
    with pytest.raises(ValueError, match="invalid literal"):
        seat.run(int, "x")
    assert seat.run(int, "1") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux has a thread a niceness of its own")
def test_the_thread_has_lower_priority() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    assert LowPriorityExecutor().run(niceness) == max(NICE, niceness())


def test_a_fork_has_its_own_thread() -> None:
    seat = LowPriorityExecutor()
    assert seat.run(int, "1") == 1
    pid = os.fork()
    if pid == 0:
        os._exit(0 if seat.run(int, "2") == 2 else 1)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc keeps freed memory")
def test_freed_memory_returns_to_the_system() -> None:
    blocks = [ctypes.create_string_buffer(b"x" * 60_000) for _ in range(1000)]
    kept = blocks.pop()
    blocks.clear()
    held = resident()
    LowPriorityExecutor().run(int)
    assert resident() < held - 30 * 1024 and kept[0] == b"x"


def resident() -> int:
    """Resident memory of this process in KiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4
