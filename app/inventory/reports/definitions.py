"""The five reports: the source, the order and the totals of their rows, and the SQL of the other parts.

Each other part is a query that returns one JSON value. `%(…)s` are the parameters of `build_sql_params`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.core.languages import mark_for_translation
from app.inventory.purchase_order_sql import DUE_CONDITION_SQL, ORDER_QUANTITY_SQL
from app.inventory.reports.parameters import (
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
    value_sql,
)
from app.inventory.reports.sql import (
    _ON_HAND_EXPIRY_SQL,
    CATEGORIES_SQL,
    DAYS_SQL,
    EXPIRY_SQL,
    HORIZON_SQL,
    MOVEMENT_TOTALS_SQL,
    ORDER_SUPPLIERS_SQL,
    PERIODS_SQL,
    REASONS_SQL,
    SUPPLIERS_SQL,
    TODAY_SQL,
    VARIANCES_SQL,
)

_STOCK_SOURCE = "FROM inventory_item i WHERE i.event_id = %(event)s"
_COST_TOTAL = ("costValueMinor", 'coalesce(sum("costValueMinor"), 0)')
_SALE_TOTAL = ("saleValueMinor", 'coalesce(sum("saleValueMinor"), 0)')
_ITEM_COUNT = ("items", "count(*)")
_UNPRICED_COUNT = ("withoutCostPrice", 'count(*) FILTER (WHERE "costPrice" IS NULL)')


@dataclass(frozen=True)
class ReportDefinition:
    """A report. `order_sql` and `totals` use its column names; `extra_parts` are further JSON values by name."""

    type: str
    title: str
    fields: tuple[Field, ...]
    source_sql: str
    order_sql: str
    totals: tuple[tuple[str, str], ...]
    rows_key: str = "items"
    extra_parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def select_sql(self) -> str:
        return f"SELECT {', '.join(report_field.select_sql for report_field in self.fields)} {self.source_sql}"


def _count_where_sql(condition: str) -> str:
    return f"count(*) FILTER (WHERE {condition})"


def _sum_sql(expression: str) -> str:
    return f"coalesce(sum({expression}), 0)"


_COUNT_FIELDS = (
    Field("items", "count(*)", COUNT, "Items", 12),
    Field("lowStock", _count_where_sql("i.is_low AND i.archived_at IS NULL"), COUNT, "Low", 10, hides_zero=True),
    Field(
        "outOfStock", _count_where_sql("i.available <= 0 AND i.archived_at IS NULL"), COUNT, "Out", 10, hides_zero=True
    ),
    Field(
        "expired",
        _count_where_sql(f"{_ON_HAND_EXPIRY_SQL} < {TODAY_SQL}"),
        COUNT,
        "Expired",
        13,
        hides_zero=True,
    ),
    Field(
        "expiring",
        _count_where_sql(f"{_ON_HAND_EXPIRY_SQL} BETWEEN {TODAY_SQL} AND {HORIZON_SQL}"),
        COUNT,
        "Expiring",
        14,
        hides_zero=True,
    ),
)


SUMMARY = ReportDefinition(
    "summary",
    mark_for_translation("Stock summary"),
    (
        Field("category", "i.category", heading="Category", share=40),
        *_COUNT_FIELDS,
        Field("withoutCostPrice", _count_where_sql("i.cost_price IS NULL"), COUNT),
        Field("withoutSalePrice", _count_where_sql("i.sell_price IS NULL"), COUNT),
        Field("costValueMinor", _sum_sql(value_sql("i.on_hand")), MINOR, "Value at cost", 26),
        Field("saleValueMinor", _sum_sql(value_sql("i.on_hand", "i.sell_price")), MINOR, "At sale price", 26),
        Field("damagedValueMinor", _sum_sql(value_sql("i.damaged")), MINOR),
        Field("onOrderValueMinor", _sum_sql(value_sql("i.on_order")), MINOR),
    ),
    f"{_STOCK_SOURCE} GROUP BY i.category",
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
    rows_key="categories",
    extra_parts={
        "suppliers": SUPPLIERS_SQL,
        "days": DAYS_SQL,
        "periods": PERIODS_SQL,
    },
)
VALUATION = ReportDefinition(
    "valuation",
    mark_for_translation("Stock valuation"),
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
        Field("damagedValueMinor", value_sql("i.damaged"), MINOR),
    ),
    _STOCK_SOURCE,
    '"costValueMinor" DESC NULLS LAST, sku',
    (
        _ITEM_COUNT,
        _UNPRICED_COUNT,
        _COST_TOTAL,
        _SALE_TOTAL,
        ("damagedValueMinor", 'coalesce(sum("damagedValueMinor"), 0)'),
    ),
    extra_parts={"categories": CATEGORIES_SQL, "suppliers": SUPPLIERS_SQL},
)
_REASON_HEADINGS = (
    ("received", "Received"),
    ("sold", "Sold"),
    ("wasted", "Wasted"),
    ("counted", "Counts"),
    ("other", "Other"),
)
_NET_FIELD = Field("net", "net", QUANTITY, "Net", 15)
MOVEMENTS = ReportDefinition(
    "movements",
    mark_for_translation("Stock movements"),
    (
        NAME,
        SKU,
        UNIT,
        Field("movements", "movements", COUNT),
        *(Field(item, item, QUANTITY, heading, 15, hides_zero=True) for item, heading in _REASON_HEADINGS),
        _NET_FIELD,
        ON_HAND,
        Field("netValueMinor", value_sql("net"), MINOR),
    ),
    f"FROM {MOVEMENT_TOTALS_SQL} moved JOIN inventory_item i ON i.id = moved.item_id",
    "movements DESC, sku",
    (_ITEM_COUNT, ("movements", "coalesce(sum(movements), 0)"), ("netValueMinor", 'coalesce(sum("netValueMinor"), 0)')),
    extra_parts={
        "reasons": REASONS_SQL,
        "days": DAYS_SQL,
        "variances": VARIANCES_SQL,
    },
)
_WIDE_SKU = replace(SKU, share=26)
EXPIRY = ReportDefinition(
    "expiry",
    mark_for_translation("Stock that expires"),
    (
        Field("expiryDate", "i.expiry_date", DAY, "Expires", 25),
        Field("daysLeft", f"i.expiry_date - {TODAY_SQL}", COUNT, "Days", 11),
        NAME,
        _WIDE_SKU,
        Field("batchNumber", "i.batch_number", heading="Batch", share=15),
        Field("storageLocation", "i.storage_location", heading="Where", share=24),
        ON_HAND,
        UNIT,
        COST_PRICE,
        COST_VALUE,
    ),
    f"{_STOCK_SOURCE} AND {EXPIRY_SQL} <= {HORIZON_SQL} AND i.on_hand > 0",
    '"expiryDate", sku',
    (
        _ITEM_COUNT,
        ("expired", 'count(*) FILTER (WHERE "daysLeft" < 0)'),
        ("expiredValueMinor", 'coalesce(sum("costValueMinor") FILTER (WHERE "daysLeft" < 0), 0)'),
        ("withinAWeek", 'count(*) FILTER (WHERE "daysLeft" BETWEEN 0 AND 7)'),
        _COST_TOTAL,
        _UNPRICED_COUNT,
    ),
    extra_parts={"periods": PERIODS_SQL},
)
REORDER = ReportDefinition(
    "reorder",
    mark_for_translation("What to order"),
    (
        Field("supplier", "i.supplier"),
        NAME,
        SKU,
        Field("available", "i.available", QUANTITY, "Available", 15),
        Field("onOrder", "i.on_order", QUANTITY, "On order", 15),
        Field("reorderLevel", "i.reorder_level", QUANTITY, "Level", 13),
        Field("parLevel", "i.par_level", QUANTITY, "Par", 13),
        Field("quantity", ORDER_QUANTITY_SQL, QUANTITY, "To order", 16),
        UNIT,
        COST_PRICE,
        Field("costValueMinor", value_sql(ORDER_QUANTITY_SQL), MINOR, "Expected cost", 24),
    ),
    f"{_STOCK_SOURCE} AND {DUE_CONDITION_SQL} AND {ORDER_QUANTITY_SQL} > 0",
    "supplier NULLS LAST, sku",
    (_ITEM_COUNT, ("suppliers", "count(DISTINCT coalesce(supplier, ''))"), _COST_TOTAL, _UNPRICED_COUNT),
    extra_parts={"suppliers": ORDER_SUPPLIERS_SQL},
)
REPORTS = {item.type: item for item in (SUMMARY, VALUATION, MOVEMENTS, EXPIRY, REORDER)}
