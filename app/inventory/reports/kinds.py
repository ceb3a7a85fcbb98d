"""The five reports: where their rows come from, in which order, and what they add up to."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.inventory.reordering import DUE
from app.inventory.reordering import QUANTITY as TO_ORDER
from app.inventory.reports import parts
from app.inventory.reports.fields import (
    COST_PRICE,
    COST_VALUE,
    COUNT,
    DAY,
    MINOR,
    NAME,
    ON_HAND,
    QUANTITY,
    SALE_VALUE,
    SKU,
    UNIT,
    Field,
    cost,
)

_STOCK = "FROM inventory_item i WHERE i.event_id = %(event)s"
_COST = ("costValueMinor", 'coalesce(sum("costValueMinor"), 0)')
_SALE = ("saleValueMinor", 'coalesce(sum("saleValueMinor"), 0)')
_ITEMS = ("items", "count(*)")
_UNPRICED = ("withoutCostPrice", 'count(*) FILTER (WHERE "costPrice" IS NULL)')


@dataclass(frozen=True)
class Report:
    """A report. `order` and `totals` speak of its columns; `parts` are further JSON by name."""

    type: str
    title: str
    fields: tuple[Field, ...]
    source: str
    order: str
    totals: tuple[tuple[str, str], ...]
    rows: str = "items"
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def select(self) -> str:
        return f"SELECT {', '.join(item.selected for item in self.fields)} {self.source}"


def _having(condition: str) -> str:
    return f"count(*) FILTER (WHERE {condition})"


def _summed(expression: str) -> str:
    return f"coalesce(sum({expression}), 0)"


_SOON = f"i.on_hand > 0 AND {parts.EXPIRES}"
_COUNTS = (
    Field("items", "count(*)", COUNT, "Items", 12),
    Field("lowStock", _having("i.is_low"), COUNT, "Low", 10, quiet=True),
    Field("outOfStock", _having("i.available <= 0"), COUNT, "Out", 10, quiet=True),
    Field("expired", _having(f"{_SOON} < {parts.TODAY}"), COUNT, "Expired", 13, quiet=True),
    Field("expiring", _having(f"{_SOON} BETWEEN {parts.TODAY} AND {parts.HORIZON}"), COUNT, "Expiring", 14, quiet=True),
)
SUMMARY = Report(
    "summary",
    "Stock summary",
    (
        Field("category", "i.category", heading="Category", share=40),
        *_COUNTS,
        Field("withoutCostPrice", _having("i.cost_price IS NULL"), COUNT),
        Field("costValueMinor", _summed(cost("i.on_hand")), MINOR, "Value at cost", 26),
        Field("saleValueMinor", _summed(cost("i.on_hand", "i.sell_price")), MINOR, "At sale price", 26),
        Field("damagedValueMinor", _summed(cost("i.damaged")), MINOR),
        Field("onOrderValueMinor", _summed(cost("i.on_order")), MINOR),
    ),
    f"{_STOCK} GROUP BY i.category",
    '"costValueMinor" DESC, items DESC, category',
    tuple(
        (name, f'coalesce(sum("{name}"), 0)')
        for name in (
            "items",
            "lowStock",
            "outOfStock",
            "expired",
            "expiring",
            "withoutCostPrice",
            "costValueMinor",
            "saleValueMinor",
            "damagedValueMinor",
            "onOrderValueMinor",
        )
    ),
    rows="categories",
    parts={"suppliers": parts.SUPPLIERS, "days": parts.DAYS, "periods": parts.PERIODS},
)
VALUATION = Report(
    "valuation",
    "Stock valuation",
    (
        NAME,
        SKU,
        Field("category", "i.category"),
        Field("supplier", "i.supplier"),
        ON_HAND,
        UNIT,
        Field("costPrice", "i.cost_price", "price", "Cost price", 18),
        Field("sellPrice", "i.sell_price", "price"),
        COST_VALUE,
        SALE_VALUE,
        Field("damagedValueMinor", cost("i.damaged"), MINOR),
    ),
    _STOCK,
    '"costValueMinor" DESC NULLS LAST, sku',
    (_ITEMS, _UNPRICED, _COST, _SALE, ("damagedValueMinor", 'coalesce(sum("damagedValueMinor"), 0)')),
    parts={"categories": parts.CATEGORIES, "suppliers": parts.SUPPLIERS},
)
_WHY = (("received", "Received"), ("sold", "Sold"), ("wasted", "Wasted"), ("counted", "Counts"), ("other", "Other"))
_NET = Field("net", "net", QUANTITY, "Net", 15)
MOVEMENTS = Report(
    "movements",
    "Stock movements",
    (
        NAME,
        SKU,
        UNIT,
        Field("movements", "movements", COUNT),
        *(Field(item, item, QUANTITY, heading, 15, quiet=True) for item, heading in _WHY),
        _NET,
        ON_HAND,
        Field("netValueMinor", cost("net"), MINOR),
    ),
    f"FROM {parts.MOVED} moved JOIN inventory_item i ON i.id = moved.item_id",
    "movements DESC, sku",
    (_ITEMS, ("movements", "coalesce(sum(movements), 0)"), ("netValueMinor", 'coalesce(sum("netValueMinor"), 0)')),
    parts={"reasons": parts.REASONS, "days": parts.DAYS, "variances": parts.VARIANCES},
)
_SKU = replace(SKU, share=26)
EXPIRY = Report(
    "expiry",
    "Stock that expires",
    (
        Field("expiryDate", "i.expiry_date", DAY, "Expires", 25),
        Field("daysLeft", f"i.expiry_date - {parts.TODAY}", COUNT, "Days", 11),
        NAME,
        _SKU,
        Field("batchNumber", "i.batch_number", heading="Batch", share=15),
        Field("storageLocation", "i.storage_location", heading="Where", share=24),
        ON_HAND,
        UNIT,
        COST_PRICE,
        COST_VALUE,
    ),
    f"{_STOCK} AND {parts.EXPIRES} <= {parts.HORIZON} AND i.on_hand > 0",
    '"expiryDate", sku',
    (
        _ITEMS,
        ("expired", 'count(*) FILTER (WHERE "daysLeft" < 0)'),
        ("expiredValueMinor", 'coalesce(sum("costValueMinor") FILTER (WHERE "daysLeft" < 0), 0)'),
        ("withinAWeek", 'count(*) FILTER (WHERE "daysLeft" BETWEEN 0 AND 7)'),
        _COST,
        _UNPRICED,
    ),
    parts={"periods": parts.PERIODS},
)
REORDER = Report(
    "reorder",
    "What to order",
    (
        Field("supplier", "i.supplier"),
        NAME,
        SKU,
        Field("available", "i.available", QUANTITY, "Available", 15),
        Field("onOrder", "i.on_order", QUANTITY, "On order", 15),
        Field("reorderLevel", "i.reorder_level", QUANTITY, "Level", 13),
        Field("parLevel", "i.par_level", QUANTITY, "Par", 13),
        Field("quantity", TO_ORDER, QUANTITY, "To order", 16),
        UNIT,
        COST_PRICE,
        Field("costValueMinor", cost(TO_ORDER), MINOR, "Expected cost", 24),
    ),
    f"{_STOCK} AND {DUE} AND {TO_ORDER} > 0",
    "supplier NULLS LAST, sku",
    (_ITEMS, ("suppliers", "count(DISTINCT coalesce(supplier, ''))"), _COST, _UNPRICED),
    parts={"suppliers": parts.TO_ORDER},
)
REPORTS = {item.type: item for item in (SUMMARY, VALUATION, MOVEMENTS, EXPIRY, REORDER)}
