"""The laws of stock, whatever is done to it in whatever order: S1 (it adds up), S2 (an import counts once), S3 (an
export imports back as it was)."""

import os
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.factories.inventory import Stock, assert_quantities_match_movements, build_csv
from tests.http import Client, data

EXAMPLES = int(os.environ.get("STOCK_EXAMPLES", "6"))
UNHURRIED = {"deadline": None, "suppress_health_check": list(HealthCheck)}
QUANTITIES = st.integers(0, 50_000).map(lambda thousandths: thousandths / 1000)
TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=["Cc", "Cs"]), st.sampled_from("=+-@'\"\n\t,;＝＋－＠\\")), max_size=60
)


class Life(RuleBasedStateMachine):
    """What organisers do, in any order."""

    client: Client
    items = Bundle("items")

    @initialize()
    def open(self) -> None:
        self.stock = Stock(self.client)
        self.sheets: list[str] = []

    @rule(target=items, on_hand=QUANTITIES, level=QUANTITIES)
    def add(self, on_hand: float, level: float) -> Any:
        return self.stock.item(onHand=on_hand, reorderLevel=level)

    @rule(
        item=items,
        delta=st.integers(-20_000, 20_000).filter(bool),
        late=st.integers(0, 3),
        bucket=st.sampled_from(["onHand", "reserved", "damaged"]),
    )
    def move(self, item: Any, delta: int, late: int, bucket: str) -> None:
        when = {"occurredAt": (datetime.now(UTC) - timedelta(minutes=late)).isoformat()} if late else {}
        before = self.stock.read(item)
        answer = self.stock.adjust(item, delta / 1000, bucket=bucket, **when)
        assert answer.status_code in (200, 409)
        if answer.status_code == 409:
            assert self.stock.read(item) == before

    @rule(item=items, counted=QUANTITIES, late=st.integers(0, 3))
    def count(self, item: Any, counted: float, late: int) -> None:
        when = {"occurredAt": (datetime.now(UTC) - timedelta(minutes=late)).isoformat()} if late else {}
        answer = self.stock.adjust(item, counted=counted, **when)
        assert answer.status_code in (200, 409)
        if answer.status_code == 200 and not late:
            assert data(answer)["onHand"] == counted

    @rule(item=items, on_hand=QUANTITIES, name=TEXTS)
    def change(self, item: Any, on_hand: float, name: str) -> None:
        path = f"{self.stock.path}/items/{item['id']}"
        self.stock.owner.patch(path, {"onHand": on_hand, "name": name.strip() or "?"})

    @rule(numbers=st.lists(st.integers(0, 9), min_size=1, unique=True), on_hand=QUANTITIES, good=st.booleans())
    def send(self, numbers: list[int], on_hand: float, good: bool) -> None:
        lines = [f"I-{number},Item,1,1,1,{on_hand},0,{0 if good else 60}" for number in numbers]
        before = self.stock.export()
        answer = self.stock.sheet(build_csv(*lines))
        assert answer.status_code == (200 if good else 422)
        if good:
            self.sheets.append(build_csv(*lines))
        else:
            assert self.stock.export() == before

    @rule()
    def send_again(self) -> None:
        for sheet in self.sheets:
            before = self.stock.export()
            assert data(self.stock.sheet(sheet))["updated"] == 0
            assert self.stock.export() == before

    @rule()
    def order(self) -> None:
        self.stock.owner.post(f"{self.stock.path}/reorder/apply")
        assert data(self.stock.owner.post(f"{self.stock.path}/reorder/apply"))["items"] == 0

    @rule(verb=st.sampled_from(["receive", "cancel"]), oldest=st.booleans())
    def close_an_order(self, verb: str, oldest: bool) -> None:
        path = f"{self.stock.path}/orders"
        orders = [order for order in data(self.stock.owner.get(path))["orders"] if order["status"] == "open"]
        if not orders:
            return
        path = f"{path}/{orders[-1 if oldest else 0]['id']}"
        lines = data(self.stock.owner.get(path))["lines"]
        before = {item["id"]: item["onHand"] for item in self.stock.items()}
        assert self.stock.owner.post(f"{path}/{verb}", {}).status_code == 200
        after = {item["id"]: item["onHand"] for item in self.stock.items()}
        arrived = {line["itemId"]: line["expected"] if verb == "receive" else 0 for line in lines}
        assert all(line["expected"] == 0 for line in data(self.stock.owner.get(path))["lines"])
        assert after == {id: round(number + arrived.get(id, 0), 3) for id, number in before.items()}
        assert self.stock.owner.post(f"{path}/{verb}", {}).status_code == 409

    @rule(thousandths=st.integers(1, 60_000), oldest=st.booleans())
    def receive_a_part(self, thousandths: int, oldest: bool) -> None:
        path = f"{self.stock.path}/orders"
        orders = [order for order in data(self.stock.owner.get(path))["orders"] if order["status"] == "open"]
        if not orders:
            return
        path = f"{path}/{orders[-1 if oldest else 0]['id']}"
        lines = data(self.stock.owner.get(path))["lines"]
        line, quantity = lines[0], thousandths / 1000
        if not line["expected"]:
            return
        before = {item["id"]: item["onHand"] for item in self.stock.items()}
        body = {"lines": [{"itemId": line["itemId"], "quantity": quantity, "expected": line["expected"]}]}
        answers = [self.stock.owner.post(f"{path}/receive", {**body, "restComesLater": True}) for _ in range(2)]
        assert answers[0].status_code == 200 and answers[1].status_code in (409, 412)
        missing = {it["itemId"]: it["expected"] for it in lines}
        missing[line["itemId"]] = max(0, round(line["expected"] - quantity, 3))
        details = data(self.stock.owner.get(path))
        assert details["status"] == ("open" if any(missing.values()) else "received")
        assert {it["itemId"]: it["expected"] for it in details["lines"]} == missing
        after = {item["id"]: item["onHand"] for item in self.stock.items()}
        assert after == {**before, line["itemId"]: round(before[line["itemId"]] + quantity, 3)}

    @invariant()
    def nothing_is_lost(self) -> None:
        if hasattr(self, "stock"):
            assert_quantities_match_movements()
            for item in self.stock.items():
                assert min(item["onHand"], item["reserved"], item["damaged"], item["available"]) >= 0

    @invariant()
    def an_export_imports_back(self) -> None:
        if hasattr(self, "stock"):
            found = data(self.stock.sheet(self.stock.export()))
            assert (found["created"], found["updated"]) == (0, 0)


def test_stock_keeps_its_rules(client: Client) -> None:
    Life.client = client
    run_state_machine_as_test(
        Life, settings=settings(max_examples=EXAMPLES, stateful_step_count=15, derandomize=True, **UNHURRIED)
    )


def test_every_text_comes_back_from_an_export(client: Client) -> None:
    fields = ("name", "category", "brand", "supplier", "barcode", "storageLocation", "batchNumber", "notes")

    @settings(max_examples=5 * EXAMPLES, derandomize=True, **UNHURRIED)  # type: ignore[arg-type]
    @given(items=st.lists(st.fixed_dictionaries(dict.fromkeys(fields, TEXTS)), min_size=1, max_size=4))
    def comes_back(items: list[dict[str, str]]) -> None:
        made, copied = Stock(client), Stock(client)
        for item in items:
            made.item(**{name: value for name, value in item.items() if value.strip()})
        exported = made.export()
        assert data(copied.sheet(exported))["created"] == len(items)
        assert copied.export() == exported
        for left, right in zip(made.items(sort="sku"), copied.items(sort="sku"), strict=True):
            assert [left[name] for name in fields] == [right[name] for name in fields]

    comes_back()
