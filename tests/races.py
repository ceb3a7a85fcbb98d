"""Concurrent calls over real connections."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from werkzeug.test import TestResponse

Result = TypeVar("Result")


def run_concurrently(count: int, call: Callable[[int], Result]) -> list[Result]:
    """The results of `call(0)` to `call(count - 1)`, started together in one thread each."""
    start = Barrier(count)

    def run(number: int) -> Result:
        start.wait(timeout=90)
        return call(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


def repeat_while_busy(send: Callable[[], TestResponse], *statuses: int) -> TestResponse:
    """The first response that is not 503 or one of `statuses`. Clients repeat these, and so do tests on a busy machine."""
    responses = (send() for _ in range(50))
    return next(response for response in responses if response.status_code not in (503, *statuses))
