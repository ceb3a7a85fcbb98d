"""The tables of the stock. Quantities have three decimals, prices four; both are exact in PostgreSQL.

Movements are only added; a trigger refuses updates and deletions. Each quantity of an item is the sum of its
movements. The statement that adds a movement also updates the quantity in the item's row.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ColumnElement,
    Computed,
    Date,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    SmallInteger,
    String,
    Table,
    Text,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.elements import KeyedColumnElement

from app.core.db import Base, ObjectId, Timestamp, Xid8, id_column
from app.events.event_rows import EventRow, event_column, parent_key
from app.inventory import item_search
from app.inventory.item_fields import JsonObject
from app.inventory.order_states import OPEN, ORDER_STATES

AnyColumn = ColumnElement[Any]
Columns = ReadOnlyColumnCollection[str, KeyedColumnElement[Any]]
"""The columns of a table or of a subquery, by name."""

Quantity, Price, Rate = Numeric(13, 3), Numeric(14, 4), Numeric(7, 4)
NO_EXPIRY_DATE = date(9999, 12, 31)
AVAILABLE_SQL = "on_hand - reserved - damaged"
FACET_COLUMNS = ("barcode", "batch_number", "storage_location", "brand", "supplier", "product_type", "category", "unit")
"""Texts that many items share, the most selective first. Each has an index in the order of item names."""


def _text_column(length: int) -> Mapped[str | None]:
    return mapped_column(String(length))


def _quantity_column() -> Mapped[Decimal]:
    return mapped_column(Quantity, default=Decimal(0), server_default=text("0"))


class StockItem(EventRow, Base):
    """An item of an event's stock. `moved_at` is the time of its last movement that was not backdated.

    An archived item keeps its quantities and movements, and cannot be changed. `is_low` does not consider that: an item
    counts as low if it is not archived as well.
    """

    __tablename__ = "inventory_item"
    __table_args__ = (
        CheckConstraint(f"least(on_hand, reserved, damaged, on_order, {AVAILABLE_SQL}) >= 0", name="enough"),
        CheckConstraint("least(par_level, min_order_qty, reorder_level) >= 0", name="levels"),
        Index("uq_inventory_item_sku", "event_id", "sku_key", unique=True, postgresql_include=["id", "words"]),
        Index("ix_inventory_item_name", "event_id", "name_key", "id", postgresql_include=["words"]),
        Index(
            "ix_inventory_item_expiry",
            "event_id",
            text(f"coalesce(expiry_date, '{NO_EXPIRY_DATE}'::date)"),
            "id",
            postgresql_include=["expiry_date", "words"],
        ),
        # These use lower(name) and not name_key, so that the planner never confuses them with the index of all names.
        Index("ix_inventory_item_low", "event_id", "is_low", text("lower(name)"), "id"),
        Index(
            "ix_inventory_item_archived",
            "event_id",
            text("lower(name)"),
            "id",
            postgresql_where=text("archived_at IS NOT NULL"),
        ),
        *(
            Index(
                f"ix_inventory_item_{facet}",
                "event_id",
                text(f"lower({facet})"),
                text("lower(name)"),
                "id",
                postgresql_where=text(f"{facet} IS NOT NULL"),
            )
            for facet in FACET_COLUMNS
        ),
        Index(
            item_search.INDEX_NAME,
            text(item_search.WORD_ENTRIES_SQL),
            postgresql_using="gin",
            postgresql_with={"fastupdate": "on", "gin_pending_list_limit": "256"},
        ),
        {"postgresql_with": {"fillfactor": "85"}},
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = event_column()
    name: Mapped[str] = mapped_column(String(140))
    sku: Mapped[str] = mapped_column(String(80))
    sku_key: Mapped[str] = mapped_column(String(240, collation="C"))
    image_url: Mapped[str | None] = _text_column(500)
    product_type: Mapped[str | None] = _text_column(80)
    expiry_date: Mapped[date | None] = mapped_column(Date)
    category: Mapped[str | None] = _text_column(80)
    brand: Mapped[str | None] = _text_column(80)
    supplier: Mapped[str | None] = _text_column(120)
    barcode: Mapped[str | None] = _text_column(80)
    storage_location: Mapped[str | None] = _text_column(80)
    batch_number: Mapped[str | None] = _text_column(80)
    unit: Mapped[str | None] = _text_column(20)
    cost_price: Mapped[Decimal | None] = mapped_column(Price)
    sell_price: Mapped[Decimal | None] = mapped_column(Price)
    tax_rate: Mapped[Decimal | None] = mapped_column(Rate)
    par_level: Mapped[Decimal] = _quantity_column()
    min_order_qty: Mapped[Decimal] = _quantity_column()
    reorder_level: Mapped[Decimal] = _quantity_column()
    on_hand: Mapped[Decimal] = _quantity_column()
    reserved: Mapped[Decimal] = _quantity_column()
    damaged: Mapped[Decimal] = _quantity_column()
    on_order: Mapped[Decimal] = _quantity_column()
    available: Mapped[Decimal] = mapped_column(Quantity, Computed(AVAILABLE_SQL, persisted=True))
    is_low: Mapped[bool] = mapped_column(Boolean, Computed(f"{AVAILABLE_SQL} <= reorder_level", persisted=True))
    notes: Mapped[str | None] = _text_column(600)
    name_key: Mapped[str] = mapped_column(Text, Computed("lower(name)", persisted=True), deferred=True)
    words: Mapped[str] = mapped_column(Text, Computed(item_search.WORDS_SQL, persisted=True), deferred=True)
    version: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    archived_at: Mapped[datetime | None] = mapped_column(Timestamp)
    moved_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


ITEM_TABLE = cast(Table, StockItem.__table__)


class Movement(EventRow, Base):
    """A change of one bucket of one item. `counted` is the quantity that a count found. `corrects` is the sequence
    number of a backdated movement which an existing count already included; this movement compensates it."""

    __tablename__ = "inventory_movement"
    __table_args__ = (
        CheckConstraint("bucket IN ('onHand', 'reserved', 'damaged', 'onOrder')", name="bucket"),
        parent_key("item_id", "inventory_item"),
        Index("ix_inventory_movement_item", "item_id", "occurred_at", "seq"),
        Index(
            "ix_inventory_movement_count",
            "event_id",
            "occurred_at",
            postgresql_where=text("counted IS NOT NULL OR corrects IS NOT NULL"),
        ),
        Index("ix_inventory_movement_event", "event_id", "occurred_at", "seq"),
    )

    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    item_id: Mapped[str] = mapped_column(ObjectId)
    bucket: Mapped[str] = mapped_column(String(10))
    delta: Mapped[Decimal] = mapped_column(Quantity)
    on_hand_after: Mapped[Decimal] = mapped_column(Quantity)
    reason: Mapped[str] = mapped_column(String(12))
    note: Mapped[str | None] = mapped_column(String(600))
    reference: Mapped[str | None] = mapped_column(String(120))
    counted: Mapped[Decimal | None] = mapped_column(Quantity)
    corrects: Mapped[int | None] = mapped_column(BigInteger)
    actor_id: Mapped[str | None] = mapped_column(ObjectId)
    occurred_at: Mapped[datetime] = mapped_column(Timestamp)
    recorded_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


MOVEMENT_TABLE = cast(Table, Movement.__table__)


class Change(EventRow, Base):
    """A change for the stream of an event: the item and the transaction. Without an item, many items changed."""

    __tablename__ = "inventory_change"
    __table_args__ = (Index("ix_inventory_change_feed", "event_id", "xid", "seq"),)

    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    xid: Mapped[str] = mapped_column(Xid8, server_default=text("pg_current_xact_id()"))
    kind: Mapped[str] = mapped_column(String(12))
    item_id: Mapped[str | None] = mapped_column(ObjectId)
    movement: Mapped[int | None] = mapped_column(BigInteger)
    at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class Alert(EventRow, Base):
    """An item that has fallen to its reorder level and that no email has mentioned yet."""

    __tablename__ = "inventory_alert"

    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    item_id: Mapped[str] = mapped_column(ObjectId)
    available: Mapped[Decimal] = mapped_column(Quantity)
    at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class StockOrder(EventRow, Base):
    """A purchase order to one supplier; what it orders is never changed. It is open until it is received or cancelled."""

    __tablename__ = "inventory_order"
    __table_args__ = (
        Index("ix_inventory_order_event", "event_id", "id"),
        CheckConstraint(f"status IN {ORDER_STATES!r} AND (status = '{OPEN}') = (closed_at IS NULL)", name="status"),
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = event_column()
    supplier: Mapped[str | None] = mapped_column(String(120))
    actor_id: Mapped[str] = mapped_column(ObjectId)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    status: Mapped[str] = mapped_column(String(10), default=OPEN, server_default=text(f"'{OPEN}'"))
    closed_at: Mapped[datetime | None] = mapped_column(Timestamp)


class StockOrderLine(EventRow, Base):
    """An item of a purchase order, with its fields at the time of the order.

    `received` is what has arrived so far; it is null before the first delivery of an open order.
    """

    __tablename__ = "inventory_order_line"
    __table_args__ = (parent_key("order_id", "inventory_order"), parent_key("item_id", "inventory_item"))

    order_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    item_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    sku: Mapped[str] = mapped_column(String(80))
    name: Mapped[str] = mapped_column(String(140))
    unit: Mapped[str | None] = mapped_column(String(20))
    quantity: Mapped[Decimal] = mapped_column(Quantity)
    received: Mapped[Decimal | None] = mapped_column(Quantity)
    cost_price: Mapped[Decimal | None] = mapped_column(Price)


class Reminder(Base):
    """The settings of an event's stock emails. `next_at` is when the next digest is due."""

    __tablename__ = "inventory_reminder"
    __table_args__ = (Index("ix_inventory_reminder_due", "next_at", postgresql_where=text("enabled")),)

    event_id: Mapped[str] = mapped_column(ForeignKey("event.id", ondelete="CASCADE"), primary_key=True)
    enabled: Mapped[bool] = mapped_column(Boolean)
    frequency: Mapped[str] = mapped_column(String(10))
    hour: Mapped[int] = mapped_column(SmallInteger)
    weekday: Mapped[str] = mapped_column(String(10))
    recipients: Mapped[list[str]] = mapped_column(ARRAY(String(254)))
    expiring_within_days: Mapped[int] = mapped_column(SmallInteger)
    include_low_stock: Mapped[bool] = mapped_column(Boolean)
    include_expiring: Mapped[bool] = mapped_column(Boolean)
    next_at: Mapped[datetime | None] = mapped_column(Timestamp)
    version: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))


class StockImport(Base):
    """The digest of a file that was imported into an event's stock; the same bytes are imported once."""

    __tablename__ = "inventory_import"

    event_id: Mapped[str] = mapped_column(ForeignKey("event.id", ondelete="CASCADE"), primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class StockJob(EventRow, Base):
    """A background job: its parameters, progress and result. Kept for seven days."""

    __tablename__ = "inventory_job"
    __table_args__ = (
        CheckConstraint("status IN ('queued', 'running', 'done', 'failed')", name="status"),
        Index("ix_inventory_job_created", "created_at"),
        Index("ix_inventory_job_event", "event_id"),
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = mapped_column(ForeignKey("event.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ObjectId)
    kind: Mapped[str] = mapped_column(String(20))
    status: Mapped[str] = mapped_column(String(10), default="queued")
    progress: Mapped[int] = mapped_column(SmallInteger, default=0, server_default=text("0"))
    asked: Mapped[JsonObject] = mapped_column(JSONB, default=dict)
    input: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    result: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    file: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    file_name: Mapped[str | None] = mapped_column(String(120))
    file_type: Mapped[str | None] = mapped_column(String(120))
    error: Mapped[str | None] = mapped_column(String(500))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)
