"""Every way in which a page of stock is looked for finds the same rows in the same order, none twice."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.inventory import item_list
from app.inventory.item_fields import ITEM_FIELDS
from tests.factories.inventory import HEADER, Stock
from tests.http import Client, data

COUNT = 240
CATEGORIES, SUPPLIERS, UNITS = ("Beer", "Wine", "Café"), ("Meatco", "Polar Ice", ""), ("case", "kg")
NAMES = ("Windhoek Lager", "Tafel Lager", "Rooibos", "Kapana strips", "Brötchen, ofenfrisch", "Ice 5 kg")
Item = dict[str, Any]


@pytest.fixture
def stock(client: Client) -> Stock:
    """Two hundred and forty items; sorted by name they stand in clumps, as real ones do."""
    made, chance = Stock(client), random.Random(7)
    lines = [HEADER + ",category,supplier,unit,expiryDate,costPrice,batchNumber"]
    for number in range(COUNT):
        level = chance.choice((0, 0, 0, 50))
        expires = chance.choice(("", "2027-01-03", f"2027-02-{number % 28 + 1:02}"))
        rare = " rare" if number == COUNT // 2 else ""
        lines.append(
            f'SKU-{chance.randrange(10**6):06}-{number},"{NAMES[number % 6]} #{number % 90}{rare}",120,12,{level},'
            f"{chance.choice((0, 10, 60))},0,0,{CATEGORIES[number % 3]},{chance.choice(SUPPLIERS)},"
            f"{chance.choice(UNITS)},{expires},{number % 4}.5,B{number % 40}"
        )
    assert data(made.sheet("\n".join(lines)))["created"] == COUNT
    return made


KEYS: dict[str, Callable[[Item], Any]] = {
    "name": lambda item: (item["name"].lower(), item["id"]),
    "sku": lambda item: item["sku"].casefold(),
    "expiryDate": lambda item: (item["expiryDate"] or "9999-12-31", item["id"]),
}
QUESTIONS: dict[str, Callable[[Item], bool]] = {
    "": lambda item: True,
    "category=bEEr": lambda item: item["category"] == "Beer",
    "supplier=meatco&unit=kg": lambda item: (item["supplier"], item["unit"]) == ("Meatco", "kg"),
    "category=wine&lowStock=true": lambda item: item["category"] == "Wine" and item["lowStock"],
    "lowStock=false": lambda item: not item["lowStock"],
    "expiringBefore=2027-02-03&category=beer": lambda item: (
        (item["expiryDate"] or "9") < "2027-02-03" and item["category"] == "Beer"
    ),
    "expiryDate=2027-01-03": lambda item: item["expiryDate"] == "2027-01-03",
    "batchNumber=b7&expiringBefore=2027-02-10": lambda item: (
        item["batchNumber"] == "B7" and (item["expiryDate"] or "9") < "2027-02-10"
    ),
    "costPrice=2.5": lambda item: item["costPrice"] == 2.5,
    "costPrice=2.5&category=wine": lambda item: item["costPrice"] == 2.5 and item["category"] == "Wine",
    "onHand=0": lambda item: item["onHand"] == 0,
    "onHand=0&lowStock=false": lambda item: False,
    "name=tafel lager %231": lambda item: item["name"] == "Tafel Lager #1",
    "q=lager": lambda item: "Lager" in item["name"],
    "q=lag tafel": lambda item: item["name"].startswith("Tafel"),
    "q=brotchen": lambda item: item["name"].startswith("Brötchen"),
    "q=lager rooibos": lambda item: False,
    "q=rare": lambda item: "rare" in item["name"],
    "q=cafe&supplier=polar ice": lambda item: (item["category"], item["supplier"]) == ("Café", "Polar Ice"),
    "q=ager": lambda item: False,
    "q=b7&onHand=10": lambda item: item["batchNumber"] == "B7" and item["onHand"] == 10,
}


def narrow(patch: pytest.MonkeyPatch, **bounds: int) -> None:
    for name, value in bounds.items():
        patch.setattr(item_list, name, value)


def pages(stock: Stock, question: str, *, sort: str, limit: int) -> Iterator[list[Item]]:
    query, cursor = {"sort": sort, "limit": limit, "withTotal": "true"}, None
    for _ in range(COUNT):
        asked = query if cursor is None else {**query, "cursor": cursor}
        said = "&".join([question, *(f"{name}={value}" for name, value in asked.items())])
        page = data(stock.owner.get(f"{stock.path}?{said}"))
        yield page["items"]
        cursor = page["pagination"]["nextCursor"]
        if cursor is None:
            return
    raise AssertionError("it never ends")


@pytest.mark.parametrize(
    "bounds",
    [
        {},
        {"SCANNED_PER_ROW": 1, "SECOND_SCAN_FACTOR": 2, "UNINDEXED_SCAN": 9, "WORD_SCAN": 0},
        {
            "SCANNED_PER_ROW": 1,
            "SECOND_SCAN_FACTOR": 2,
            "UNINDEXED_SCAN": 30,
            "WORD_SCAN": 60,
        },
    ],
    ids=["as it is", "seen from near", "words scanned further"],
)
@pytest.mark.parametrize("sort", [sign + name for name in KEYS for sign in ("", "-")])
def test_every_question_is_answered_in_full(
    stock: Stock, monkeypatch: pytest.MonkeyPatch, sort: str, bounds: dict[str, int]
) -> None:
    everything = [item for page in pages(stock, "", sort="name", limit=100) for item in page]
    narrow(monkeypatch, **bounds)
    for question, fits in QUESTIONS.items():
        matching = [item for item in everything if fits(item)]
        expected = sorted(matching, key=KEYS[sort.removeprefix("-")], reverse=sort.startswith("-"))
        found = [item for page in pages(stock, question, sort=sort, limit=17) for item in page]
        assert [each["id"] for each in found] == [each["id"] for each in expected], f"{question} {sort}"
        (first, *_) = pages(stock, question, sort=sort, limit=100)
        assert bounds or first == expected[:100], f"{question} {sort}: a small stock comes in whole pages"


def test_a_page_that_comes_short_says_where_to_go_on(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow(monkeypatch, UNINDEXED_SCAN=10)
    lengths = [len(page) for page in pages(stock, "costPrice=2.5", sort="name", limit=20)]
    assert len(lengths) == COUNT // 10 + 1 and max(lengths) <= 10 and sum(lengths) == COUNT // 4


def test_a_total_counts_all_that_match(stock: Stock) -> None:
    for question, count in {
        "": COUNT,
        "q=lager": 80,
        "q=rare": 1,
        "q=!!": 0,
        "category=beer&costPrice=2.5": 20,
    }.items():
        page = data(stock.owner.get(f"{stock.path}?{question}&withTotal=true&limit=1"))
        assert page["pagination"]["total"] == count, question


def test_a_list_says_of_an_item_what_the_item_says(stock: Stock) -> None:
    for item in stock.items(limit=20):
        assert item == stock.read(item) and list(item) == list(stock.read(item))


def test_the_longest_texts_fit_into_the_indexes(stock: Stock) -> None:
    wide = {
        column.name: "𝌆" * column.max_length
        for column in ITEM_FIELDS
        if column.kind == "text" and column.name != "sku"
    }
    item = stock.item(**wide, sku="𝌆" * 79 + "x", expiryDate="2027-02-03")
    words = " ".join(f"w{number}" for number in range(20))
    other = stock.item(name=f"{words} Ǆ", sku="ΐ" * 80, barcode="tail-of-the-name", storageLocation="ﷺ" * 80)
    assert [each["id"] for each in stock.items(name=wide["name"])] == [item["id"]]
    assert [each["id"] for each in stock.items(q="w19 tail")] == [other["id"]]
    assert stock.items(sku="ΐ" * 80)[0]["id"] == other["id"]
