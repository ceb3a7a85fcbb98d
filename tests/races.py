"""Many callers at the same moment, over real connections."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

Found = TypeVar("Found")


def at_once(count: int, call: Callable[[int], Found]) -> list[Found]:
    """What `call(0)` to `call(count - 1)` answer when they start together, each in its own thread."""
    start = Barrier(count)

    def go(number: int) -> Found:
        start.wait(timeout=20)
        return call(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(go, range(count)))
