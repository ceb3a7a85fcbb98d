"""The request and response schemas of the stock (specification 4.0-I and 4.6)."""

from collections.abc import Mapping
from typing import Any, cast

from marshmallow import ValidationError, fields, validate, validates_schema

from app.inventory.item_fields import BUCKETS, ITEM_FIELDS, REASONS, AdjustedItem, JsonObject
from app.inventory.order_states import OPEN, ORDER_STATES
from app.inventory.reminders import DAILY, WEEKDAYS, WEEKLY
from app.inventory.serializers import Row, serialize_item, serialize_movement
from app.inventory.stock_import.parser import MAY_SHARE_COLUMN
from app.web.fields import (
    Boolean,
    Choice,
    Email,
    EndTimeField,
    List,
    Nested,
    Number,
    Text,
    TimeField,
    WholeNumber,
    field_error,
)
from app.web.mapping_fields import ColumnMapping
from app.web.row_errors import RowErrorData
from app.web.schema import PartialResponse, Query, Schema
from app.web.stock_fields import Day, build_item_field, build_quantity_field

ID_METADATA = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
ITEM_FIELD_NAMES = [field.name for field in ITEM_FIELDS]
MAX_RECIPIENTS = 20


def _create_schema(
    name: str, doc: str, members: Mapping[str, fields.Field[Any]], base: type[Schema] = Schema
) -> type[Schema]:
    return cast("type[Schema]", type(name, (base,), {**members, "__doc__": doc}))


NewItem = _create_schema(
    "NewItem",
    "An item.",
    {item_field.attribute: build_item_field(item_field, required=item_field.required) for item_field in ITEM_FIELDS},
)
ItemChanges = _create_schema(
    "ItemChanges",
    "Fields of an item.",
    {
        **{item_field.attribute: build_item_field(item_field) for item_field in ITEM_FIELDS},
        "archived": Boolean(metadata={"rare": True, "description": "archive the item, or restore it"}),
    },
)
FIELD_FILTERS = {item_field.attribute: build_item_field(item_field) for item_field in ITEM_FIELDS}


class Filters(_create_schema("FieldFilters", "Fields of an item.", FIELD_FILTERS, Query)):  # type: ignore[misc]
    """Filters of lists of items: every field by its value, text in any case."""

    q = Text(
        min=1,
        max=200,
        metadata={
            "example": "lager",
            "description": "beginnings of words in name, SKU, category, "
            "brand, supplier, barcode, storage location and batch",
        },
    )
    low_stock = Boolean(metadata={"description": "at or below the reorder level, or not; never an archived item"})
    expiring_before = Day(metadata={"example": "2027-02-28"})
    archived = Boolean(metadata={"description": "archived or not; without it both"})


class AdjustBody(Schema):
    """A change of one bucket: by `delta`, or to what was counted."""

    delta = build_quantity_field(min=-999_999_999.999, allow_none=True, metadata={"example": -1})
    counted = build_quantity_field(min=0, allow_none=True, metadata={"rare": True, "description": "in place of delta"})
    bucket = Choice(*BUCKETS, load_default="onHand")
    reason = Choice(*REASONS, metadata={"example": "sold", "description": "`count` with counted, else `correction`"})
    note = Text(max=600, allow_none=True)
    reference = Text(max=120, allow_none=True, metadata={"example": "till 3"})
    occurred_at = TimeField(
        allow_none=True,
        metadata={"rare": True, "description": "when it happened, if not now; a naive time is the event's"},
    )
    expected_on_hand = build_quantity_field(
        min=0, allow_none=True, metadata={"rare": True, "description": "409 when on hand is another quantity"}
    )
    expected_version = WholeNumber(
        min=0, allow_none=True, metadata={"rare": True, "description": "412 when the item has another version"}
    )

    @validates_schema(skip_on_field_errors=False)
    def check_delta_or_counted(self, data: JsonObject, **_: object) -> None:
        field_names = [name for name in ("delta", "counted") if data.get(name) is not None]
        if len(field_names) != 1:
            raise ValidationError({"delta": field_error("required", "Send delta or counted, one of them.").messages})
        if data.get("delta") == 0:
            raise ValidationError({"delta": field_error("too_small", "Must not be 0.").messages})


ITEM_MEMBERS = {item_field.attribute: build_item_field(item_field) for item_field in ITEM_FIELDS}


class ItemRow(_create_schema("ItemFields", "An item.", ITEM_MEMBERS)):  # type: ignore[misc]
    """An item with its derived quantities."""

    id = fields.String(required=True, metadata=ID_METADATA)
    serialize_row = staticmethod(serialize_item)

    def dump(self, obj: Any, *, many: bool | None = None) -> JsonObject | list[JsonObject]:
        if isinstance(obj, PartialResponse):
            return obj
        return [self.serialize_row(item) for item in obj] if many else self.serialize_row(obj)

    available = Number(required=True, metadata={"description": "on hand − reserved − damaged"})
    on_order = Number(required=True)
    low_stock = Boolean(required=True, attribute="is_low", metadata={"description": "at or below the reorder level"})
    version = WholeNumber(required=True)
    archived_at = TimeField(required=True, allow_none=True, metadata={"description": "since when it is archived"})
    created_at = TimeField(required=True)
    updated_at = TimeField(required=True)


class MovementRow(Schema):
    """A change of one bucket."""

    id = fields.String(required=True, metadata=ID_METADATA)
    item_id = fields.String(required=True, metadata=ID_METADATA)
    bucket = fields.String(required=True, metadata={"example": "onHand"})
    delta = Number(required=True)
    on_hand_after = Number(required=True)
    reason = fields.String(required=True, metadata={"example": "sold"})
    note = fields.String(required=True, allow_none=True)
    reference = fields.String(required=True, allow_none=True)
    counted = Number(required=True, allow_none=True)
    occurred_at = TimeField(required=True)
    recorded_at = TimeField(required=True)
    actor = fields.String(required=True, allow_none=True, attribute="actor_id", metadata=ID_METADATA)


class Adjusted(ItemRow):
    """The item after an adjustment, and the movement."""

    movement = Nested(MovementRow, required=True)

    @staticmethod
    def serialize_row(row: Row) -> JsonObject:
        item = cast(AdjustedItem, row)
        return {**serialize_item(item), "movement": serialize_movement(item["movement"])}


class ImportQuery(Query):
    mode = Choice(
        "atomic", "partial", load_default="atomic", metadata={"description": "partial writes the rows without errors"}
    )
    dry_run = Boolean(load_default=False, metadata={"description": "check everything, write nothing"})
    again = Boolean(
        load_default=False, metadata={"description": "let bytes that changed this stock before do so again"}
    )
    mapping = ColumnMapping(
        ITEM_FIELD_NAMES,
        required_names=("sku",),
        each_once=True,
        may_share=MAY_SHARE_COLUMN,
        metadata={
            "rare": True,
            "type": "string",
            "description": "JSON: the column of each field; without it the columns have the names of the fields. "
            "`name` and `sku` may have the same column.",
            "example": '{"sku": "Item code", "name": "Product", "onHand": "Qty"}',
        },
    )


class FieldChangeData(Schema):
    name = fields.String(metadata={"description": "the field", "example": "onHand"})
    before = fields.String(allow_none=True, metadata={"description": "the value now, as text; null for a new item"})
    after = fields.String(allow_none=True, metadata={"description": "the value after the import, as text"})


class ItemChangeData(Schema):
    row = WholeNumber(metadata={"description": "the row of the file"})
    sku = fields.String(metadata={"description": "the SKU after the import"})
    name = fields.String(metadata={"description": "the name after the import"})
    is_new = Boolean(metadata={"description": "whether the import would add the item"})
    new_values = List(Nested(FieldChangeData), metadata={"description": "the fields that would change"})


class ImportData(Schema):
    """What an import did; or, with 202, the job that does it."""

    created = WholeNumber()
    updated = WholeNumber()
    unchanged = WholeNumber()
    errors = List(Nested(RowErrorData), metadata={"description": "the first thousand"})
    error_count = WholeNumber()
    changes = List(
        Nested(ItemChangeData),
        metadata={"rare": True, "description": "with dryRun: the first 200 changes, those of known items first"},
    )
    errors_url = fields.String(metadata={"rare": True, "description": "all errors as CSV, for two days"})
    already_imported_at = fields.String(metadata={"rare": True, "format": "date-time"})
    job_id = fields.String(metadata={**ID_METADATA, "rare": True})
    status = fields.String(metadata={"rare": True, "example": "queued"})
    progress = WholeNumber(metadata={"rare": True})


class ExportQuery(Query):
    template = Boolean(load_default=False, metadata={"description": "the columns without rows"})


class ReminderChanges(Schema):
    enabled = Boolean()
    frequency = Choice(DAILY, WEEKLY)
    hour = WholeNumber(min=0, max=23, metadata={"description": "where the event is"})
    weekday = Choice(*WEEKDAYS)
    recipients = List(Email(), max=MAX_RECIPIENTS)
    expiring_within_days = WholeNumber(min=0, max=365)
    include_low_stock = Boolean()
    include_expiring = Boolean()


class ReminderData(Schema):
    enabled = Boolean(required=True)
    frequency = fields.String(required=True, metadata={"example": DAILY})
    hour = WholeNumber(required=True)
    weekday = fields.String(required=True, metadata={"example": WEEKDAYS[0]})
    recipients = List(fields.String(metadata={"example": "bar@example.com"}), required=True)
    expiring_within_days = WholeNumber(required=True)
    include_low_stock = Boolean(required=True)
    include_expiring = Boolean(required=True)
    next_at = TimeField(required=True, allow_none=True)
    version = WholeNumber(required=True)


class Triggered(Schema):
    recipients = List(fields.String(metadata={"example": "bar@example.com"}), required=True)
    queued = WholeNumber(required=True)


class ReorderBody(Schema):
    item_ids = List(Text(min=1, max=24, metadata=ID_METADATA), max=2000, allow_none=True)
    dry_run = Boolean(load_default=False)


class OrderLine(Schema):
    item_id = fields.String(required=True, metadata=ID_METADATA)
    sku = fields.String(required=True)
    name = fields.String(required=True)
    unit = fields.String(required=True, allow_none=True)
    quantity = Number(required=True)
    cost_price = Number(required=True, allow_none=True)
    value = Number(required=True, allow_none=True)


class OrderData(Schema):
    id = fields.String(required=True, allow_none=True, metadata=ID_METADATA)
    supplier = fields.String(required=True, allow_none=True)
    lines = List(Nested(OrderLine), required=True)
    total_value = Number(required=True)
    sheet_url = fields.String(required=True, allow_none=True, metadata={"description": "the order as a PDF"})


class OrderFacts(Schema):
    id = fields.String(required=True, metadata=ID_METADATA)
    supplier = fields.String(required=True, allow_none=True)
    status = fields.String(required=True, validate=validate.OneOf(ORDER_STATES), metadata={"example": OPEN})
    created_at = TimeField(required=True)
    closed_at = TimeField(required=True, allow_none=True, metadata={"description": "when it was received or cancelled"})


class OrderRow(OrderFacts):
    """A purchase order; `items` is how many it has."""

    items = WholeNumber(required=True, metadata={"description": "number of items", "example": 12})


class OrderedItem(Schema):
    """A line of a purchase order."""

    item_id = fields.String(required=True, metadata=ID_METADATA)
    sku = fields.String(required=True)
    name = fields.String(required=True)
    unit = fields.String(required=True, allow_none=True)
    quantity = Number(required=True, metadata={"description": "what was ordered"})
    expected = Number(required=True, metadata={"description": "what of it is on order still"})
    received = Number(
        required=True,
        allow_none=True,
        metadata={
            "description": "what arrived so far, with the order or recorded with the item before; null before the first "
            "delivery of an open order"
        },
    )


class OrderDetails(OrderFacts):
    """A purchase order with its lines."""

    lines = List(Nested(OrderedItem), required=True)
    sheet_url = fields.String(required=True, metadata={"description": "the order as a PDF"})


class ArrivedLine(Schema):
    """How much of an item has arrived; 0 for nothing."""

    item_id = Text(min=1, max=24, required=True, metadata=ID_METADATA)
    quantity = build_quantity_field(min=0, required=True, metadata={"example": 24})
    expected = build_quantity_field(
        min=0, allow_none=True, metadata={"rare": True, "description": "412 when another quantity is on order still"}
    )


class ArrivedBody(Schema):
    """What has arrived of an order; without `lines`, everything that is on order still."""

    lines = List(Nested(ArrivedLine), max=2000, allow_none=True, metadata={"rare": True})
    rest_comes_later = Boolean(
        load_default=False,
        metadata={"rare": True, "description": "what is missing stays on order, and the order stays open"},
    )


class Reordered(Schema):
    dry_run = Boolean(required=True)
    items = WholeNumber(required=True)
    more = Boolean(required=True, metadata={"description": "another call would order more"})
    orders = List(Nested(OrderData), required=True)


class Period(Query):
    since = TimeField(data_key="from", metadata={"description": "a naive time is the event's"})
    until = EndTimeField(data_key="to")


class VarianceRow(Schema):
    """The result of the counts in a period. Negative: there was less than expected."""

    id = fields.String(required=True, metadata=ID_METADATA)
    sku = fields.String(required=True)
    name = fields.String(required=True)
    unit = fields.String(required=True, allow_none=True)
    category = fields.String(required=True, allow_none=True)
    storage_location = fields.String(required=True, allow_none=True)
    counts = WholeNumber(required=True)
    counted_at = TimeField(required=True)
    expected = Number(required=True)
    counted = Number(required=True)
    variance = Number(required=True)
    cost_price = Number(required=True, allow_none=True)
    value = Number(required=True, allow_none=True, metadata={"description": "variance × cost price"})
