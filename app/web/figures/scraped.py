"""All metrics as text. What has to be looked up is at most five seconds old, however many ask."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from flask import Response, current_app

from app.clients import counted
from app.config import Settings
from app.core.metrics import store
from app.core.metrics.summing import Numbers, from_nought, summed
from app.core.metrics.text import CONTENT_TYPE, text
from app.web.figures import around, gate, work

SECONDS = 5.0
COUNTED_ELSEWHERE = (counted.MESSAGES,)
"""Only workers send messages; what a process has not declared it cannot tell."""


@dataclass
class Looked:
    """What was found when somebody last looked, for all threads of a process."""

    lock: Lock = field(default_factory=Lock)
    at: float = float("-inf")
    found: Numbers = field(default_factory=dict)

    def at_most(self, seconds: float, look: Callable[[], Numbers]) -> Numbers:
        with self.lock:
            if time.monotonic() - self.at > seconds:
                self.found, self.at = look(), time.monotonic()
            return self.found


def response() -> Response:
    """Everything, in Prometheus's format. Raises MetricsClosed."""
    gate.check()
    figures = looked(current_app.extensions["settings"])
    return Response(text({**from_nought(), **summed(store().folder), **figures}), content_type=CONTENT_TYPE)


def looked(settings: Settings) -> Numbers:
    """What has to be looked up, at most five seconds old."""
    last: Looked = current_app.extensions.setdefault("figures", Looked())
    return last.at_most(SECONDS, lambda: {**work.asked(settings.DATABASE_URL), **around.asked(settings)})
