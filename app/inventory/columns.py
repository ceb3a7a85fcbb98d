"""The fields of an item as the specification lists them (4.0-I): the one list that forms, files and answers share."""

from dataclasses import dataclass
from decimal import Decimal

MOST = Decimal("999999999.999")
TEXT, LINK, QUANTITY, PRICE, RATE, DATE = "text", "link", "quantity", "price", "rate", "date"
PLACES = {QUANTITY: 3, PRICE: 4, RATE: 4}


@dataclass(frozen=True)
class Column:
    """A field: its name outside and inside, what it holds, how long or large it may be, whether an item needs it."""

    name: str
    attribute: str
    kind: str
    longest: int = 0
    required: bool = False

    @property
    def most(self) -> Decimal:
        return Decimal(100) if self.kind == RATE else MOST


COLUMNS = (
    Column("name", "name", TEXT, 140, required=True),
    Column("sku", "sku", TEXT, 80, required=True),
    Column("imageUrl", "image_url", LINK, 500),
    Column("productType", "product_type", TEXT, 80),
    Column("expiryDate", "expiry_date", DATE),
    Column("category", "category", TEXT, 80),
    Column("brand", "brand", TEXT, 80),
    Column("supplier", "supplier", TEXT, 120),
    Column("barcode", "barcode", TEXT, 80),
    Column("storageLocation", "storage_location", TEXT, 80),
    Column("batchNumber", "batch_number", TEXT, 80),
    Column("unit", "unit", TEXT, 20),
    Column("costPrice", "cost_price", PRICE),
    Column("sellPrice", "sell_price", PRICE),
    Column("taxRate", "tax_rate", RATE),
    Column("parLevel", "par_level", QUANTITY, required=True),
    Column("minOrderQty", "min_order_qty", QUANTITY, required=True),
    Column("reorderLevel", "reorder_level", QUANTITY, required=True),
    Column("onHand", "on_hand", QUANTITY, required=True),
    Column("reserved", "reserved", QUANTITY, required=True),
    Column("damaged", "damaged", QUANTITY, required=True),
    Column("notes", "notes", TEXT, 600),
)
BY_NAME = {column.name: column for column in COLUMNS}
ATTRIBUTES = tuple(column.attribute for column in COLUMNS)
BUCKETS = {"onHand": "on_hand", "reserved": "reserved", "damaged": "damaged"}
REASONS = ("received", "sold", "waste", "damage", "transfer", "count", "return", "correction")


def sku_key(sku: str) -> str:
    """What two spellings of one SKU have in common."""
    return sku.casefold()
