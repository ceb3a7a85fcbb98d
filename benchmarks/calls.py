"""Which Python functions a request calls, counted in this process by `sys.setprofile`.

Unlike times, the counts are the same on every machine. gunicorn is not part of them.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from types import CodeType, FrameType
from typing import Any

from flask.testing import FlaskClient

from benchmarks.outcome import Failed
from benchmarks.registry import Load, registered
from benchmarks.stage import Stage

WARM_UP = 5


def count_calls(here: Stage, name: str) -> Counter[tuple[str, ...]]:
    """Count the stacks at each call of a function during one request of a benchmark, after a few that fill the caches.

    A stack is its frames from the outermost on, as py-spy writes them. Raises Failed when a response is an error.
    """
    load = registered()[name].prepare(here)
    client = here.app.test_client()
    for number in range(WARM_UP):
        _send(client, load, number)
    counts: Counter[tuple[str, ...]] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            counts[_describe_stack(frame)] += 1

    sys.setprofile(count)
    try:
        _send(client, load, WARM_UP)
    finally:
        sys.setprofile(None)
    return counts


def _send(client: FlaskClient, load: Load, number: int) -> None:
    options: dict[str, Any] = {"headers": dict(load.headers)}
    if load.bodies:
        options["json"] = load.bodies[number % len(load.bodies)]
    if load.tokens:
        options["headers"]["Authorization"] = f"Bearer {load.tokens[number % len(load.tokens)]}"
    path = load.paths[number % len(load.paths)] if load.paths else load.path
    response = client.open(path, method=load.method, **options)
    if response.status_code >= 400:
        raise Failed(f"{load.method} {path}: {response.status_code} {response.text}")
    if load.carry:
        load.bodies[number % len(load.bodies)][load.carry] = json.loads(response.data)["data"][load.carry]


def _describe_stack(frame: FrameType | None) -> tuple[str, ...]:
    frames = []
    while frame is not None and frame.f_globals.get("__name__") != "werkzeug.test":
        frames.append(_describe(frame.f_code))
        frame = frame.f_back
    return tuple(reversed(frames))


def _describe(code: CodeType) -> str:
    return f"{code.co_name} ({code.co_filename}:{code.co_firstlineno})"
