"""The fields of an item (specification 4.0-I): one list for requests, files and responses."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TypedDict

JsonObject = dict[str, object]
MAX_QUANTITY = Decimal("999999999.999")
MAX_SKU_LENGTH = 80
TEXT, LINK, QUANTITY, PRICE, RATE, DATE = "text", "link", "quantity", "price", "rate", "date"
DECIMAL_PLACES = {QUANTITY: 3, PRICE: 4, RATE: 4}


@dataclass(frozen=True)
class ItemField:
    """A field: its JSON name, its column, its kind and maximum length, and whether an item requires it."""

    name: str
    attribute: str
    kind: str
    max_length: int = 0
    required: bool = False

    @property
    def max_value(self) -> Decimal:
        return Decimal(100) if self.kind == RATE else MAX_QUANTITY


class ItemValues(TypedDict, total=False):
    """The fields of an item that a request may set, by column."""

    name: str
    sku: str
    image_url: str | None
    product_type: str | None
    expiry_date: date | None
    category: str | None
    brand: str | None
    supplier: str | None
    barcode: str | None
    storage_location: str | None
    batch_number: str | None
    unit: str | None
    cost_price: Decimal | None
    sell_price: Decimal | None
    tax_rate: Decimal | None
    par_level: Decimal
    min_order_qty: Decimal
    reorder_level: Decimal
    on_hand: Decimal
    reserved: Decimal
    damaged: Decimal
    notes: str | None


class ItemFilters(ItemValues, total=False):
    """The filters of the item list."""

    q: str
    low_stock: bool
    expiring_before: date
    archived: bool


class ItemRow(ItemValues):
    """An item as the statements of this package return it."""

    id: str
    event_id: str
    on_order: Decimal
    available: Decimal
    is_low: bool
    version: int
    archived_at: datetime | None
    created_at: datetime
    updated_at: datetime


class MovementRow(TypedDict):
    """A movement as the statements of this package return it."""

    id: str
    seq: int
    item_id: str
    bucket: str
    delta: Decimal
    on_hand_after: Decimal
    reason: str
    note: str | None
    reference: str | None
    counted: Decimal | None
    occurred_at: datetime
    recorded_at: datetime
    actor_id: str | None


class AdjustedItem(ItemRow):
    """An item with the movement that changed it."""

    movement: MovementRow


ITEM_FIELDS = (
    ItemField("name", "name", TEXT, 140, required=True),
    ItemField("sku", "sku", TEXT, MAX_SKU_LENGTH, required=True),
    ItemField("imageUrl", "image_url", LINK, 500),
    ItemField("productType", "product_type", TEXT, 80),
    ItemField("expiryDate", "expiry_date", DATE),
    ItemField("category", "category", TEXT, 80),
    ItemField("brand", "brand", TEXT, 80),
    ItemField("supplier", "supplier", TEXT, 120),
    ItemField("barcode", "barcode", TEXT, 80),
    ItemField("storageLocation", "storage_location", TEXT, 80),
    ItemField("batchNumber", "batch_number", TEXT, 80),
    ItemField("unit", "unit", TEXT, 20),
    ItemField("costPrice", "cost_price", PRICE),
    ItemField("sellPrice", "sell_price", PRICE),
    ItemField("taxRate", "tax_rate", RATE),
    ItemField("parLevel", "par_level", QUANTITY, required=True),
    ItemField("minOrderQty", "min_order_qty", QUANTITY, required=True),
    ItemField("reorderLevel", "reorder_level", QUANTITY, required=True),
    ItemField("onHand", "on_hand", QUANTITY, required=True),
    ItemField("reserved", "reserved", QUANTITY, required=True),
    ItemField("damaged", "damaged", QUANTITY, required=True),
    ItemField("notes", "notes", TEXT, 600),
)
FIELDS_BY_NAME = {field.name: field for field in ITEM_FIELDS}
ATTRIBUTES = tuple(field.attribute for field in ITEM_FIELDS)
BUCKETS = {"onHand": "on_hand", "reserved": "reserved", "damaged": "damaged"}
REASONS = ("received", "sold", "waste", "damage", "transfer", "count", "return", "correction")


def fold_sku(sku: str) -> str:
    """Return the key that all spellings of one SKU share."""
    return sku.casefold()
