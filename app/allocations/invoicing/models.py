"""Tables of invoices, credit notes, and the counters of their numbers."""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.allocations.invoicing.invoice_document import CREDIT_NOTE, INVOICE, DocumentJson
from app.core.db import Base, Timestamp, id_column


class InvoiceCounter(Base):
    """The last number of an organiser's series in a year. Taking the next one locks the row until the commit."""

    __tablename__ = "invoice_counter"

    organiser_id: Mapped[str] = mapped_column(ForeignKey("account.id"), primary_key=True)
    series: Mapped[str] = mapped_column(String(20), primary_key=True)
    year: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    last: Mapped[int] = mapped_column(Integer)


class Invoice(Base):
    """An invoice or a credit note. A trigger refuses changes and deletion; `paper` is its `InvoiceDocument` as JSON.

    `quantity` is how many places are charged or credited; `total_minor` is negative for a credit note.
    """

    __tablename__ = "invoice"
    __table_args__ = (
        CheckConstraint(f"kind IN ('{INVOICE}', '{CREDIT_NOTE}')", name="kind"),
        CheckConstraint(f"quantity > 0 AND (total_minor > 0) = (kind = '{INVOICE}')", name="amounts"),
        UniqueConstraint("organiser_id", "kind", "year", "sequence"),
        Index("uq_invoice_block", "block_id", unique=True, postgresql_where=text(f"kind = '{INVOICE}'")),
        Index("ix_invoice_block", "block_id", "id"),
    )

    id: Mapped[str] = id_column()
    block_id: Mapped[str] = mapped_column(ForeignKey("allocation_block.id"))
    organiser_id: Mapped[str] = mapped_column(ForeignKey("account.id"))
    kind: Mapped[str] = mapped_column(String(20))
    year: Mapped[int] = mapped_column(SmallInteger)
    sequence: Mapped[int] = mapped_column(Integer)
    number: Mapped[str] = mapped_column(String(20, collation="C"))
    quantity: Mapped[int] = mapped_column(Integer)
    total_minor: Mapped[int] = mapped_column(BigInteger)
    paper: Mapped[DocumentJson] = mapped_column(JSONB, deferred=True)
    issued_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.clock_timestamp())
