"""Quantities, and the values of report cells, as text."""

from datetime import date
from decimal import Decimal

from app.core.formatting import format_money, format_number, pluralize
from app.inventory.item_fields import MAX_SKU_LENGTH
from app.inventory.reports.parameters import COUNT, DAY, MINOR, PRICE, QUANTITY, Field


def format_quantity(quantity: Decimal, unit: str | None = None) -> str:
    """Return a quantity without trailing zeros, with its unit if it has one: `12.5 kg`, `1 sleeve`, `39 sleeves`."""
    number = f"{quantity.normalize():f}"
    return f"{number} {unit if quantity == 1 else _pluralize_unit(unit)}" if unit else number


def is_named_by_number(name: str, sku: str) -> bool:
    """Return whether the number of an item is its name, apart from case, spaces and signs."""
    return _fold_signs(name[:MAX_SKU_LENGTH]) == _fold_signs(sku)


def format_item(name: str, sku: str) -> str:
    """Return the name of an item with its number, or the name alone if the number says the same."""
    return name if is_named_by_number(name, sku) else f"{name} ({sku})"


def _fold_signs(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold())) or text


def _pluralize_unit(unit: str) -> str:
    """Return the plural of a unit that is a known English noun; symbols such as `kg` and words of other languages stay."""
    return pluralize(unit) if unit in ENGLISH_UNITS else unit


ENGLISH_UNITS = {
    "bag", "bale", "barrel", "battery", "block", "bottle", "box", "bucket", "bundle", "can", "canister", "carton",
    "case", "cask", "container", "crate", "cup", "cylinder", "drum", "gallon", "glass", "gram", "jar", "keg",
    "kilogram", "liter", "litre", "metre", "pack", "packet", "pair", "pallet", "piece", "pint", "plate", "portion",
    "pouch", "punnet", "reel", "roll", "sack", "set", "sheet", "slab", "sleeve", "tank", "tin", "tray", "tub",
    "tube", "unit",
}  # fmt: skip
EMPTY_CELL = "—"
CellValue = Decimal | int | str | None


def format_cell(field: Field, value: CellValue) -> str:
    """Return the text of a cell."""
    if value is None or (field.hides_zero and not value):
        return EMPTY_CELL if field.kind in (MINOR, PRICE, DAY) else ""
    if field.kind == MINOR:
        return format_money(int(value))
    if field.kind == PRICE:
        return format_money(round(Decimal(value) * 100))
    if field.kind in (QUANTITY, COUNT):
        return format_number(Decimal(value))
    return (
        f"{format_short_day(str(value))} {str(value)[:4]}".replace(" ", "\u00a0") if field.kind == DAY else str(value)
    )


def format_short_day(day: str) -> str:
    """Return a day like `4 Dec`."""
    parsed_day = date.fromisoformat(day)
    return f"{parsed_day.day} {parsed_day:%b}"
