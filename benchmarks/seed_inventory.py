"""Stock in bulk: rows of a sheet, and items in the database, for the benchmarks and the tests of query plans."""

import random
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import psycopg

from app.inventory.item_fields import ATTRIBUTES, ITEM_FIELDS, fold_sku
from benchmarks.seed_events import BATCH, FIRST, ORGANISER, SECOND, seed_events, without_indexes

NAMES = (
    "Windhoek Lager 330 ml",
    "Tafel Lager 500 ml",
    "Rooibos Eistee Pfirsich",
    "Kapana beef strips",
    "Biltong – Springbok, mild",
    "Brötchen, ofenfrisch",
    "Wristband NFC, blue",
    "Ice cubes 5 kg",
)
CATEGORIES = ("Beer", "Soft drink", "Food", "Cashless", "Consumable", "Coffee", "Merch", "Wine", "Spirits", "Glass")
SUPPLIERS = ("Namibia Breweries", "Oshikoto Wholesale", "Meatco", "Closwa Biltong", "Bäckerei Steinbach", "Polar Ice")
PLACES = ("Kühlraum", "Tent 3, shelf 2", "Truck A", "Bar west")
HEADER = ",".join(column.name for column in ITEM_FIELDS)


def sheet(count: int) -> bytes:
    """A stock sheet with so many rows."""
    lines = (",".join(_quoted(str(value)) for value in row) for row in _rows(0, count))
    return "\n".join([HEADER, *lines, ""]).encode()


def seed_items(connection: psycopg.Connection[Any], event_id: str, count: int, *, first: int = 0) -> None:
    """Adds so many items to an event, without movements, then lets PostgreSQL look at them. Commits."""
    names = ("id", "event_id", "sku_key", *ATTRIBUTES)
    sku = ATTRIBUTES.index("sku")
    into = f"COPY inventory_item ({', '.join(names)}) FROM STDIN"
    with (
        without_indexes(connection, "inventory_item") if count > BATCH else nullcontext(),
        connection.cursor() as cursor,
        cursor.copy(into) as copy,
    ):
        for number, row in enumerate(_rows(first, count), first):
            values = [value if value != "" else None for value in row]
            id = f"{0x65000000 + number // 1000:08x}5a{number:014x}"
            copy.write_row((id, event_id, fold_sku(row[sku]), *values))
    connection.commit()
    connection.autocommit = True
    connection.execute("VACUUM (ANALYZE) inventory_item")
    connection.autocommit = False


def stock_event(connection: psycopg.Connection[Any], number: int) -> str:
    """An event whose stock is measured, one for each number."""
    seed_events(connection, 1, first=9_000_000 + number)
    found = connection.execute(
        "SELECT id FROM event WHERE organiser_id = %s AND name LIKE %s", (ORGANISER, f"% {9_000_000 + number}")
    ).fetchone()
    assert found is not None
    return str(found[0])


def _rows(first: int, count: int) -> Iterator[list[Any]]:
    chance = random.Random(first)
    for number in range(first, first + count):
        par = chance.choice((24, 48, 60, 120, 500))
        rare = f" rare{number // 10_000}" if number % 100 == 0 else ""
        yield [
            f"{chance.choice(FIRST)} {chance.choice(SECOND)} {chance.choice(NAMES)} #{number}{rare}",
            f"SKU-{number:07}",
            "",
            "",
            f"2027-{number % 12 + 1:02}-03",
            chance.choice(CATEGORIES),
            "",
            chance.choice(SUPPLIERS),
            f"{chance.randrange(10**12):013}",
            chance.choice(PLACES),
            f"B{number % 9999:04}",
            "case",
            f"{chance.randrange(100, 40000) / 100}",
            f"{chance.randrange(100, 90000) / 100}",
            15,
            par,
            chance.choice((1, 12, 24)),
            par // 3,
            chance.randrange(par // 3, 1000) / 2 + par,
            0,
            number % 2,
            "Zweite Lieferung folgt",
        ]


def _quoted(cell: str) -> str:
    return f'"{cell}"' if "," in cell else cell
