"""Runs heavy work such as password hashes one at a time, in a thread with low priority."""

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, TypeVar

# Under full load a password hash waits three seconds with a niceness of 10, one second with 5.
NICE = 5
P = ParamSpec("P")
Result = TypeVar("Result")


class LowPriorityExecutor:
    """One thread of this process for work that takes much CPU and memory; callers wait in a queue.

    When the queue is empty the thread returns free memory to the system. While calls wait it does not, because the next
    one takes the same memory again: clearing 20 MB costs about 13 ms.
    """

    def __init__(self) -> None:
        self._start_thread()
        # A thread does not survive a fork.
        os.register_at_fork(after_in_child=self._start_thread)

    def run(self, work: Callable[P, Result], *arguments: P.args, **options: P.kwargs) -> Result:
        """Run `work` in the thread and return its result. Raises what it raises."""
        with self._count_lock:
            self._pending += 1
        return self._thread.submit(self._run_and_trim, lambda: work(*arguments, **options)).result()

    def _run_and_trim(self, work: Callable[[], Result]) -> Result:
        try:
            return work()
        finally:
            with self._count_lock:
                self._pending -= 1
                is_idle = not self._pending
            if is_idle:
                _return_free_memory()

    def _start_thread(self) -> None:
        self._count_lock, self._pending = threading.Lock(), 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="back-seat", initializer=lower_priority)


def lower_priority(nice: int = NICE) -> None:
    """Lower the CPU priority of this thread and of those that it starts."""
    # On Linux each thread has a niceness; elsewhere the whole process has one.
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)


def _return_free_memory() -> None:
    # glibc keeps freed memory; other C libraries do not have this call.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
