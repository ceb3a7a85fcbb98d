"""Fields that only stock has: exact quantities and prices, days, and links; one for each column of an item."""

import re
from datetime import date
from decimal import Decimal
from typing import Any

from marshmallow import fields

from app.core.addresses import is_address
from app.inventory.columns import DATE, LINK, PLACES, QUANTITY, Column
from app.web.fields import Coded, Number, Text, problem

EXAMPLES = {
    "name": "Windhoek Lager 330 ml",
    "sku": "BEE-00001",
    "imageUrl": "https://media.example.com/lager.jpg",
    "productType": "drink",
    "expiryDate": "2027-02-03",
    "category": "Beer",
    "brand": "Windhoek",
    "supplier": "Namibia Breweries",
    "barcode": "0040315078324",
    "storageLocation": "Tent 3, shelf 2",
    "batchNumber": "B3488",
    "unit": "case",
    "costPrice": 285.14,
    "sellPrice": 381.57,
    "taxRate": 15,
    "parLevel": 120,
    "minOrderQty": 24,
    "reorderLevel": 40,
    "onHand": 84,
    "reserved": 0,
    "damaged": 0,
    "notes": "opened: 2 boxes",
}


class Exact(Number):
    """A number with so many decimals at most, exact inside."""

    def __init__(self, places: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.places = places

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if self.from_text and not (isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", value)):
            raise problem("invalid_type", "Must be a number.")
        super()._deserialize(value, attr, data, **kwargs)
        exact = Decimal(str(value))
        if abs(exact) < 10**12 and round(exact, self.places) != exact:
            raise problem("too_precise", f"Must have at most {self.places} decimals.")
        return exact


class Day(Coded, fields.Field[Any]):
    """A day of the calendar; of a time its day is taken."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(metadata={"type": "string", "format": "date", **kwargs.pop("metadata", {})}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> date | None:
        if value == "":
            return None
        try:
            if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}([T ].{1,30})?", value.strip()):
                raise ValueError(value)
            made = date.fromisoformat(value.strip()[:10])
            if not 1900 <= made.year < 9999:
                raise ValueError(value)
        except ValueError as error:
            raise problem("invalid_date", "Must be a day like 2027-02-28.") from error
        return made

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else value.isoformat()


class Optional(Text):
    """A text that may be left out; the empty one means none."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return super()._deserialize(value, attr, data, **kwargs) or None


class PictureLink(Optional):
    """An https address; it is never fetched."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        url = super()._deserialize(value, attr, data, **kwargs)
        if url and not is_address(url, ("https",)):
            raise problem("invalid_url", "Must be an https address.")
        return url


def quantity(**kwargs: Any) -> Exact:
    """A quantity of stock."""
    return Exact(PLACES[QUANTITY], **{"max": 999_999_999.999, **kwargs})


def field_of(column: Column, *, required: bool = False) -> fields.Field[Any]:
    """The field for a column of an item."""
    said: dict[str, Any] = {"required": required, "metadata": {"example": EXAMPLES[column.name]}}
    if not column.required:
        said["allow_none"] = True
    if column.kind in PLACES:
        return Exact(PLACES[column.kind], min=0, max=float(column.most), **said)
    if column.kind == DATE:
        return Day(**said)
    if column.kind == LINK:
        return PictureLink(max=column.longest, **said)
    return Text(min=1, max=column.longest, **said) if column.required else Optional(max=column.longest, **said)
