"""A dry run says what the real run then does, in both modes, whatever was imported before."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factories.inventory import Stock, assert_quantities_match_movements, build_csv
from tests.http import Client, data, read_error
from tests.inventory.test_laws import EXAMPLES
from tests.races import run_concurrently

SHEET = "sku,name,parLevel,minOrderQty,reorderLevel,onHand\nA,Lager,1,1,1,5\nB,Bier,1,1,1,5\n"
COUNTS = ("created", "updated", "unchanged")
MODES = ("atomic", "partial")


def counts(found: dict[str, Any]) -> tuple[int, int, int]:
    return found["created"], found["updated"], found["unchanged"]


def outcome(answer: Any) -> dict[str, Any]:
    """What an import says it did or would do; a refusal as well."""
    assert answer.status_code == 200 or read_error(answer) == (422, "IMPORT_REJECTED"), answer.get_data(as_text=True)
    found = dict(answer.get_json()["data"])
    found.pop("errorsUrl", None)
    return found


def test_a_partial_import_can_be_repeated_when_the_cause_is_removed(client: Client) -> None:
    for mode in MODES:
        stock = Stock(client)
        stock.item(sku="A", onHand=2)
        item = stock.item(sku="B", onHand=50, reserved=20)
        first = data(stock.sheet(SHEET, mode="partial"))
        assert counts(first) == (0, 1, 0) and [error["row"] for error in first["errors"]] == [3]
        data(stock.adjust(item, -20, bucket="reserved"))
        expected = data(stock.sheet(SHEET, mode=mode, dryRun="true"))
        assert counts(expected) == (0, 1, 1)
        (change,) = expected.pop("changes")
        assert (change["row"], change["sku"], change["isNew"]) == (3, "B", False)
        assert {"name": "onHand", "before": "50", "after": "5"} in change["newValues"]
        assert data(stock.sheet(SHEET, mode=mode)) == expected
        assert stock.read(item)["onHand"] == 5


def test_a_complete_import_counts_once_also_when_a_row_no_longer_fits(client: Client) -> None:
    stock = Stock(client)
    stock.item(sku="A")
    item = stock.item(sku="B")
    assert counts(data(stock.sheet(SHEET))) == (0, 2, 0)
    data(stock.adjust(item, 45))
    data(stock.adjust(item, 20, bucket="reserved"))
    for mode in MODES:
        expected = data(stock.sheet(SHEET, mode=mode, dryRun="true"))
        assert counts(expected) == (0, 0, 2) and expected["alreadyImportedAt"]
        assert data(stock.sheet(SHEET, mode=mode)) == expected
    assert stock.read(item)["onHand"] == 50


def test_the_same_sheet_at_once_is_written_once(client: Client) -> None:
    stock = Stock(client)
    sheet = build_csv("A,Lager,1,1,1,5,0,0", "B,Bier,1,1,1,5,0,0")
    answers = run_concurrently(4, lambda _: stock.sheet(sheet))
    assert sorted(counts(data(response)) for response in answers) == [(0, 0, 2), (0, 0, 2), (0, 0, 2), (2, 0, 0)]
    assert_quantities_match_movements()


@dataclass(frozen=True)
class Step:
    """One sheet that is sent, after something has happened to the stock."""

    sheet: int
    mode: str
    again: bool
    reserve: list[tuple[int, int]] = field(default_factory=list)


LINES = st.builds(
    lambda number, name, on_hand, reserved: f"I-{number},{name},1,1,1,{on_hand},{reserved},0",
    st.integers(0, 3),
    st.sampled_from(["", "Item", "Other"]),
    st.sampled_from(["1", "2", "5.5", "", "many", "-1"]),
    st.sampled_from(["", "", "0", "2"]),
)
SHEETS = st.lists(st.lists(LINES, min_size=1, max_size=3), min_size=1, max_size=2)
STEPS = st.lists(
    st.builds(
        Step,
        sheet=st.integers(0, 1),
        mode=st.sampled_from(MODES),
        again=st.sampled_from([False, False, True]),
        reserve=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-2, 2, 4])), max_size=2),
    ),
    min_size=3,
    max_size=8,
)


def check_agreement(stock: Stock, sheets: list[list[str]], steps: list[Step]) -> None:
    """Sends the sheets step by step, each first as a dry run."""
    items = [stock.item(sku=f"I-{number}", onHand=6, reserved=4) for number in range(3)]
    for step in steps:
        for number, delta in step.reserve:
            stock.adjust(items[number % 3], delta, bucket="reserved")
        sheet = build_csv(*sheets[step.sheet % len(sheets)])
        query = {"mode": step.mode, "again": str(step.again).lower()}
        before = stock.export()
        expected = outcome(stock.sheet(sheet, dryRun="true", **query))
        assert len(expected.pop("changes", [])) == expected["created"] + expected["updated"]
        assert stock.export() == before
        assert outcome(stock.sheet(sheet, **query)) == expected
        assert (stock.export() != before) == bool(expected["created"] or expected["updated"])


def test_dry_run_and_real_run_agree(client: Client) -> None:
    @settings(max_examples=3 * EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(sheets=SHEETS, steps=STEPS)
    def agree(sheets: list[list[str]], steps: list[Step]) -> None:
        check_agreement(Stock(client), sheets, steps)
        assert_quantities_match_movements()

    agree()
