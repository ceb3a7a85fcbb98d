"""Demo data: the stock of a festival bar for three nights, with low items and expired items."""

import random
from datetime import timedelta
from decimal import Decimal
from typing import cast

from sqlalchemy import select

from app.accounts.caller import Caller
from app.core.clock import utcnow
from app.core.db import db
from app.inventory.actions import adjust_item, create_item, reorder_items, update_reminder
from app.inventory.item_fields import ItemValues
from app.inventory.models import StockItem

BAR_COLUMNS = (
    "sku",
    "name",
    "category",
    "brand",
    "supplier",
    "unit",
    "storage_location",
    "cost_price",
    "sell_price",
    "par_level",
    "min_order_qty",
    "reorder_level",
    "on_hand",
    "days",
)
BAR_STOCK = (
    (
        "BEE-001",
        "Windhoek Lager 330 ml",
        "Beer",
        "Windhoek",
        "Namibia Breweries",
        "case",
        "Cold room",
        "285.14",
        "480",
        120,
        24,
        40,
        96,
        220,
    ),
    (
        "BEE-002",
        "Tafel Lager 500 ml",
        "Beer",
        "Tafel",
        "Namibia Breweries",
        "case",
        "Cold room",
        "261.50",
        "456",
        80,
        24,
        30,
        26,
        180,
    ),
    (
        "WIN-001",
        "Neuras Shiraz 750 ml",
        "Wine",
        "Neuras",
        "Oshikoto Wholesale",
        "bottle",
        "Truck A",
        "148",
        "320",
        36,
        6,
        12,
        31,
        None,
    ),
    (
        "SOF-001",
        "Rooibos iced tea, peach",
        "Soft drink",
        "Tetley",
        "Oshikoto Wholesale",
        "bottle",
        "Cold room",
        "9.80",
        "25",
        400,
        24,
        120,
        310,
        90,
    ),
    (
        "SOF-002",
        "Mineral water 500 ml",
        "Soft drink",
        "Oasis",
        "Oshikoto Wholesale",
        "bottle",
        "Truck A",
        "5.20",
        "15",
        1000,
        48,
        300,
        288,
        300,
    ),
    (
        "COF-001",
        "Espresso beans",
        "Coffee",
        "Slowtown",
        "Slowtown Coffee",
        "kg",
        "Tent 3, shelf 2",
        "186.31",
        None,
        20,
        1,
        6,
        "14.750",
        60,
    ),
    (
        "FOO-001",
        "Kapana beef strips",
        "Food",
        None,
        "Meatco",
        "kg",
        "Cold room",
        "110.59",
        "240",
        60,
        10,
        20,
        "48.500",
        4,
    ),
    ("CON-001", "Ice cubes 5 kg", "Consumable", None, "Polar Ice", "bag", "Truck A", "22", None, 80, 20, 25, 61, None),
    (
        "CON-002",
        "Compostable cups 0.4 l",
        "Consumable",
        "GreenCup",
        "Print House",
        "sleeve",
        "Tent 3, shelf 1",
        "38.40",
        None,
        200,
        20,
        60,
        44,
        None,
    ),
)
ORDERED_SKU = "CON-002"
"""A low item that is on order."""


def seed(caller: Caller, event_id: str) -> int:
    """Create the demo items of an event that has none, and return their number."""
    if db.session.scalar(select(StockItem.id).where(StockItem.event_id == event_id).limit(1)):
        return 0
    generator = random.Random(2026)
    item_ids = {}
    for row in BAR_STOCK:
        values = dict(zip(BAR_COLUMNS, row, strict=True))
        days = values.pop("days")
        numbers = {name: Decimal(str(values[name])) for name in BAR_COLUMNS[7:13] if values[name] is not None}
        expiry = utcnow().date() + timedelta(days=int(str(days))) if days else None
        item_values = {
            **values,
            **numbers,
            "reserved": Decimal(0),
            "damaged": Decimal(0),
            "tax_rate": Decimal(15),
            "expiry_date": expiry,
        }
        item = create_item(caller=caller, event_id=event_id, **cast(ItemValues, item_values))
        _record_rehearsal(caller, event_id, item["id"], Decimal(str(values["on_hand"])), generator)
        item_ids[item["sku"]] = item["id"]
    reorder_items(caller=caller, event_id=event_id, item_ids=[item_ids[ORDERED_SKU]])
    update_reminder(caller=caller, event_id=event_id, expected_version=None, enabled=True, hour=8)
    return len(BAR_STOCK)


def _record_rehearsal(caller: Caller, event_id: str, item_id: str, on_hand: Decimal, generator: random.Random) -> None:
    """Record a sale, a damage and a count that finds a little less than expected."""
    sold = Decimal(generator.randrange(2, 8))
    adjust_item(caller=caller, event_id=event_id, item_id=item_id, delta=-sold, reason="sold", reference="rehearsal")
    adjust_item(caller=caller, event_id=event_id, item_id=item_id, delta=Decimal(1), bucket="damaged", reason="damage")
    missing = Decimal(generator.choice((0, 0, 1, 2)))
    adjust_item(caller=caller, event_id=event_id, item_id=item_id, counted=on_hand - sold - missing)
