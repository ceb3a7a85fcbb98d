"""The columns of a report: one list, from which JSON, CSV and the table on paper are made."""

from dataclasses import dataclass

from app.core.formulas import escape_sql

TEXT, QUANTITY, PRICE, MINOR, DAY, COUNT = "text", "quantity", "price", "minor", "day", "count"
NUMERIC_KINDS = (QUANTITY, PRICE, MINOR, COUNT)


@dataclass(frozen=True)
class Field:
    """A column: its name outside, where it comes from, what it holds. With a `share` of the width it is on paper,
    where a `quiet` one is empty instead of 0."""

    name: str
    sql: str
    kind: str = TEXT
    heading: str = ""
    share: float = 0
    hides_zero: bool = False

    @property
    def select_sql(self) -> str:
        """The value with its name, exact and without zeros that say nothing."""
        value = f"trim_scale({self.sql})" if self.kind in (QUANTITY, PRICE) else self.sql
        return f'{value} AS "{self.name}"'

    @property
    def csv_sql(self) -> str:
        """The value in a file that spreadsheets open."""
        return escape_sql(f'"{self.name}"') if self.kind == TEXT else f'"{self.name}"'


def value_sql(quantity: str, price: str = "i.cost_price") -> str:
    """What a quantity is worth in whole cents, rounded half up; each row by itself, so that columns add up."""
    return f"round({quantity} * {price} * 100)"


NAME = Field("name", "i.name", heading="Item", share=40)
SKU = Field("sku", "i.sku", heading="SKU", share=20)
UNIT = Field("unit", "i.unit", heading="Unit", share=13)
ON_HAND = Field("onHand", "i.on_hand", QUANTITY, "On hand", 15)
COST_PRICE = Field("costPrice", "i.cost_price", PRICE)
COST_VALUE = Field("costValueMinor", value_sql("i.on_hand"), MINOR, "Value at cost", 24)
SALE_VALUE = Field("saleValueMinor", value_sql("i.on_hand", "i.sell_price"), MINOR, "At sale price", 24)
