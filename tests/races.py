"""Concurrent calls over real connections."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

Result = TypeVar("Result")


def run_concurrently(count: int, call: Callable[[int], Result]) -> list[Result]:
    """The results of `call(0)` to `call(count - 1)`, started together in one thread each."""
    start = Barrier(count)

    def run(number: int) -> Result:
        start.wait(timeout=90)
        return call(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))
