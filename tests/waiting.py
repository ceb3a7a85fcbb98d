"""Waits of tests. A wait ends as soon as it can, so each limit is long enough for a busy machine."""

import subprocess
import time
from collections.abc import Callable
from typing import Any

MAX_SECONDS = 90.0


def wait_until(condition: Callable[[], Any], seconds: float = MAX_SECONDS) -> None:
    """Returns once the condition holds. Raises TimeoutError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds} s: {condition}")
        time.sleep(0.02)


def wait_for_exit(process: "subprocess.Popen[Any]", seconds: float = MAX_SECONDS) -> int:
    """Returns the exit code. Kills a process that does not end within `seconds`, and raises TimeoutExpired."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
