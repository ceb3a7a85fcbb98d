"""Purchase orders: received in one or more deliveries, or cancelled."""

from collections import Counter
from typing import Any

import pytest
from sqlalchemy import text

from app.inventory import purchase_order_queries
from app.inventory.actions import purchase_orders
from tests.factories.accounts import create_customer, create_signed_in_client
from tests.factories.inventory import Stock, assert_quantities_match_movements
from tests.http import Client, data, read_error
from tests.races import run_concurrently

LOCK = " FOR NO KEY UPDATE"


class Ordered:
    """An order of 24 cases of one item and of 119 of another."""

    def __init__(self, client: Client) -> None:
        self.stock = Stock(client)
        self.lager = self.stock.item(name="Lager", onHand=1, reorderLevel=4, parLevel=20, supplier="Brewery")
        self.cups = self.stock.item(name="Cups", onHand=1, reorderLevel=4, parLevel=120, supplier="Brewery")
        (order,) = data(self.stock.owner.post(f"{self.stock.path}/reorder/apply", {}))["orders"]
        self.path = f"{self.stock.path}/orders/{order['id']}"

    def receive_part(self, *lines: tuple[dict[str, Any], float, float | None]) -> Any:
        """The response to a delivery of which the rest comes later: how many arrived, and how many were expected."""
        body = [{"itemId": item["id"], "quantity": number, "expected": expected} for item, number, expected in lines]
        return self.stock.owner.post(f"{self.path}/receive", {"lines": body, "restComesLater": True})

    def read_lines(self) -> list[tuple[float | None, float]]:
        """What has arrived and what is expected of both items."""
        lines = {line["itemId"]: line for line in data(self.stock.owner.get(self.path))["lines"]}
        return [(lines[it["id"]]["received"], lines[it["id"]]["expected"]) for it in (self.lager, self.cups)]

    def act(self, verb: str, *lines: tuple[dict[str, Any], float]) -> Any:
        body = {"lines": [{"itemId": item["id"], "quantity": quantity} for item, quantity in lines]} if lines else {}
        return self.stock.owner.post(f"{self.path}/{verb}", body)

    @property
    def quantities(self) -> list[tuple[float, float]]:
        """What is on hand and on order of both items."""
        return [(it["onHand"], it["onOrder"]) for it in map(self.stock.read, (self.lager, self.cups))]


@pytest.fixture
def order(client: Client) -> Ordered:
    return Ordered(client)


def test_a_delivery_is_on_hand_and_not_on_order_any_more(order: Ordered) -> None:
    assert order.quantities == [(1, 24), (1, 119)]
    details = data(order.stock.owner.get(order.path))
    assert details["status"] == "open" and [line["expected"] for line in details["lines"]] == [24, 119]
    details = data(order.act("receive", (order.lager, 20)))
    assert details["status"] == "received" and details["closedAt"]
    assert [(line["received"], line["expected"]) for line in details["lines"]] == [(20, 0), (0, 0)]
    assert order.quantities == [(21, 0), (1, 0)]
    received = [it for it in order.stock.book(order.lager) if it["reason"] == "received"]
    assert {(it["bucket"], it["delta"]) for it in received} == {("onHand", 20), ("onOrder", -24)}
    assert {it["reference"] for it in received} == {order.path.rpartition("/")[2]}
    (listed,) = data(order.stock.owner.get(f"{order.stock.path}/orders"))["orders"]
    assert (listed["status"], listed["closedAt"]) == ("received", details["closedAt"])
    assert_quantities_match_movements()


def test_without_lines_all_arrives_that_was_not_recorded_with_the_items(order: Ordered) -> None:
    data(order.stock.adjust(order.lager, 10, reason="received"))
    assert order.quantities == [(11, 14), (1, 119)]
    details = data(order.act("receive"))
    assert order.quantities == [(25, 0), (120, 0)] and [line["received"] for line in details["lines"]] == [24, 119]
    assert_quantities_match_movements()


@pytest.mark.parametrize("verb", ["receive", "cancel"])
def test_closing_an_old_order_takes_nothing_of_a_newer_one(client: Client, verb: str) -> None:
    """The delivery of the first order was recorded with the item, as before orders had a state."""
    stock = Stock(client)
    item = stock.item(onHand=1, reorderLevel=5, parLevel=10, minOrderQty=10)
    (old,) = data(stock.owner.post(f"{stock.path}/reorder/apply", {}))["orders"]
    data(stock.adjust(item, 10, reason="received"))
    data(stock.adjust(item, -11, reason="sold"))
    (new,) = data(stock.owner.post(f"{stock.path}/reorder/apply", {}))["orders"]
    details = data(stock.owner.post(f"{stock.path}/orders/{old['id']}/{verb}", {}))
    assert [line["received"] for line in details["lines"]] == [10]
    assert (stock.read(item)["onHand"], stock.read(item)["onOrder"]) == (0, 10)
    assert data(stock.owner.post(f"{stock.path}/reorder/apply", {}))["items"] == 0
    data(stock.owner.post(f"{stock.path}/orders/{new['id']}/receive", {}))
    assert (stock.read(item)["onHand"], stock.read(item)["onOrder"]) == (10, 0)
    assert_quantities_match_movements()


def test_a_delivery_is_refused_if_another_quantity_is_expected_now(order: Ordered) -> None:
    data(order.stock.adjust(order.lager, 24, reason="received"))
    line = {"itemId": order.lager["id"], "quantity": 24, "expected": 24}
    answer = order.stock.owner.post(f"{order.path}/receive", {"lines": [line]})
    assert read_error(answer) == (412, "STALE_VERSION") and order.quantities[0] == (25, 0)
    data(order.stock.owner.post(f"{order.path}/receive", {"lines": [{**line, "quantity": 0, "expected": 0}]}))
    assert order.quantities[0] == (25, 0)


def test_a_cancelled_order_can_be_ordered_again(order: Ordered) -> None:
    details = data(order.act("cancel"))
    assert details["status"] == "cancelled" and order.quantities == [(1, 0), (1, 0)]
    assert data(order.stock.owner.post(f"{order.stock.path}/reorder/apply", {}))["items"] == 2
    assert_quantities_match_movements()


@pytest.mark.parametrize("first", ["receive", "cancel"])
def test_an_order_is_closed_once(order: Ordered, first: str) -> None:
    data(order.act(first))
    before = order.quantities
    for verb in ("receive", "cancel"):
        assert read_error(order.act(verb)) == (409, "ORDER_CLOSED")
    assert order.quantities == before


def test_all_wrong_lines_are_named_and_change_nothing(order: Ordered) -> None:
    other = order.stock.item(name="Other")
    data(order.stock.owner.patch(f"{order.stock.path}/items/{order.cups['id']}", {"archived": True}))
    lines = ((other, 1), (order.cups, 1), (order.lager, 999_999_999), (order.lager, 1))
    answer = order.act("receive", *lines)
    assert [(it["path"], it["code"]) for it in answer.get_json()["data"]["errors"]] == [
        ("lines[0].itemId", "unknown_item"),
        ("lines[1].quantity", "archived"),
        ("lines[2].quantity", "too_large"),
        ("lines[3].itemId", "unknown_item"),
    ]
    for quantity in (-1, 0.0001, "many", None):
        assert order.act("receive", (order.lager, quantity)).status_code == 422
    assert order.quantities[0] == (1, 24)
    data(order.act("cancel"))
    assert order.quantities == [(1, 0), (1, 0)], "an archived item is not on order any more either"


def test_others_see_and_close_no_order(order: Ordered, client: Client) -> None:
    other = Stock(client)
    number = order.path.rpartition("/")[2]
    for path in (order.path, f"{other.path}/orders/{number}"):
        assert other.owner.get(path).status_code == 404
        assert other.owner.post(f"{path}/receive", {}).status_code == 404
        assert other.owner.post(f"{path}/cancel").status_code == 404
    customer = create_signed_in_client(client, create_customer())
    assert customer.post(f"{order.path}/receive", {}).status_code in (403, 404)
    assert order.quantities == [(1, 24), (1, 119)]


def test_an_order_stays_open_while_the_rest_comes_later(order: Ordered) -> None:
    details = data(order.receive_part((order.lager, 15, 24)))
    assert (details["status"], details["closedAt"]) == ("open", None)
    assert order.read_lines() == [(15, 9), (None, 119)] and order.quantities == [(16, 9), (1, 119)]
    assert data(order.stock.owner.post(f"{order.stock.path}/reorder/apply", {}))["items"] == 0
    data(order.receive_part((order.lager, 4, 9), (order.cups, 130, 119)))
    assert order.read_lines() == [(19, 5), (130, 0)] and order.quantities == [(20, 5), (131, 0)]
    received = [it for it in order.stock.book(order.lager) if it["reason"] == "received"]
    assert sorted(it["delta"] for it in received) == [-15, -4, 4, 15]
    assert {it["reference"] for it in received} == {order.path.rpartition("/")[2]}
    details = data(order.act("receive", (order.lager, 3)))
    assert details["status"] == "received" and order.read_lines() == [(22, 0), (130, 0)]
    assert order.quantities == [(23, 0), (131, 0)]
    assert_quantities_match_movements()


def test_an_order_is_closed_when_the_rest_has_come(order: Ordered) -> None:
    data(order.receive_part((order.lager, 24, 24)))
    assert data(order.receive_part((order.cups, 119, 119)))["status"] == "received"
    assert read_error(order.receive_part((order.cups, 1, None))) == (409, "ORDER_CLOSED")
    assert order.quantities == [(25, 0), (120, 0)]


def test_what_has_arrived_stays_when_the_rest_is_cancelled(order: Ordered) -> None:
    data(order.receive_part((order.lager, 15, 24)))
    assert data(order.act("cancel"))["status"] == "cancelled"
    assert order.read_lines() == [(15, 0), (0, 0)] and order.quantities == [(16, 0), (1, 0)]
    assert_quantities_match_movements()


def test_a_part_that_was_recorded_with_the_item_has_arrived(order: Ordered) -> None:
    data(order.receive_part((order.lager, 10, 24)))
    data(order.stock.adjust(order.lager, 4, reason="received"))
    assert order.read_lines()[0] == (10, 10)
    data(order.receive_part((order.lager, 3, 10)))
    assert order.read_lines()[0] == (17, 7)
    data(order.act("receive"))
    assert order.read_lines() == [(24, 0), (119, 0)] and order.quantities == [(25, 0), (120, 0)]


@pytest.mark.parametrize("part", ["old", "new"])
def test_a_part_of_one_order_is_not_taken_from_another(client: Client, part: str) -> None:
    stock = Stock(client)
    item = stock.item(onHand=1, reorderLevel=5, parLevel=10, minOrderQty=10)
    orders = {}
    for name in ("old", "new"):
        (order,) = data(stock.owner.post(f"{stock.path}/reorder/apply", {}))["orders"]
        orders[name] = f"{stock.path}/orders/{order['id']}"
        data(stock.owner.patch(f"{stock.path}/items/{item['id']}", {"reorderLevel": 100, "parLevel": 100}))
    data(
        stock.owner.post(
            f"{orders[part]}/receive", {"lines": [{"itemId": item["id"], "quantity": 4}], "restComesLater": True}
        )
    )
    expected = {name: data(stock.owner.get(path))["lines"][0]["expected"] for name, path in orders.items()}
    assert expected == {"old": 10, "new": 89, part: {"old": 6, "new": 85}[part]}
    for path in orders.values():
        data(stock.owner.post(f"{path}/receive", {}))
    assert (stock.read(item)["onHand"], stock.read(item)["onOrder"]) == (100, 0)
    assert_quantities_match_movements()


def test_a_part_is_refused_if_nothing_of_it_counts(order: Ordered) -> None:
    data(order.receive_part((order.lager, 30, 24)))
    before = order.quantities
    answers = [order.receive_part((order.lager, 5, expected), (order.cups, 1, 119)) for expected in (0, None)]
    for answer in answers:
        assert [(it["path"], it["code"]) for it in answer.get_json()["data"]["errors"]] == [
            ("lines[0].quantity", "not_on_order")
        ]
    assert read_error(order.receive_part((order.lager, 5, 24))) == (412, "STALE_VERSION")
    answer = order.receive_part((order.cups, 0, 119))
    assert [it["code"] for it in answer.get_json()["data"]["errors"]] == ["nothing_arrived"]
    assert order.quantities == before == [(31, 0), (1, 119)]


def receive_parts_concurrently(order: Ordered) -> Counter[int]:
    return Counter(
        run_concurrently(64, lambda _: order.receive_part((order.lager, 15, 24), (order.cups, 19, 119)).status_code)
    )


def test_a_part_that_several_send_at_once_counts_once(order: Ordered) -> None:
    assert receive_parts_concurrently(order) == {200: 1, 412: 63}
    assert order.quantities == [(16, 9), (20, 100)] and order.read_lines() == [(15, 9), (19, 100)]
    assert_quantities_match_movements()


@pytest.mark.control
def test_without_the_lock_a_part_would_count_several_times(order: Ordered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purchase_orders, "LOCK_ORDER_SQL", text(str(purchase_orders.LOCK_ORDER_SQL).replace(LOCK, "")))
    unlocked_items = text(str(purchase_order_queries.LOCK_ITEMS_SQL).replace(LOCK, ""))
    monkeypatch.setattr(purchase_order_queries, "LOCK_ITEMS_SQL", unlocked_items)
    receive_parts_concurrently(order)
    assert order.quantities != [(16, 9), (20, 100)]


def close_concurrently(order: Ordered) -> Counter[int]:
    return Counter(
        run_concurrently(8, lambda number: order.act("cancel" if number % 4 == 3 else "receive").status_code)
    )


def test_an_order_is_closed_once_by_several_at_once(order: Ordered) -> None:
    assert close_concurrently(order) == {200: 1, 409: 7}
    assert order.quantities in ([(25, 0), (120, 0)], [(1, 0), (1, 0)])
    assert_quantities_match_movements()


@pytest.mark.control
def test_without_the_lock_a_delivery_would_count_several_times(order: Ordered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purchase_orders, "LOCK_ORDER_SQL", text(str(purchase_orders.LOCK_ORDER_SQL).replace(LOCK, "")))
    lines = ((order.lager, 24), (order.cups, 119))
    run_concurrently(8, lambda _: order.act("receive", *lines).status_code)
    assert order.quantities != [(25, 0), (120, 0)]


def test_deliveries_counts_and_sales_at_once_add_up(order: Ordered) -> None:
    def act(number: int) -> int:
        if number == 0:
            return int(order.act("receive").status_code)
        return int(order.stock.adjust(order.lager if number % 2 else order.cups, 1, reason="return").status_code)

    assert set(run_concurrently(12, act)) == {200}
    assert order.quantities == [(1 + 24 + 6, 0), (1 + 119 + 5, 0)]
    assert_quantities_match_movements()
