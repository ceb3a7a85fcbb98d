"""What each node keeps for itself agrees with the other one: answers, versions, sessions, keys, limits, streams."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from sqlalchemy import text

from app.accounts import signing_keys
from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, create_customer, sign_in
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.inventory import Stock
from tests.http import Client
from tests.streams import StreamClient
from tests.timing import assert_in_time
from tests.topology.conftest import needs
from tests.topology.nodes import Node, Pair

log = logging.getLogger(__name__)
pytestmark = needs("nginx")
KEPT, BUSY = 1.0, 0.2


def test_what_one_changes_the_other_shows_within_the_second_it_keeps(client: Client, two: Pair) -> None:
    owner = create_organiser_client(client)
    path = f"/api/events/public/{create_published_event(owner)['id']}"
    one, other = two.nodes
    for number in range(2):
        assert one.ask("GET", path).status == other.ask("GET", path).status == 200
        name = f"Renamed {number}"
        answer = one.ask("PATCH", path.replace("/public", ""), {"name": name}, **owner.headers)
        assert answer.status == 200
        since, late = time.monotonic(), 0.0
        assert name_at(one, path) == name, "where it was changed it shows at once"
        while name_at(other, path) != name:
            late = time.monotonic() - since
        log.info(f"the other one showed it after {late:.2f} s")
        assert_in_time(late <= KEPT + BUSY, late)
        one, other = other, one


def test_signed_in_callers_read_at_one_node_what_they_wrote_at_the_other(client: Client, two: Pair) -> None:
    owner = create_organiser_client(client)
    path = f"/api/events/public/{create_published_event(owner)['id']}"
    one, other = two.nodes
    for number in range(6):
        name = f"Renamed {number}"
        assert one.ask("PATCH", path.replace("/public", ""), {"name": name}, **owner.headers).status == 200
        assert name_at(other, path, **owner.headers) == name
        one, other = other, one


def name_at(node: Node, path: str, **headers: str) -> str:
    return str(node.ask("GET", path, **headers).json["data"]["name"])


def test_a_version_read_at_one_counts_at_the_other(client: Client, two: Pair) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner)
    one, other = two.nodes
    for path in (f"/api/events/public/{made['id']}", "/api/events/public/discover", f"/api/events/{made['id']}"):
        tag = one.ask("GET", path, **owner.headers).headers["etag"]
        assert other.ask("GET", path, **owner.headers).headers["etag"] == tag
        assert other.ask("GET", path, If_None_Match=tag, **owner.headers).status == 304
    own = f"/api/events/{made['id']}"
    tag = one.ask("GET", own, **owner.headers).headers["etag"]
    assert other.ask("PATCH", own, {"name": "Second"}, If_Match=tag, **owner.headers).status == 200
    stale = one.ask("PATCH", own, {"name": "Third"}, If_Match=tag, **owner.headers)
    assert (stale.status, stale.json["shortMessage"]) == (412, "STALE_VERSION")


def refreshed(node: Node, token: str) -> tuple[int, dict[str, Any]]:
    answer = node.ask("POST", "/api/auth/refresh", {"refreshToken": token})
    return answer.status, answer.json["data"] if answer.status == 200 else {"code": answer.json["shortMessage"]}


def test_a_token_that_one_has_rotated_ends_at_the_other(client: Client, two: Pair) -> None:
    first = sign_in(client, create_customer().email)
    one, other = two.nodes
    status, second = refreshed(one, first["refreshToken"])
    assert status == 200
    status, again = refreshed(other, first["refreshToken"])
    assert (status, again["refreshToken"]) == (200, second["refreshToken"]), "an answer that was lost is given again"
    with transaction() as session:
        session.execute(text("UPDATE account_session SET rotated_at = rotated_at - interval '11 seconds'"))
    assert refreshed(other, first["refreshToken"]) == (401, {"code": "REFRESH_REUSED"})
    assert refreshed(one, second["refreshToken"])[0] == 401, "and anyone who has stolen it has nothing"
    for node in two.nodes:
        answer = node.ask("GET", "/api/auth/me", Authorization=f"Bearer {second['accessToken']}")
        assert (answer.status, answer.json["shortMessage"]) == (401, "SESSION_ENDED")


def test_a_key_that_signs_from_now_on_is_known_at_both(client: Client, two: Pair) -> None:
    who = create_customer().email
    before = two.nodes[0].ask("POST", "/api/auth/login", {"email": who, "password": PASSWORD}).json["data"]
    signing_keys.rotate_signing_key()
    after = sign_in(client, who)
    for node in two.nodes:
        for token in (before["accessToken"], after["accessToken"]):
            assert node.ask("GET", "/api/auth/me", Authorization=f"Bearer {token}").status == 200


def test_a_limit_counts_at_both_together(app: Flask, two: Pair) -> None:
    left = []
    for number in range(10):
        answer = two.nodes[number % 2].ask("GET", "/api/events/merchant-invite/no-such-link-is-here")
        left.append(int(answer.headers["ratelimit-remaining"]))
    # Each for itself would have counted five.
    assert 8 <= left[0] - left[-1] <= 9, left


@contextmanager
def listening(two: Pair, stock: Stock) -> Iterator[list[StreamClient]]:
    heard = [StreamClient(node.port, f"{stock.path}/stream", stock.owner.headers) for node in two.nodes]
    try:
        for item in heard:
            item.snapshot()
        yield heard
    finally:
        for item in heard:
            item.close()


def test_streams_of_both_tell_what_either_writes(client: Client, two: Pair) -> None:
    stock = Stock(client)
    item = stock.item()
    with listening(two, stock) as streams:
        for node in two.nodes:
            path = f"{stock.path}/items/{item['id']}/adjust"
            assert node.ask("POST", path, {"delta": -1}, **stock.owner.headers).status == 200
            told = [stream.next(5) for stream in streams]
            assert [item and item.name for item in told] == ["changes", "changes"]
            assert told[0] is not None and told[1] is not None and told[0].data == told[1].data
