"""The stream of a stock over HTTP, as far as an answer that ends can show it."""

from typing import Any

import orjson
import pytest
from sqlalchemy import text

from app.core.change_positions import load_position
from app.core.db import db, transaction_engine
from app.inventory import stream_queries
from app.web.streams import connection_limits
from tests.factories.accounts import create_account, create_signed_in_client, sign_in
from tests.factories.events import create_event
from tests.factories.inventory import Stock, build_csv
from tests.http import Client, read_error
from tests.streams import Event, events_of


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


def stream(stock: Stock, position: str | None = None, **query: Any) -> list[Event]:
    headers = {"Last-Event-ID": position} if position is not None else {}
    answer = stock.owner.get(f"{stock.path}/stream", headers=headers, query_string=query)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert answer.content_type == "text/event-stream; charset=utf-8"
    assert answer.headers["X-Accel-Buffering"] == "no" and answer.headers["Cache-Control"] == "no-store"
    with answer:
        return list(events_of([answer.get_data()]))


def test_it_begins_with_the_stock_as_it_is(stock: Stock) -> None:
    item = stock.item()
    (found,) = stream(stock)
    assert found.name == "snapshot" and found.id
    assert found.data == {"items": [stock.read(item)], "more": False}


def test_a_large_stock_comes_in_parts_and_only_the_last_has_an_id(stock: Stock) -> None:
    stock.sheet(build_csv(*(f"S-{n:03},Item,1,1,1,1,0,0" for n in range(401))))
    found = stream(stock)
    assert [(len(item.data["items"]), item.data["more"], bool(item.id)) for item in found] == [
        (200, True, False),
        (200, True, False),
        (1, False, True),
    ]
    assert len({item["sku"] for each in found for item in each.data["items"]}) == 401


def test_who_comes_again_gets_what_was_missed_and_no_snapshot(stock: Stock) -> None:
    item = stock.item(onHand=5, reorderLevel=4)
    position = stream(stock)[-1].id
    stock.adjust(item, -1, reason="sold", note="two\nlines")
    other = stock.item()
    (found,) = stream(stock, position)
    assert found.name == "changes" and found.id != position
    said = [(change["kind"], change["itemId"]) for change in found.data["changes"]]
    assert said == [("moved", item["id"]), ("low", item["id"]), ("created", other["id"]), ("moved", other["id"])]
    assert found.data["items"] == [stock.read(item), stock.read(other)] and found.data["gone"] == []
    assert found.data["changes"][0]["movement"] == stock.book(item)[-1]
    assert stream(stock, found.id) == [], "nothing is told twice"


def test_filters_are_those_of_the_list(stock: Stock) -> None:
    beer, wine = stock.item(category="Beer"), stock.item(category="Wine")
    (first,) = stream(stock, category="beer")
    assert [item["id"] for item in first.data["items"]] == [beer["id"]]
    for item in (beer, wine):
        stock.adjust(item, -1)
    (found,) = stream(stock, first.id, category="beer")
    assert {change["itemId"] for change in found.data["changes"]} == {beer["id"]}
    assert [item["id"] for item in found.data["items"]] == [beer["id"]] and found.data["gone"] == [wine["id"]]


def test_an_item_that_leaves_the_filter_is_gone(stock: Stock) -> None:
    item = stock.item(onHand=3, reorderLevel=4)
    (first,) = stream(stock, lowStock="true")
    stock.adjust(item, 10)
    (found,) = stream(stock, first.id, lowStock="true")
    assert found.data == {"changes": [], "items": [], "gone": [item["id"]]}


def test_a_position_that_is_too_old_means_looking_again(stock: Stock) -> None:
    stock.item()
    found = stream(stock, "1600000000-5:5:")
    assert [item.name for item in found] == ["resync", "snapshot"] and found[-1].id


def test_a_large_import_means_looking_again(stock: Stock) -> None:
    position = stream(stock)[-1].id
    stock.sheet(build_csv(*(f"S-{n:03},Item,1,1,1,1,0,0" for n in range(600))))
    assert [item.name for item in stream(stock, position)] == ["resync", *["snapshot"] * 3]


@pytest.mark.parametrize(
    "position",
    [
        "x",
        "'; DROP TABLE event",
        "-1",
        "9" * 4000,
        "1795000000-1:2:" + "1," * 900,
        "\u00b2-1:1:",
        "0-0:0:",
        "99999999999-1:1:",
        f"1795000000-1:{2**64}:",
        "1795000000-1:9:3,2",
        "%00",
        "1795000000-1:2:1\u00a0",
        f"1795000000-{2**32}:{2**33}:",
        f"1795000000-1:{2**33 + 1}:{2**32}",
    ],
)
def test_a_position_that_is_none_of_ours_means_looking_again(stock: Stock, position: str) -> None:
    assert [item.name for item in stream(stock, position)] == ["resync", "snapshot"]


def test_a_forged_position_tells_no_more_than_changes(stock: Stock) -> None:
    stock.item()
    now = load_position().partition("-")[0]
    found = stream(stock, f"{now}-1:1:")
    assert found[0].name in ("changes", "resync")
    assert stream(stock, f"{now}-{2**62 + 1}:{2**62 + 1}:") == []


def test_nobody_else_may_listen(stock: Stock, client: Client) -> None:
    path = f"{stock.path}/stream"
    assert read_error(client.get(path)) == (401, "TOKEN_MISSING")
    token = stock.owner.headers["Authorization"].removeprefix("Bearer ")
    for name in ("token", "access_token", "jwt"):
        assert read_error(client.get(path, query_string={name: token})) == (401, "TOKEN_MISSING"), "never in an address"
    assert read_error(Stock(client).owner.get(path)) == (404, "NOT_FOUND")
    customer = create_account()
    signed_in = client.as_(str(sign_in(client, customer.email)["accessToken"]))
    assert read_error(signed_in.get(path)) == (403, "ROLE_NOT_ALLOWED")
    assert read_error(stock.owner.get(path, query_string={"onHand": "much"})) == (422, "VALIDATION_FAILED")


def test_an_account_without_a_verified_address_may_not_listen(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser", verified=False))
    path = f"/api/events/{create_event(owner)['id']}/inventory"
    assert owner.get(path).status_code == 200
    assert read_error(owner.get(f"{path}/stream")) == (403, "EMAIL_NOT_VERIFIED")


def test_a_network_with_its_share_is_told_to_wait(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "MAX_PER_NETWORK", 0)
    answer = stock.owner.get(f"{stock.path}/stream")
    assert read_error(answer) == (429, "TOO_MANY_STREAMS_FROM_NETWORK") and answer.headers["Retry-After"] == "5"


def test_head_tells_the_head(stock: Stock) -> None:
    answer = stock.owner.open("HEAD", f"{stock.path}/stream")
    assert answer.status_code == 200 and answer.get_data() == b""
    assert answer.content_type.startswith("text/event-stream")


def test_places_are_given_back(stock: Stock) -> None:
    for _ in range(7):
        stream(stock)
    for _ in range(7):
        assert read_error(stock.owner.get(f"{stock.path}x/stream"))[0] == 404


def test_it_ends_when_the_event_was_deleted_meanwhile(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    def delete_event_and_load() -> str:
        with transaction_engine(db.engine).begin() as connection:
            connection.execute(text("DELETE FROM event WHERE id = :id"), {"id": stock.event["id"]})
        return "1-1"

    monkeypatch.setattr(stream_queries, "load_position", delete_event_and_load)
    assert stream(stock) == []
    assert read_error(stock.owner.get(f"{stock.path}/stream")) == (404, "NOT_FOUND")


def test_an_event_is_one_line_of_json(stock: Stock) -> None:
    stock.item(notes="a\n\nevent: b\ndata: c", name="d\u2028e")
    (found,) = stream(stock)
    assert found.data["items"][0]["notes"] == "a\n\nevent: b\ndata: c"
    assert orjson.dumps(found.data)
