"""The columns of the reports, for JSON, CSV and the table of the PDF."""

from dataclasses import dataclass

from app.core.spreadsheet_cells import escape_sql

TEXT, QUANTITY, PRICE, MINOR, DAY, COUNT = "text", "quantity", "price", "minor", "day", "count"
NUMERIC_KINDS = (QUANTITY, PRICE, MINOR, COUNT)


@dataclass(frozen=True)
class Field:
    """A column: its name in JSON and CSV, its SQL expression and its kind.

    `share` is its width in the PDF; a column without it is left out. With `hides_zero` the PDF has no zeros.
    """

    name: str
    sql: str
    kind: str = TEXT
    heading: str = ""
    share: float = 0
    hides_zero: bool = False

    @property
    def select_sql(self) -> str:
        """The expression with its alias, without trailing zeros."""
        value = f"trim_scale({self.sql})" if self.kind in (QUANTITY, PRICE) else self.sql
        return f'{value} AS "{self.name}"'

    @property
    def csv_sql(self) -> str:
        """The expression for CSV, with formulas escaped."""
        return escape_sql(f'"{self.name}"') if self.kind == TEXT else f'"{self.name}"'


def value_sql(quantity: str, price: str = "i.cost_price") -> str:
    """Return the value of a quantity in cents, rounded half up for each row, so that columns add up."""
    return f"round({quantity} * {price} * 100)"


NAME = Field("name", "i.name", heading="Item", share=40)
SKU = Field("sku", "i.sku", heading="SKU", share=20)
UNIT = Field("unit", "i.unit", heading="Unit", share=13)
ON_HAND = Field("onHand", "i.on_hand", QUANTITY, "On hand", 15)
COST_PRICE = Field("costPrice", "i.cost_price", PRICE)
COST_VALUE = Field("costValueMinor", value_sql("i.on_hand"), MINOR, "Value at cost", 24)
SALE_VALUE = Field("saleValueMinor", value_sql("i.on_hand", "i.sell_price"), MINOR, "At sale price", 24)
