"""Tables of events, ticket types and tickets.

Lists that only the organiser edits as a whole (line-up, sponsors, promo codes …) are JSON columns; the API checks their
shape. Ticket types, phases and tickets are tables, because other tables refer to them.
"""

from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    CHAR,
    BigInteger,
    Boolean,
    CheckConstraint,
    Computed,
    Date,
    Double,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core.db import Base, ObjectId, Timestamp, Xid8, id_column, one_of
from app.events import availability
from app.events.event_rows import EventRow, event_column, parent_key
from app.events.reentry import NO_REENTRY, REENTRY_MODES
from app.events.ticket_holders import TICKET_SEARCH
from app.events.visibility import DRAFT, LISTED, PUBLIC_FROM

WEIGHTED_SEARCH = (
    "setweight(to_tsvector('simple', split_part(search_text, E'\\n', 1)), 'A')"
    " || to_tsvector('simple', split_part(search_text, E'\\n', 2))"
)


StoredObject = dict[str, Any]
"""An object of a JSON column, with the names of the API."""


def _json_list() -> Mapped[list[StoredObject]]:
    return mapped_column(JSONB, default=list, server_default=text("'[]'"))


class Event(Base):
    """A festival or fair. `public_from` is when the public may first see it; null means never.

    A trigger sets the slug of a row that is inserted without one to its id.
    """

    __tablename__ = "event"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (
        CheckConstraint("ends_at > starts_at", name="ends_after_start"),
        CheckConstraint("visibility IN ('draft', 'published', 'unlisted', 'archived', 'cancelled')", name="visibility"),
        one_of("reentry", REENTRY_MODES),
        Index("ix_event_listed", "starts_at", "id", postgresql_where=text(LISTED)),
        Index("ix_event_listed_city", "city_key", "starts_at", "id", postgresql_where=text(LISTED)),
        Index("ix_event_listed_category", "category", "starts_at", "id", postgresql_where=text(LISTED)),
        Index(
            "ix_event_listed_search",
            "search",
            postgresql_using="gin",
            postgresql_where=text(LISTED),
            postgresql_with={"fastupdate": "off"},
        ),
        Index(
            "ix_event_listed_running",
            text("tstzrange(starts_at, ends_at)"),
            postgresql_using="gist",
            postgresql_where=text(LISTED),
        ),
        Index(
            "ix_event_listed_place",
            text("point(longitude, latitude)"),
            postgresql_using="gist",
            postgresql_where=text(f"{LISTED} AND latitude IS NOT NULL AND longitude IS NOT NULL"),
        ),
        Index("ix_event_organiser", "organiser_id", "starts_at", "id"),
        Index("uq_event_slug", "slug", unique=True),
    )

    id: Mapped[str] = id_column()
    organiser_id: Mapped[str] = mapped_column(ForeignKey("account.id"))
    slug: Mapped[str] = mapped_column(String(80, collation="C"))
    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str | None] = mapped_column(String(2000))
    cover_image_url: Mapped[str | None] = mapped_column(String(2048))
    poster_image_url: Mapped[str | None] = mapped_column(String(2048))
    venue: Mapped[str] = mapped_column(String(200))
    city: Mapped[str] = mapped_column(String(120))
    city_key: Mapped[str] = mapped_column(String(240, collation="C"))
    country: Mapped[str] = mapped_column(CHAR(2))
    latitude: Mapped[float | None] = mapped_column(Double)
    longitude: Mapped[float | None] = mapped_column(Double)
    timezone: Mapped[str] = mapped_column(String(64))
    starts_at: Mapped[datetime] = mapped_column(Timestamp)
    ends_at: Mapped[datetime] = mapped_column(Timestamp)
    sales_end_at: Mapped[datetime | None] = mapped_column(Timestamp)
    applications_end_at: Mapped[datetime | None] = mapped_column(Timestamp)
    tickets_url: Mapped[str | None] = mapped_column(String(2048))
    visibility: Mapped[str] = mapped_column(String(20), default=DRAFT)
    publish_at: Mapped[datetime | None] = mapped_column(Timestamp)
    was_public: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    reentry: Mapped[str] = mapped_column(String(10), default=NO_REENTRY, server_default=text("'none'"))
    public_from: Mapped[datetime | None] = mapped_column(Timestamp, Computed(PUBLIC_FROM, persisted=True))
    capacity: Mapped[int | None] = mapped_column(Integer)
    category: Mapped[str | None] = mapped_column(String(20))
    is_cashless: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    keywords: Mapped[list[str]] = mapped_column(ARRAY(String(80)), default=list, server_default=text("'{}'"))
    allowed_payment_option_slugs: Mapped[list[str]] = mapped_column(
        ARRAY(String(80)), default=list, server_default=text("'{}'")
    )
    promo_codes: Mapped[list[StoredObject]] = _json_list()
    bulk_discounts: Mapped[list[StoredObject]] = _json_list()
    payment_method_discounts: Mapped[list[StoredObject]] = _json_list()
    sponsors: Mapped[list[StoredObject]] = _json_list()
    stall_types: Mapped[list[StoredObject]] = _json_list()
    tables: Mapped[list[StoredObject]] = _json_list()
    lineup: Mapped[list[StoredObject]] = _json_list()
    promotion: Mapped[StoredObject | None] = mapped_column(JSONB(none_as_null=True))
    search_text: Mapped[str] = mapped_column(Text, default="")
    search: Mapped[str] = mapped_column(TSVECTOR, Computed(WEIGHTED_SEARCH, persisted=True), deferred=True)
    version: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now(), onupdate=func.now())

    ticket_types: Mapped[list["TicketType"]] = relationship(
        order_by="TicketType.position", lazy="selectin", passive_deletes=True
    )


class TicketType(EventRow, Base):
    """A kind of ticket and its counters. Only `availability` changes the counters."""

    __tablename__ = "ticket_type"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (
        CheckConstraint("public >= 0", name="public"),
        CheckConstraint(
            "least(total, sold, available, invited, claimed, admitted, oversold, revoked, released) >= 0",
            name="counters",
        ),
        UniqueConstraint("event_id", "name_key", deferrable=True, initially="DEFERRED"),
        Index("ix_ticket_type_event", "event_id", "position"),
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = mapped_column(ForeignKey("event.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer)
    name: Mapped[str] = mapped_column(String(120))
    name_key: Mapped[str] = mapped_column(String(240, collation="C"))
    description: Mapped[str | None] = mapped_column(String(1000))
    price_minor: Mapped[int] = mapped_column(BigInteger)
    min_per_order: Mapped[int | None] = mapped_column(Integer)
    max_per_order: Mapped[int | None] = mapped_column(Integer)
    valid_from: Mapped[datetime | None] = mapped_column(Timestamp)
    valid_until: Mapped[datetime | None] = mapped_column(Timestamp)
    total: Mapped[int] = mapped_column(Integer)
    sold: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    available: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    invited: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    claimed: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    admitted: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    oversold: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    revoked: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    released: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    allocated: Mapped[int] = mapped_column(Integer, Computed(availability.ALLOCATED, persisted=True))
    public: Mapped[int] = mapped_column(Integer, Computed(availability.PUBLIC, persisted=True))

    phases: Mapped[list["PricePhase"]] = relationship(
        order_by="PricePhase.position", lazy="selectin", cascade="all, delete-orphan", passive_deletes=True
    )

    @property
    def quantity(self) -> int:
        """The name of `total` in the API."""
        return self.total


class PricePhase(EventRow, Base):
    """A price for a period, or until a number of tickets is sold."""

    __tablename__ = "price_phase"
    __table_args__ = (
        parent_key("ticket_type_id", "ticket_type", ondelete="CASCADE"),
        Index("ix_price_phase_type", "ticket_type_id", "position"),
    )

    id: Mapped[str] = id_column()
    ticket_type_id: Mapped[str] = mapped_column(ObjectId)
    position: Mapped[int] = mapped_column(Integer)
    name: Mapped[str] = mapped_column(String(120))
    starts_at: Mapped[datetime | None] = mapped_column(Timestamp)
    ends_at: Mapped[datetime | None] = mapped_column(Timestamp)
    price_minor: Mapped[int] = mapped_column(BigInteger)
    quantity: Mapped[int | None] = mapped_column(Integer)


class Ticket(EventRow, Base):
    """A ticket sold elsewhere and imported. `reference` is the seller's number of it, unique within the event.

    - `order_number` is the seller's number of the order, which has several tickets.
    - `secret` is what its QR code or barcode says.
    - `valid_from` and `valid_until` limit this ticket; without them those of its type count.
    - `admitted_at` is the first entry that was not undone; `left_at` is set while the guest is outside again.
    - `transaction_id` is of the last import that changed the ticket, for readers of changes.
    """

    __tablename__ = "ticket"
    __table_args__ = (
        parent_key("ticket_type_id", "ticket_type"),
        UniqueConstraint("event_id", "reference"),
        CheckConstraint("status IN ('sold', 'cancelled', 'refunded')", name="status"),
        Index("uq_ticket_secret", "event_id", "secret", unique=True, postgresql_where=text("secret IS NOT NULL")),
        Index("ix_ticket_change", "event_id", "transaction_id", postgresql_where=text("transaction_id IS NOT NULL")),
        Index("ix_ticket_takings", "ticket_type_id", "status", "event_id", "price_minor"),
        Index("ix_ticket_holders", "event_id", "email", postgresql_where=text("status = 'sold'")),
        Index(
            "ix_ticket_order_number",
            "event_id",
            text("upper(order_number)"),
            postgresql_where=text("order_number IS NOT NULL"),
        ),
        Index("ix_ticket_search", "search", postgresql_using="gin", postgresql_where=text("status = 'sold'")),
        {"postgresql_with": {"fillfactor": "85"}},
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = event_column()
    ticket_type_id: Mapped[str] = mapped_column(ObjectId)
    reference: Mapped[str] = mapped_column(String(120, collation="C"))
    name: Mapped[str | None] = mapped_column(String(200))
    email: Mapped[str | None] = mapped_column(String(254))
    price_minor: Mapped[int] = mapped_column(BigInteger)
    sold_at: Mapped[datetime] = mapped_column(Timestamp)
    status: Mapped[str] = mapped_column(String(20))
    imported_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    order_number: Mapped[str | None] = mapped_column(String(120))
    secret: Mapped[str | None] = mapped_column(String(200, collation="C"))
    valid_from: Mapped[datetime | None] = mapped_column(Timestamp)
    valid_until: Mapped[datetime | None] = mapped_column(Timestamp)
    admitted_at: Mapped[datetime | None] = mapped_column(Timestamp)
    left_at: Mapped[datetime | None] = mapped_column(Timestamp)
    transaction_id: Mapped[str | None] = mapped_column(Xid8)
    search: Mapped[str] = mapped_column(TSVECTOR, Computed(TICKET_SEARCH, persisted=True), deferred=True)


class TicketImport(EventRow, Base):
    """An import of tickets that wrote something or found everything as it was. `number` is its order within the event.

    - `cancelled` counts the updated tickets that were sold before and are not any more.
    - `new_type_ids` are the ticket types that it created.
    - `undo_transaction_id` is of the transaction that undid it, for readers of changes.
    """

    __tablename__ = "ticket_import"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (
        UniqueConstraint("event_id", "number"),
        CheckConstraint("(undone_at IS NULL) = (undo_transaction_id IS NULL)", name="undone"),
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = mapped_column(ForeignKey("event.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(Integer)
    file_name: Mapped[str | None] = mapped_column(String(200))
    format: Mapped[str] = mapped_column(String(20))
    digest: Mapped[str] = mapped_column(CHAR(64))
    imported_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    imported_by: Mapped[str | None] = mapped_column(String(200))
    created: Mapped[int] = mapped_column(Integer)
    updated: Mapped[int] = mapped_column(Integer)
    unchanged: Mapped[int] = mapped_column(Integer)
    skipped: Mapped[int] = mapped_column(Integer)
    cancelled: Mapped[int] = mapped_column(Integer)
    new_type_ids: Mapped[list[str]] = mapped_column(ARRAY(ObjectId), default=list, server_default=text("'{}'"))
    undone_at: Mapped[datetime | None] = mapped_column(Timestamp)
    undone_by: Mapped[str | None] = mapped_column(String(200))
    undo_transaction_id: Mapped[str | None] = mapped_column(Xid8)


class TicketImportChange(EventRow, Base):
    """A ticket that an import created or changed, with the values that it had before; null in `status` if it is new."""

    __tablename__ = "ticket_import_change"
    __table_args__ = (
        parent_key("import_id", "ticket_import", ondelete="CASCADE"),
        Index("ix_ticket_import_change_ticket", "event_id", "ticket_id"),
    )

    import_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    ticket_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    ticket_type_id: Mapped[str | None] = mapped_column(ObjectId)
    name: Mapped[str | None] = mapped_column(String(200))
    email: Mapped[str | None] = mapped_column(String(254))
    price_minor: Mapped[int | None] = mapped_column(BigInteger)
    sold_at: Mapped[datetime | None] = mapped_column(Timestamp)
    status: Mapped[str | None] = mapped_column(String(20))
    order_number: Mapped[str | None] = mapped_column(String(120))
    secret: Mapped[str | None] = mapped_column(String(200, collation="C"))
    valid_from: Mapped[datetime | None] = mapped_column(Timestamp)
    valid_until: Mapped[datetime | None] = mapped_column(Timestamp)


class TicketTally(EventRow, Base):
    """The figures of a ticket type on one day of the event's time zone, for charts."""

    __tablename__ = "ticket_tally"
    __table_args__ = (parent_key("ticket_type_id", "ticket_type", ondelete="CASCADE"),)

    ticket_type_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    sold: Mapped[int] = mapped_column(Integer, default=0)
    allocated: Mapped[int] = mapped_column(Integer, default=0)
    invited: Mapped[int] = mapped_column(Integer, default=0)
    claimed: Mapped[int] = mapped_column(Integer, default=0)
    admitted: Mapped[int] = mapped_column(Integer, default=0)
    revoked: Mapped[int] = mapped_column(Integer, default=0)
    released: Mapped[int] = mapped_column(Integer, default=0)
    revenue_minor: Mapped[int] = mapped_column(BigInteger, default=0)


class TicketAdmission(EventRow, Base):
    """How many were admitted of a ticket type, with tickets of one block, on one day of the event's time zone.

    Each connection counts in its own stripe, so scanners do not wait for each other; a figure is the sum of the
    stripes. Admitted places are also among the `claimed` of the ticket type and the block.
    """

    __tablename__ = "ticket_admission"
    __table_args__ = (
        parent_key("ticket_type_id", "ticket_type", ondelete="CASCADE"),
        Index("ix_ticket_admission_block", "block_id"),
        {"postgresql_with": {"fillfactor": "50"}},
    )

    ticket_type_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    block_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    stripe: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    count: Mapped[int] = mapped_column(Integer)
