"""Rate limits per account and per network, their headers, and their fallback while Redis is down."""

from time import perf_counter

import pytest
from werkzeug.test import TestResponse

from tests.factories.accounts import create_customer, create_signed_in_client
from tests.http import Client, data, read_error
from tests.timing import assert_in_time
from tests.web.conftest import Served


def send_requests(
    client: Client, times: int, address: str = "127.0.0.1", *, path: str = "/t/limited", **headers: str
) -> list[TestResponse]:
    origin = {"REMOTE_ADDR": address}
    return [client.post(path, environ_overrides=origin, headers=headers) for _ in range(times)]


def statuses(responses: list[TestResponse]) -> list[int]:
    return [response.status_code for response in responses]


def test_thirty_first_request_of_a_minute_is_throttled(client: Client) -> None:
    responses = send_requests(client, 31)
    assert statuses(responses) == [200] * 30 + [429]
    assert [response.headers["RateLimit-Remaining"] for response in responses] == [*map(str, range(29, -1, -1)), "0"]
    assert {response.headers["RateLimit-Limit"] for response in responses} == {"30"}
    last = responses[-1]
    assert read_error(last) == (429, "RATE_LIMITED")
    assert 1 <= int(last.headers["Retry-After"]) <= 60
    assert last.headers["Retry-After"] == last.headers["RateLimit-Reset"]


def test_refused_request_counts_and_has_rate_limit_headers(client: Client) -> None:
    response = client.post("/t/limited", {"nonsense": 1})
    assert response.status_code == 422 and response.headers["RateLimit-Remaining"] == "29"


def test_each_network_has_its_own_count(client: Client) -> None:
    assert statuses(send_requests(client, 31))[-1] == 429
    assert statuses(send_requests(client, 1, "127.0.0.2")) == [200]


def test_each_account_has_its_own_count_from_any_network(client: Client) -> None:
    one, other = create_signed_in_client(client, create_customer()), create_signed_in_client(client, create_customer())
    path = "/t/limited-signed-in"
    assert statuses(send_requests(one, 15, path=path) + send_requests(one, 16, "127.0.0.9", path=path))[-1] == 429
    assert statuses(send_requests(other, 1, path=path) + send_requests(client, 1)) == [200, 200]


def test_a_forged_forwarding_header_changes_nothing(client: Client) -> None:
    responses = [
        send_requests(client, 1, **{"X-Forwarded-For": f"10.0.0.{n}", "X-Real-IP": f"10.1.0.{n}"})[0] for n in range(31)
    ]
    assert statuses(responses)[-1] == 429
    assert data(client.get("/t/who", headers={"X-Forwarded-For": "10.0.0.1"}))["network"] == "127.0.0.1"


def test_behind_one_proxy_the_address_it_names_counts(served: Served) -> None:
    client = served(PROXY_HOPS="1")
    forged = {"X-Forwarded-For": "6.6.6.6, 10.0.0.1"}
    assert data(client.get("/t/who", headers=forged))["network"] == "10.0.0.1"
    assert data(client.get("/t/who", headers={"X-Forwarded-For": "rubbish"}))["network"] == "unknown"


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:0:ffff::2", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        ("10.0.0.7", "10.0.0.7"),
        ("", "unknown"),
    ],
)
def test_an_ipv6_subscriber_is_one_network(client: Client, address: str, network: str) -> None:
    assert data(client.get("/t/who", environ_overrides={"REMOTE_ADDR": address}))["network"] == network


def test_a_site_of_many_ipv6_networks_is_counted_as_a_whole(client: Client) -> None:
    def knocks(site: str, networks: range) -> list[int]:
        return [code for it in networks for code in statuses(send_requests(client, 30, f"2001:db8:{site}:{it:x}::1"))]

    assert set(knocks("1", range(16))) == {200}
    assert statuses(send_requests(client, 1, "2001:db8:1:ffff::1")) == [429]
    assert statuses(send_requests(client, 1, "2001:db8:2::1")) == [200]


def test_a_token_counts_for_the_network_where_none_is_needed(client: Client) -> None:
    one, other = create_signed_in_client(client, create_customer()), create_signed_in_client(client, create_customer())
    responses = [send_requests(caller, 1)[0].status_code for caller in [one, other, client] * 10 + [one, other]]
    assert responses == [200] * 30 + [429, 429]


def test_the_scale_multiplies_the_count(served: Served) -> None:
    responses = send_requests(served(RATE_LIMIT_SCALE="0.1"), 4)
    assert statuses(responses) == [200, 200, 200, 429]
    assert responses[0].headers["RateLimit-Limit"] == "3"


@pytest.mark.parametrize("away", ["redis://127.0.0.1:1/0", "unix:///nonexistent/redis.sock", "redis://10.255.255.1/0"])
def test_without_redis_a_tenth_of_the_limit_is_allowed(served: Served, away: str) -> None:
    client = served(redis_url=away)
    started = perf_counter()
    responses = send_requests(client, 4)
    assert statuses(responses) == [200, 200, 200, 429]
    assert responses[0].headers["RateLimit-Limit"] == "3"
    assert_in_time(perf_counter() - started < 1, "only the first request may wait for Redis, and not for long")
    assert data(client.get("/ready"))["redis"] == "down"
