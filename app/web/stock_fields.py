"""The marshmallow fields of items: exact quantities and prices, days, and links."""

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from marshmallow import fields

from app.core.addresses import is_url
from app.inventory.item_fields import DATE, DECIMAL_PLACES, LINK, QUANTITY, ItemField
from app.web.fields import BaseField, Number, Text, field_error

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


class DecimalNumber(Number):
    """A number with at most `places` decimals, loaded as a Decimal."""

    def __init__(self, places: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.places = places

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, object] | None, **kwargs: Any) -> Any:
        if self.from_text and not (isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", value)):
            raise field_error("invalid_type", "Must be a number.")
        super()._deserialize(value, attr, data, **kwargs)
        number = Decimal(str(value))
        if abs(number) < 10**12 and round(number, self.places) != number:
            raise field_error("too_precise", f"Must have at most {self.places} decimals.")
        return number


class Day(BaseField, fields.Field[Any]):
    """A date; of a date with a time the date is used."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(metadata={"type": "string", "format": "date", **kwargs.pop("metadata", {})}, **kwargs)

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, object] | None, **kwargs: Any
    ) -> date | None:
        if value == "":
            return None
        try:
            if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}([T ].{1,30})?", value.strip()):
                raise ValueError(value)
            day = date.fromisoformat(value.strip()[:10])
            if not 1900 <= day.year < 9999:
                raise ValueError(value)
        except ValueError as error:
            raise field_error("invalid_date", "Must be a day like 2027-02-28.") from error
        return day

    def _serialize(self, value: date | None, attr: str | None, obj: object, **kwargs: Any) -> str | None:
        return None if value is None else value.isoformat()


class OptionalText(Text):
    """A text that may be absent; an empty text becomes None."""

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, object] | None, **kwargs: Any) -> Any:
        return super()._deserialize(value, attr, data, **kwargs) or None


class ImageUrl(OptionalText):
    """An https URL; the service never fetches it."""

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, object] | None, **kwargs: Any) -> Any:
        url = super()._deserialize(value, attr, data, **kwargs)
        if url and not is_url(url, ("https",)):
            raise field_error("invalid_url", "Must be an https address.")
        return url


def build_quantity_field(number: type[DecimalNumber] = DecimalNumber, **kwargs: Any) -> DecimalNumber:
    """Return a field for a quantity."""
    return number(DECIMAL_PLACES[QUANTITY], **{"max": 999_999_999.999, **kwargs})


def build_item_field(
    item_field: ItemField, *, required: bool = False, number: type[DecimalNumber] = DecimalNumber
) -> fields.Field[Any]:
    """Return the field for a column of an item. `number` reads its number."""
    options: dict[str, Any] = {"required": required, "metadata": {"example": EXAMPLES[item_field.name]}}
    if not item_field.required:
        options["allow_none"] = True
    if item_field.kind in DECIMAL_PLACES:
        return number(DECIMAL_PLACES[item_field.kind], min=0, max=float(item_field.max_value), **options)
    if item_field.kind == DATE:
        return Day(**options)
    if item_field.kind == LINK:
        return ImageUrl(max=item_field.max_length, **options)
    return (
        Text(min=1, max=item_field.max_length, **options)
        if item_field.required
        else OptionalText(max=item_field.max_length, **options)
    )
