"""Idempotency keys in parallel requests, with a control without keys."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.core import idempotency_store
from tests.http import Client, data, read_error
from tests.races import repeat_while_busy, run_concurrently
from tests.web import shop

HEADERS = {"Idempotency-Key": "key-0123456789"}


@pytest.fixture
def post(client: Client) -> Any:
    app = client.flask.application

    def call(_: int) -> TestResponse:
        return Client(app.test_client()).post("/t/items", {"name": "x"}, headers=HEADERS)

    return call


def test_thirty_two_parallel_requests_have_one_effect(post: Any) -> None:
    """A request that waited too long is repeated with its key, as clients do."""
    answers = run_concurrently(32, lambda number: repeat_while_busy(lambda: post(number), 409))
    assert {response.status_code for response in answers} == {201}
    assert len({data(response, 201)["id"] for response in answers}) == 1 and shop.count() == 1
    assert sum("Idempotent-Replayed" not in response.headers for response in answers) == 1


@pytest.mark.control
def test_without_the_claim_they_are_many(post: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control."""
    monkeypatch.setattr(idempotency_store, "lock_key", lambda *_: None)
    run_concurrently(8, post)
    assert shop.count() == 8


@pytest.mark.parametrize("seconds", [0.5, 4.5])
def test_request_waits_three_seconds_for_a_running_one_with_its_key(client: Client, seconds: float) -> None:
    running = Event()
    shop.before += [running.set, lambda: sleep(seconds)]
    app = client.flask.application
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(lambda: Client(app.test_client()).post("/t/staged", headers=HEADERS))
        running.wait(90)
        second = client.post("/t/staged", headers=HEADERS)
        made = data(first.result())
    if seconds < 3:
        assert data(second) == made
    else:
        assert read_error(second) == (409, "IDEMPOTENCY_IN_PROGRESS") and second.headers["Retry-After"] == "1"
    assert data(client.post("/t/staged", headers=HEADERS)) == made and shop.count() == 1
