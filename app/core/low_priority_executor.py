"""Heavy work that must not be in the way: one piece at a time, by a thread that the kernel serves last."""

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, TypeVar

# In a rush that leaves nothing of the processor a hash with a niceness of 10 waits three seconds, with 5 one.
NICE = 5
Given = ParamSpec("Given")
Made = TypeVar("Made")


class LowPriorityExecutor:
    """A thread of this process for work that takes much processor and memory. Callers wait for theirs in turn.

    After the last of those who came it gives the memory back. Anyone who waits is about to take the same memory again,
    so in a flood none of it moves; and a quiet process keeps none. Giving back costs the next one about 13 ms for
    20 MB, which the kernel has to clear again.
    """

    def __init__(self) -> None:
        self._start_thread()
        # A thread does not survive a fork.
        os.register_at_fork(after_in_child=self._start_thread)

    def run(self, work: Callable[Given, Made], *arguments: Given.args, **options: Given.kwargs) -> Made:
        """What `work` returns. Raises what it raises."""
        with self._counting:
            self._waiting += 1
        return self._thread.submit(self._run_queue, lambda: work(*arguments, **options)).result()

    def _run_queue(self, work: Callable[[], Made]) -> Made:
        try:
            return work()
        finally:
            with self._counting:
                self._waiting -= 1
                last = not self._waiting
            if last:
                _give_back()

    def _start_thread(self) -> None:
        self._counting, self._waiting = threading.Lock(), 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="back-seat", initializer=lower_priority)


def lower_priority(nice: int = NICE) -> None:
    """Lets the kernel serve this thread, and those that it starts, after anyone else who wants the processor."""
    # On Linux a thread has a niceness of its own; elsewhere it is the whole process that has one.
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)


def _give_back() -> None:
    # Only glibc keeps what was freed, and only glibc has the call.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
