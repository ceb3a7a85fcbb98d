"""Tables of applications: the application, its links and documents, the payments of its stall fee, and their reviews."""

import secrets
from datetime import date, datetime

from sqlalchemy import (
    CHAR,
    BigInteger,
    Boolean,
    CheckConstraint,
    Date,
    ForeignKey,
    Identity,
    Index,
    Integer,
    SmallInteger,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.applications.states import (
    DOCUMENTS,
    LINK_PURPOSES,
    PAYMENT_STEPS,
    REFUND_METHODS,
    REFUND_STATES,
    RISK_LEVELS,
    STATES,
    SUBMITTED,
    check_step,
)
from app.core.db import Base, ObjectId, Timestamp, id_column, one_of
from app.events.event_rows import EventRow, event_column
from app.invoicing.documents import DocumentJson

PAYMENT_STATES = tuple(PAYMENT_STEPS)
RECEIVED, WAIVED = FEE_RECORD_KINDS = ("received", "waived")
UNFINISHED_PAYMENT_STATES = ("starting", "otp_required", "processing")
REFERENCE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""30 characters without those that look alike: 30^8 references, short enough for the telephone."""
REFERENCE_LENGTH = 8


def generate_reference(random_bytes: bytes | None = None) -> str:
    """The reference of an application: always the same one for the same bytes, without any a random one."""
    number = int.from_bytes(random_bytes or secrets.token_bytes(32), "big")
    digits = []
    for _ in range(REFERENCE_LENGTH):
        number, index = divmod(number, len(REFERENCE_ALPHABET))
        digits.append(REFERENCE_ALPHABET[index])
    return "MA-" + "".join(digits)


def _build_list_indexes(scope: str, where: str) -> tuple[Index, ...]:
    """Indexes for each order of the list, within one scope: with them a page costs the same for every caller."""
    leading_columns = [scope] if scope else []
    name_prefix = f"ix_merchant_application_{scope or 'all'}"
    condition = text(where) if where else None
    return (
        Index(f"{name_prefix}_created", *leading_columns, "created_at", "id", postgresql_where=condition),
        Index(f"{name_prefix}_updated", *leading_columns, "updated_at", "id", postgresql_where=condition),
        Index(f"{name_prefix}_amount", *leading_columns, "amount_minor", "id", postgresql_where=condition),
        Index(f"{name_prefix}_status", *leading_columns, "status", "created_at", "id", postgresql_where=condition),
    )


class Application(Base):
    """A merchant's request for a stall. `organiser_id` is the event's organiser, copied so that lists need no join.

    `event_invite_id` is the invitation from the directory whose acceptance made it. `refunded_at` is set when the whole
    fee was sent back, `documents_reopened_at` when documents were asked for again after the approval.
    """

    __tablename__ = "merchant_application"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (
        one_of("status", STATES),
        one_of("decision", ("approved", "declined")),
        one_of("risk_level", RISK_LEVELS),
        CheckConstraint("amount_minor >= 0", name="amount"),
        *_build_list_indexes("", ""),
        *_build_list_indexes("organiser_id", "organiser_id IS NOT NULL"),
        *_build_list_indexes("event_id", "event_id IS NOT NULL"),
        *_build_list_indexes("account_id", "account_id IS NOT NULL"),
        Index(
            "uq_merchant_application_event_invite",
            "event_invite_id",
            unique=True,
            postgresql_where=text("event_invite_id IS NOT NULL"),
        ),
    )

    id: Mapped[str] = id_column()
    reference: Mapped[str] = mapped_column(String(12, collation="C"), unique=True, default=generate_reference)
    status: Mapped[str] = mapped_column(String(20), default=SUBMITTED)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    event_id: Mapped[str | None] = mapped_column(ForeignKey("event.id"))
    organiser_id: Mapped[str | None] = mapped_column(ForeignKey("account.id"))
    invite_slug: Mapped[str | None] = mapped_column(String(80))
    event_invite_id: Mapped[str | None] = mapped_column(ObjectId)
    business_name: Mapped[str | None] = mapped_column(String(200))
    contact_name: Mapped[str | None] = mapped_column(String(120))
    email: Mapped[str | None] = mapped_column(String(254))
    phone: Mapped[str | None] = mapped_column(String(20))
    stall_type: Mapped[str | None] = mapped_column(String(120))
    products: Mapped[str | None] = mapped_column(String(1000))
    description: Mapped[str | None] = mapped_column(String(2000))
    website: Mapped[str | None] = mapped_column(String(300))
    language: Mapped[str | None] = mapped_column(String(2))
    billing_address: Mapped[str | None] = mapped_column(String(500))
    billing_vat_number: Mapped[str | None] = mapped_column(String(20))
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    destination: Mapped[str] = mapped_column(String(20))
    mode: Mapped[str] = mapped_column(String(20))
    scheduled_for: Mapped[datetime | None] = mapped_column(Timestamp)
    payrail_msisdn: Mapped[str | None] = mapped_column(String(20))
    decision: Mapped[str | None] = mapped_column(String(20))
    decline_reason: Mapped[str | None] = mapped_column(String(1000))
    reviewer_notes: Mapped[str | None] = mapped_column(String(2000))
    risk_level: Mapped[str | None] = mapped_column(String(10))
    waitlist_rank: Mapped[int | None] = mapped_column(Integer)
    decided_at: Mapped[datetime | None] = mapped_column(Timestamp)
    decided_by: Mapped[str | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"), index=True)
    documents_required: Mapped[list[str]] = mapped_column(ARRAY(String(40)), default=list, server_default=text("'{}'"))
    documents_submitted_at: Mapped[datetime | None] = mapped_column(Timestamp)
    documents_reopened_at: Mapped[datetime | None] = mapped_column(Timestamp)
    paid_at: Mapped[datetime | None] = mapped_column(Timestamp)
    waived_at: Mapped[datetime | None] = mapped_column(Timestamp)
    refunded_at: Mapped[datetime | None] = mapped_column(Timestamp)
    activated_at: Mapped[datetime | None] = mapped_column(Timestamp)
    activation_message: Mapped[str | None] = mapped_column(String(1000))
    erased_at: Mapped[datetime | None] = mapped_column(Timestamp)
    version: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now(), onupdate=func.now())

    @property
    def documents_due(self) -> bool:
        return bool(self.documents_required) and self.documents_submitted_at is None

    def get_due_since(self, purpose: str) -> datetime | None:
        """Since when documents, the fee or the activation are due; None before the approval."""
        return (self.documents_reopened_at if purpose == DOCUMENTS else None) or self.decided_at

    @property
    def payment_due(self) -> bool:
        return self.amount_minor > 0 and self.paid_at is None and self.waived_at is None

    @property
    def holds_money(self) -> bool:
        """Whether the organiser has the fee, or a part of it."""
        return self.paid_at is not None and self.refunded_at is None

    def set_status(self, status: str) -> None:
        """Sets the state. Raises StepNotAllowed."""
        self.status = check_step(self.status, status)
        self.version += 1


class ApplicationLink(Base):
    """A link of one purpose. Its token is a keyed hash of the row; the row stores only the token's fingerprint.

    `shown` is set if a decider saw the token; then using it does not prove that the email is the applicant's. The link
    of an offer is made once per application: `answer` is what the applicant said.
    """

    __tablename__ = "application_link"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (
        one_of("purpose", LINK_PURPOSES),
        Index(
            "uq_application_link_living",
            "application_id",
            "purpose",
            unique=True,
            postgresql_where=text("replaced_at IS NULL"),
        ),
    )

    id: Mapped[str] = id_column()
    token_hash: Mapped[str] = mapped_column(CHAR(64), unique=True)
    application_id: Mapped[str] = mapped_column(ForeignKey("merchant_application.id", ondelete="CASCADE"), index=True)
    purpose: Mapped[str] = mapped_column(String(20))
    shown: Mapped[bool] = mapped_column(Boolean, default=False)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    replaced_at: Mapped[datetime | None] = mapped_column(Timestamp)
    answer: Mapped[str | None] = mapped_column(String(10))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class ApplicationDocument(Base):
    """A document of one kind; a later upload replaces it. Its bytes are in the private file storage.

    `carried_from` is the reference of the earlier application of the merchant that it was copied from. A decider may ask
    for it again: then it does not count, and a later upload replaces it. `opened_at` is when a decider first opened it,
    `accepted_at` when one accepted it; it counts before.
    """

    __tablename__ = "application_document"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (UniqueConstraint("application_id", "kind"),)

    id: Mapped[str] = id_column()
    application_id: Mapped[str] = mapped_column(ForeignKey("merchant_application.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(40))
    file_name: Mapped[str] = mapped_column(String(200))
    content_type: Mapped[str] = mapped_column(String(40))
    size: Mapped[int] = mapped_column(Integer)
    stored_as: Mapped[str] = mapped_column(String(120))
    expires_on: Mapped[date | None] = mapped_column(Date)
    carried_from: Mapped[str | None] = mapped_column(String(12))
    asked_again_at: Mapped[datetime | None] = mapped_column(Timestamp)
    asked_again_reason: Mapped[str | None] = mapped_column(String(500))
    opened_at: Mapped[datetime | None] = mapped_column(Timestamp)
    accepted_at: Mapped[datetime | None] = mapped_column(Timestamp)
    accepted_by: Mapped[str | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"), index=True)
    uploaded_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class ApplicationDraft(EventRow, Base):
    """An application form that somebody goes on with later, by a mailed link. Its token is derived from the id.

    `form_values` has the texts of the form as they were typed.
    """

    __tablename__ = "application_draft"
    __table_args__ = (
        Index("ix_application_draft_event", "event_id"),
        Index("ix_application_draft_expires", "expires_at"),
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = event_column()
    invite_slug: Mapped[str | None] = mapped_column(String(80))
    email: Mapped[str] = mapped_column(String(254))
    form_values: Mapped[dict[str, str]] = mapped_column(JSONB)
    language: Mapped[str | None] = mapped_column(String(2))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    expires_at: Mapped[datetime] = mapped_column(Timestamp)


class StallPayment(Base):
    """One attempt to pay a stall fee. At most one per application is running or paid; its id is the rail's reference.

    `answered` is the number of tries with a known outcome. While it is less than `tries`, a confirmation may have
    reached the rail, and the money may have been taken. `captured_at` is set when the rail took money that was no
    longer due, `refunded_at` when it returned that money or a paid fee.
    """

    __tablename__ = "stall_payment"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (
        one_of("status", PAYMENT_STATES),
        Index(
            "uq_stall_payment_counting",
            "application_id",
            unique=True,
            postgresql_where=text("status IN ('starting', 'otp_required', 'processing', 'paid')"),
        ),
        Index("ix_stall_payment_application", "application_id", "created_at"),
        Index(
            "ix_stall_payment_open", "application_id", postgresql_where=text("tries > answered AND status <> 'paid'")
        ),
    )

    id: Mapped[str] = id_column()
    application_id: Mapped[str] = mapped_column(ForeignKey("merchant_application.id", ondelete="CASCADE"))
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    msisdn: Mapped[str] = mapped_column(String(20))
    status: Mapped[str] = mapped_column(String(20))
    tries: Mapped[int] = mapped_column(Integer, default=0)
    answered: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    paid_at: Mapped[datetime | None] = mapped_column(Timestamp)
    captured_at: Mapped[datetime | None] = mapped_column(Timestamp)
    refunded_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class StallFeeRecord(Base):
    """A stall fee that was received by bank transfer, or waived; one row per application."""

    __tablename__ = "stall_fee_record"
    __table_args__ = (
        one_of("kind", FEE_RECORD_KINDS),
        CheckConstraint("amount_minor > 0", name="amount"),
        CheckConstraint("(kind = 'received') = (received_on IS NOT NULL AND reference IS NOT NULL)", name="received"),
    )

    application_id: Mapped[str] = mapped_column(
        ForeignKey("merchant_application.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[str] = mapped_column(String(10))
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    reference: Mapped[str | None] = mapped_column(String(80))
    received_on: Mapped[date | None] = mapped_column(Date)
    reason: Mapped[str | None] = mapped_column(String(500))
    recorded_by: Mapped[str] = mapped_column(ObjectId)
    recorded_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class StallFeeRefund(Base):
    """The refund of a stall fee, or of a part of it; one row per application.

    By the rail it is `requested` until the rail has `refunded` or `refused` it. By transfer it is `refunded` at once,
    because the organiser has sent the money.
    """

    __tablename__ = "stall_fee_refund"
    __table_args__ = (
        one_of("status", REFUND_STATES),
        one_of("method", REFUND_METHODS),
        CheckConstraint("amount_minor > 0", name="amount"),
        CheckConstraint("(status = 'refunded') = (refunded_at IS NOT NULL)", name="refunded_at"),
    )

    application_id: Mapped[str] = mapped_column(
        ForeignKey("merchant_application.id", ondelete="CASCADE"), primary_key=True
    )
    status: Mapped[str] = mapped_column(String(10))
    method: Mapped[str] = mapped_column(String(10))
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    reference: Mapped[str | None] = mapped_column(String(80))
    reason: Mapped[str] = mapped_column(String(500))
    recorded_by: Mapped[str] = mapped_column(ObjectId)
    recorded_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    refunded_at: Mapped[datetime | None] = mapped_column(Timestamp)


class FeeDocument:
    """A document of an application with a number. A trigger refuses changes and deletion; `paper` is it as JSON."""

    id: Mapped[str] = id_column()
    application_id: Mapped[str] = mapped_column(ForeignKey("merchant_application.id"), unique=True)
    organiser_id: Mapped[str] = mapped_column(ForeignKey("account.id"))
    year: Mapped[int] = mapped_column(SmallInteger)
    sequence: Mapped[int] = mapped_column(Integer)
    number: Mapped[str] = mapped_column(String(20, collation="C"))
    total_minor: Mapped[int] = mapped_column(BigInteger)
    paper: Mapped[DocumentJson] = mapped_column(JSONB)
    issued_at: Mapped[datetime] = mapped_column(Timestamp)


class FeeInvoice(FeeDocument, Base):
    """The invoice of a paid stall fee."""

    __tablename__ = "stall_fee_invoice"
    __table_args__ = (
        CheckConstraint("total_minor > 0", name="amount"),
        UniqueConstraint("organiser_id", "year", "sequence"),
    )


class FeeCreditNote(FeeDocument, Base):
    """The credit note for a refunded stall fee; its total is negative. One row per application, as of the refund."""

    __tablename__ = "stall_fee_credit_note"
    __table_args__ = (
        CheckConstraint("total_minor < 0", name="amount"),
        UniqueConstraint("organiser_id", "year", "sequence"),
    )


class StallPaymentReview(Base):
    """A stall payment with contradicting facts, for an operator; one open row per reference and kind."""

    __tablename__ = "stall_payment_review"
    __table_args__ = (
        Index(
            "uq_stall_payment_review_open",
            "reference",
            "kind",
            unique=True,
            postgresql_where=text("resolved_at IS NULL"),
        ),
        Index("ix_stall_payment_review_reference", "reference", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    reference: Mapped[str] = mapped_column(String(80, collation="C"))
    kind: Mapped[str] = mapped_column(String(20))
    detail: Mapped[dict[str, object]] = mapped_column(JSONB, server_default=text("'{}'"))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    resolved_at: Mapped[datetime | None] = mapped_column(Timestamp)
    note: Mapped[str | None] = mapped_column(String(500))
