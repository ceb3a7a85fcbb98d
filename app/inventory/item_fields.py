"""The fields of an item as the specification lists them (4.0-I): the one list that forms, files and answers share."""

from dataclasses import dataclass
from decimal import Decimal

MAX_QUANTITY = Decimal("999999999.999")
TEXT, LINK, QUANTITY, PRICE, RATE, DATE = "text", "link", "quantity", "price", "rate", "date"
DECIMAL_PLACES = {QUANTITY: 3, PRICE: 4, RATE: 4}


@dataclass(frozen=True)
class ItemField:
    """A field: its name outside and inside, what it holds, how long or large it may be, whether an item needs it."""

    name: str
    attribute: str
    kind: str
    max_length: int = 0
    required: bool = False

    @property
    def max_value(self) -> Decimal:
        return Decimal(100) if self.kind == RATE else MAX_QUANTITY


ITEM_FIELDS = (
    ItemField("name", "name", TEXT, 140, required=True),
    ItemField("sku", "sku", TEXT, 80, required=True),
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
    """What two spellings of one SKU have in common."""
    return sku.casefold()
