"""Which Python functions a request calls, counted in this process by `sys.setprofile`.

Unlike times, the counts are the same on every machine. gunicorn is not part of them.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from flask import Flask
from flask.testing import FlaskClient

from benchmarks.outcome import Failed
from benchmarks.registry import Load, registered
from benchmarks.stage import Stage

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

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

    with _profile(here.app, count):
        _send(client, load, WARM_UP)
    return counts


@contextmanager
def _profile(app: Flask, count: Callable[[FrameType, str, object], None]) -> Iterator[None]:
    """Call `count` for the functions below the WSGI application, and for none of the client."""
    wsgi_app = app.wsgi_app

    def profiled(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        sys.setprofile(count)
        try:
            with closing(wsgi_app(environ, start_response)) as parts:  # type: ignore[type-var]
                return list(parts)
        finally:
            sys.setprofile(None)

    app.wsgi_app = profiled  # type: ignore[method-assign]
    try:
        yield
    finally:
        app.wsgi_app = wsgi_app  # type: ignore[method-assign]


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
    while frame is not None and frame.f_code.co_name != "profiled":
        frames.append(_describe(frame.f_code))
        frame = frame.f_back
    return tuple(reversed(frames))


def _describe(code: CodeType) -> str:
    return f"{code.co_name} ({code.co_filename}:{code.co_firstlineno})"
