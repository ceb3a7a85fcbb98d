"""Cached responses, which are sent before Flask sees the request."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.core import cache_invalidation
from app.core.transaction import transaction
from app.web import response_cache
from app.web.access import PUBLIC_OR_SIGNED_IN, SIGNED_IN
from app.web.rate_limits import Limit
from tests.exposition import read_value
from tests.factories.accounts import create_customer, create_signed_in_client
from tests.http import Client, data
from tests.web.conftest import Served

ORIGIN = {"Origin": "https://app.example.com"}
COUNTED = 'commerce_http_requests_total{method="GET",route="/t/window",status="200"}'


def read_count(client: Client, query: str = "", **options: object) -> int:
    """How often the view had run when the response was made."""
    return int(data(client.get(f"/t/window{query}", **options))["count"])


@pytest.fixture
def client(served: Served) -> Client:
    """A client of an application with an empty cache."""
    return served()


def test_the_data_is_kept_and_the_rest_is_new(client: Client) -> None:
    first, second = client.get("/t/window"), client.get("/t/window", headers={"X-Request-Id": "my-request-0001"})
    assert data(first) == data(second)
    assert second.json["requestId"] == second.headers["X-Request-Id"] == "my-request-0001" != first.json["requestId"]
    assert second.json["timestamp"] >= first.json["timestamp"]
    names = [{name for name, _ in response.headers} for response in (first, second)]
    assert names[0] == names[1] and first.headers["ETag"] == second.headers["ETag"]
    assert int(second.headers["Content-Length"]) == len(second.data)


def test_what_may_differ_is_not_shared(client: Client) -> None:
    first = read_count(client)
    assert read_count(client, "?x=1") > first
    assert read_count(client, headers={"Host": "other.example.com"}) > first
    assert read_count(client, headers=ORIGIN) > first
    assert client.flask.head("/t/window").data == b"" and read_count(client) == first


def test_callers_with_a_token_get_and_leave_nothing(client: Client) -> None:
    first, somebody = read_count(client), create_signed_in_client(client, create_customer())
    assert read_count(somebody) > first
    assert read_count(client) == first


def test_each_origin_gets_its_own_headers(served: Served) -> None:
    client = served(CORS_ORIGINS=ORIGIN["Origin"])
    for _ in range(2):
        assert "Access-Control-Allow-Origin" not in client.get("/t/window").headers
        assert (
            "Access-Control-Allow-Origin"
            not in client.get("/t/window", headers={"Origin": "https://e.example"}).headers
        )
        for headers in (ORIGIN, {**ORIGIN, "If-None-Match": "*"}):
            answer = client.get("/t/window", headers=headers)
            assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN["Origin"]


def test_a_host_that_is_refused_is_refused_again(served: Served) -> None:
    client = served(TRUSTED_HOSTS="shop.example.com")
    for host, status in (("shop.example.com", 200), ("evil.example.com", 400)) * 2:
        assert client.get("/t/window", headers={"Host": host}).status_code == status


def test_a_first_304_does_not_lose_the_type_of_the_next_response(client: Client) -> None:
    assert client.get("/t/window", headers={"If-None-Match": "*"}).status_code == 304
    answer = client.get("/t/window")
    assert answer.status_code == 200 and answer.mimetype == "application/json" and data(answer)["count"]


def test_a_change_of_a_topic_ends_an_entry(served: Served, app: Flask) -> None:
    client = served(data_dir=app.extensions["settings"].DATA_DIR)
    first = read_count(client)
    with transaction() as session:
        cache_invalidation.invalidate(session, "events")
    assert read_count(client) > first


def test_time_ends_an_entry(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_count(client)
    later = response_cache.time.monotonic() + 61
    monkeypatch.setattr(response_cache.time, "monotonic", lambda: later)
    assert read_count(client) > first


def test_a_full_cache_starts_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "MAX_ENTRIES", 2)
    first = read_count(client)
    read_count(client, "?x=1")
    assert read_count(client) == first
    read_count(client, "?x=2")
    assert read_count(client) > first


def test_cached_responses_are_counted_under_their_route(client: Client) -> None:
    def count() -> float:
        return read_value(client.get("/metrics").get_data(as_text=True), COUNTED)

    before = count()
    for _ in range(3):
        client.get("/t/window")
    assert count() == before + 3


@pytest.mark.parametrize("change", [{"access": SIGNED_IN}, {"access": PUBLIC_OR_SIGNED_IN}, {"limit": Limit(1)}])
def test_a_route_with_checks_cannot_be_cached(app: Flask, change: dict[str, Any]) -> None:
    operation = vars(app.view_functions["shop.window"])["operation"]
    with pytest.raises(TypeError, match="cached responses are sent before"):
        replace(operation, **change)
