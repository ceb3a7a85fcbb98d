"""Tables of allocations: blocks, slots and the events of each slot; invoices; ticket packs.

A change of a block or its slots locks the block's row first (see `queries.py`). The row has counters, so lists do not
count slots. An admission changes no indexed column, so PostgreSQL updates the slot in place.
"""

from datetime import date, datetime
from typing import TypedDict

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Computed,
    Date,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    SmallInteger,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from app.allocations import states
from app.allocations.states import DONE, QUEUED, RUNNING
from app.core.db import Base, ObjectId, Timestamp, Xid8, id_column, one_of
from app.events.event_rows import EventRow, event_column, parent_key
from app.events.ticket_holders import NAMED, holder_search
from app.invoicing.documents import CREDIT_NOTE, INVOICE, DocumentJson

HELD_SQL = "available + invited + claimed + admitted"
FREE_SLOT_CONDITION = "given_at IS NULL AND ended_at IS NULL"
CLAIMED_SLOT_CONDITION = "claimed_at IS NOT NULL AND ended_at IS NULL"
NAME_KEY_SQL = f"left({NAMED}, 240)"
SEARCH_SQL = holder_search("code")


class DiscountJson(TypedDict):
    """A discount as a block stores it (`pricing.Discount`)."""

    code: str
    label: str
    percent_off: float | None
    amount_off_minor: int | None


class ReleaseStepJson(TypedDict):
    """A step of a release plan as a block stores it; times are RFC 3339 in UTC. See `release_plan.py`."""

    id: str
    due_at: str
    quantity: int | None
    percent: int | None
    released_at: str | None
    released: int | None


def _build_counter_column() -> Mapped[int]:
    return mapped_column(Integer, default=0, server_default=text("0"))


class AllocationBlock(EventRow, Base):
    """Places of one ticket type for a holder. `unit_price_minor` is in cents with VAT, before `discounts`.

    A link is valid while `…_live` is set and its generation is the present one; `open_claims` counts the places that
    were claimed by the present open link. The `buyer_…` columns are for the invoice, whose buyer is the holder by default; `pay_by`
    is the day until which it is to be paid.
    """

    __tablename__ = "allocation_block"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (
        one_of("status", states.BLOCK_STATES),
        one_of("kind", states.BLOCK_KINDS),
        CheckConstraint("least(available, invited, claimed, admitted, revoked, released) >= 0", name="counters"),
        CheckConstraint("held <= quantity AND quantity >= 0", name="quantity"),
        CheckConstraint("unit_price_minor >= 0", name="unit_price"),
        CheckConstraint("open_max_claims IS NULL OR open_claims <= open_max_claims", name="open_claims"),
        parent_key("ticket_type_id", "ticket_type"),
        UniqueConstraint("id", "event_id", "ticket_type_id"),
        Index("ix_allocation_block_event", "event_id", "created_at", "id"),
        Index("ix_allocation_block_ticket_type", "ticket_type_id"),
        Index(
            "ix_allocation_block_promo_code", "event_id", "promo_code", postgresql_where=text("promo_code IS NOT NULL")
        ),
        Index("ix_allocation_block_release", "release_at", postgresql_where=text("release_at IS NOT NULL")),
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = event_column()
    ticket_type_id: Mapped[str] = mapped_column(ObjectId)
    name: Mapped[str | None] = mapped_column(String(120))
    kind: Mapped[str] = mapped_column(String(20))
    holder_name: Mapped[str | None] = mapped_column(String(200))
    holder_email: Mapped[str | None] = mapped_column(String(254))
    holder_phone: Mapped[str | None] = mapped_column(String(20))
    holder_organisation: Mapped[str | None] = mapped_column(String(200))
    buyer_name: Mapped[str | None] = mapped_column(String(200))
    buyer_address: Mapped[str | None] = mapped_column(String(500))
    buyer_vat_number: Mapped[str | None] = mapped_column(String(20))
    buyer_reference: Mapped[str | None] = mapped_column(String(80))
    pay_by: Mapped[date | None] = mapped_column(Date)
    quantity: Mapped[int] = mapped_column(Integer)
    unit_price_minor: Mapped[int] = mapped_column(BigInteger)
    discounts: Mapped[list[DiscountJson]] = mapped_column(JSONB, default=list, server_default=text("'[]'"))
    promo_code: Mapped[str | None] = mapped_column(String(40))
    release_at: Mapped[datetime | None] = mapped_column(Timestamp)
    release_plan: Mapped[list[ReleaseStepJson]] = mapped_column(JSONB, default=list, server_default=text("'[]'"))
    notes: Mapped[str | None] = mapped_column(String(2000))
    guests_may_pass_on: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    guests_may_give_back: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    status: Mapped[str] = mapped_column(String(20), default=states.OPEN)
    available: Mapped[int] = _build_counter_column()
    invited: Mapped[int] = _build_counter_column()
    claimed: Mapped[int] = _build_counter_column()
    admitted: Mapped[int] = _build_counter_column()
    revoked: Mapped[int] = _build_counter_column()
    released: Mapped[int] = _build_counter_column()
    held: Mapped[int] = mapped_column(Integer, Computed(HELD_SQL, persisted=True))
    allocator_generation: Mapped[int] = _build_counter_column()
    allocator_live: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    open_generation: Mapped[int] = _build_counter_column()
    open_live: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    open_max_claims: Mapped[int | None] = mapped_column(Integer)
    open_max_per_claim: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    open_expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    open_claims: Mapped[int] = _build_counter_column()
    created_by: Mapped[str | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"), index=True)
    version: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class AllocationSlot(EventRow, Base):
    """One place of a block. Event and ticket type are copied from the block for the gate.

    - `generation` is part of the claim link. A slot that gets another guest has the next generation and a new `code`.
    - `code` is the claim code of an invited slot, and the ticket's code of a claimed one. The claim code then moves to
      `claim_code`; slots claimed before this column existed have one code for both.
    - `party_id` is the id of the first slot that was claimed together with this one. A slot that gets another guest
      leaves its party: it has a `party_id` of its own and a `party_size` of 1.
    - `language` is that of the page on which the guest claimed, for their mails.
    - `given_at` is when the slot was invited or claimed, `ended_at` when it was revoked or released.
    - `admitted_by` is the id of an account. `left_at` is set while an admitted guest is outside again.
    """

    __tablename__ = "allocation_slot"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (
        one_of("status", states.SLOT_STATES),
        one_of("via", states.VIA_VALUES),
        one_of("delivery", states.DELIVERIES),
        CheckConstraint("(status IN ('revoked', 'released')) = (ended_at IS NOT NULL)", name="ended"),
        CheckConstraint("(status = 'admitted') = (admitted_at IS NOT NULL)", name="admitted"),
        CheckConstraint("status NOT IN ('claimed', 'admitted') OR claimed_at IS NOT NULL", name="claimed"),
        CheckConstraint("(given_at IS NULL) = (status = 'available') OR ended_at IS NOT NULL", name="given"),
        CheckConstraint("party_size >= 1", name="party_size"),
        ForeignKeyConstraint(
            ["block_id", "event_id", "ticket_type_id"],
            ["allocation_block.id", "allocation_block.event_id", "allocation_block.ticket_type_id"],
        ),
        Index("ix_allocation_slot_block", "block_id", "id"),
        Index("ix_allocation_slot_free", "block_id", "id", postgresql_where=text(FREE_SLOT_CONDITION)),
        Index("ix_allocation_slot_email", "block_id", "email", postgresql_where=text("ended_at IS NULL")),
        Index(
            "uq_allocation_slot_claim_code", "claim_code", unique=True, postgresql_where=text("claim_code IS NOT NULL")
        ),
        Index(
            "uq_allocation_slot_open_link",
            "block_id",
            "email",
            "event_id",
            unique=True,
            postgresql_where=text("via = 'open' AND id = party_id AND ended_at IS NULL"),
        ),
        Index("ix_allocation_slot_party", "party_id", postgresql_where=text("party_size > 1")),
        # The migration gives this index the database's default collation, as tickets have; a model cannot.
        Index("ix_allocation_slot_holders", "event_id", "email", postgresql_where=text(CLAIMED_SLOT_CONDITION)),
        Index("ix_allocation_slot_gate", "event_id", "name_key", "id", postgresql_where=text(CLAIMED_SLOT_CONDITION)),
        Index(
            "ix_allocation_slot_search",
            "search",
            postgresql_using="gin",
            postgresql_where=text(CLAIMED_SLOT_CONDITION),
            postgresql_with={"fastupdate": "off"},
        ),
        {"postgresql_with": {"fillfactor": "85"}},
    )

    id: Mapped[str] = id_column()
    block_id: Mapped[str] = mapped_column(ObjectId)
    ticket_type_id: Mapped[str] = mapped_column(ObjectId)
    status: Mapped[str] = mapped_column(String(20), default=states.AVAILABLE, server_default=text("'available'"))
    via: Mapped[str | None] = mapped_column(String(20))
    generation: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    code: Mapped[str | None] = mapped_column(String(10, collation="C"), unique=True)
    claim_code: Mapped[str | None] = mapped_column(String(10, collation="C"))
    name: Mapped[str | None] = mapped_column(String(200))
    email: Mapped[str | None] = mapped_column(String(254, collation="C"))
    phone: Mapped[str | None] = mapped_column(String(20))
    delivery: Mapped[str | None] = mapped_column(String(20))
    language: Mapped[str | None] = mapped_column(String(2))
    party_id: Mapped[str | None] = mapped_column(ObjectId)
    party_size: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    given_at: Mapped[datetime | None] = mapped_column(Timestamp)
    claimed_at: Mapped[datetime | None] = mapped_column(Timestamp)
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
    reminded_at: Mapped[datetime | None] = mapped_column(Timestamp)
    admitted_at: Mapped[datetime | None] = mapped_column(Timestamp)
    admitted_by: Mapped[str | None] = mapped_column(ObjectId)
    gate: Mapped[str | None] = mapped_column(String(80))
    nonce: Mapped[str | None] = mapped_column(String(80))
    left_at: Mapped[datetime | None] = mapped_column(Timestamp)
    version: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    name_key: Mapped[str] = mapped_column(String(240, collation="C"), Computed(NAME_KEY_SQL, persisted=True))
    search: Mapped[str] = mapped_column(TSVECTOR, Computed(SEARCH_SQL, persisted=True), deferred=True)


class SlotEvent(EventRow, Base):
    """One change of a slot: when, by whom, from which status to which. Events are never changed.

    `transaction_id` is of the transaction that changed the slot, for readers of changes.

    There are no foreign keys: events outlive their slots, and inserting 5,000 of them checks nothing.
    """

    __tablename__ = "allocation_slot_event"
    __table_args__ = (
        one_of("actor", states.ACTORS),
        Index("ix_allocation_slot_event_slot", "slot_id", "id"),
        Index(
            "ix_allocation_slot_event_change",
            "event_id",
            "transaction_id",
            postgresql_where=text("transaction_id IS NOT NULL AND verb <> 'admit'"),
        ),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    slot_id: Mapped[str] = mapped_column(ObjectId)
    block_id: Mapped[str] = mapped_column(ObjectId)
    verb: Mapped[str] = mapped_column(String(20))
    from_status: Mapped[str | None] = mapped_column(String(20))
    to_status: Mapped[str] = mapped_column(String(20))
    actor: Mapped[str] = mapped_column(String(20))
    actor_id: Mapped[str | None] = mapped_column(ObjectId)
    gate: Mapped[str | None] = mapped_column(String(80))
    at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    transaction_id: Mapped[str | None] = mapped_column(Xid8, server_default=text("pg_current_xact_id()"))


class Invoice(EventRow, Base):
    """An invoice or a credit note. A trigger refuses changes and deletion; `paper` is its `InvoiceDocument` as JSON.

    `quantity` is how many places are charged or credited; `total_minor` is negative for a credit note.
    """

    __tablename__ = "invoice"
    __table_args__ = (
        CheckConstraint(f"kind IN ('{INVOICE}', '{CREDIT_NOTE}')", name="kind"),
        CheckConstraint(f"quantity > 0 AND (total_minor > 0) = (kind = '{INVOICE}')", name="amounts"),
        UniqueConstraint("organiser_id", "kind", "year", "sequence"),
        parent_key("block_id", "allocation_block"),
        Index("uq_invoice_block", "block_id", "event_id", unique=True, postgresql_where=text(f"kind = '{INVOICE}'")),
        Index("ix_invoice_block", "block_id", "id"),
    )

    id: Mapped[str] = id_column()
    block_id: Mapped[str] = mapped_column(ObjectId)
    organiser_id: Mapped[str] = mapped_column(ForeignKey("account.id"))
    kind: Mapped[str] = mapped_column(String(20))
    year: Mapped[int] = mapped_column(SmallInteger)
    sequence: Mapped[int] = mapped_column(Integer)
    number: Mapped[str] = mapped_column(String(20, collation="C"))
    quantity: Mapped[int] = mapped_column(Integer)
    total_minor: Mapped[int] = mapped_column(BigInteger)
    paper: Mapped[DocumentJson] = mapped_column(JSONB, deferred=True)
    issued_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.clock_timestamp())


class InvoicePayment(EventRow, Base):
    """A bank transfer that paid a block's invoice or a part of it, at most what was due. `number` counts them from 1.

    Below zero is what the organiser has paid back after a credit note. A row with `takes_back` is the same amount the other
    way, because the payment with that number was recorded wrongly.
    """

    __tablename__ = "invoice_payment"
    __table_args__ = (
        CheckConstraint("amount_minor <> 0", name="amount"),
        CheckConstraint("number > 0", name="number"),
        CheckConstraint("takes_back < number AND (takes_back IS NULL) = (reason IS NULL)", name="takes_back"),
        parent_key("invoice_id", "invoice"),
        Index(
            "uq_invoice_payment_takes_back",
            "invoice_id",
            "takes_back",
            "event_id",
            unique=True,
            postgresql_where=text("takes_back IS NOT NULL"),
        ),
    )

    invoice_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    number: Mapped[int] = mapped_column(
        SmallInteger, primary_key=True, autoincrement=False, default=1, server_default=text("1")
    )
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    reference: Mapped[str] = mapped_column(String(80))
    received_on: Mapped[date] = mapped_column(Date)
    recorded_by: Mapped[str] = mapped_column(ObjectId)
    recorded_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    takes_back: Mapped[int | None] = mapped_column(SmallInteger)
    reason: Mapped[str | None] = mapped_column(String(200))

    @property
    def booking(self) -> str:
        """The reference of its transaction in the ledger."""
        return self.invoice_id if self.number == 1 else f"{self.invoice_id}-{self.number}"


class TicketPack(EventRow, Base):
    """Tickets of a block that were claimed together and printed as one PDF. `drawn` counts the tickets drawn so far."""

    __tablename__ = "ticket_pack"
    __table_args__ = (
        CheckConstraint(f"status IN ('{QUEUED}', '{RUNNING}', '{DONE}')", name="status"),
        parent_key("block_id", "allocation_block"),
        CheckConstraint("count > 0 AND drawn BETWEEN 0 AND count", name="count"),
        Index("ix_ticket_pack_block", "block_id", "created_at", "id"),
    )

    id: Mapped[str] = id_column()
    block_id: Mapped[str] = mapped_column(ObjectId)
    count: Mapped[int] = mapped_column(Integer)
    status: Mapped[str] = mapped_column(String(20))
    drawn: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    created_by: Mapped[str | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class TicketPackSlot(EventRow, Base):
    """The number of a slot in its pack. A slot is in one pack at most."""

    __tablename__ = "ticket_pack_slot"
    __table_args__ = (
        parent_key("slot_id", "allocation_slot"),
        parent_key("pack_id", "ticket_pack"),
        UniqueConstraint("pack_id", "number", "event_id"),
    )

    slot_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    pack_id: Mapped[str] = mapped_column(ObjectId)
    number: Mapped[int] = mapped_column(Integer)
