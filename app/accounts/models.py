"""Tables of accounts. One e-mail address is one account; it can hold several roles."""

from datetime import datetime

from sqlalchemy import (
    CHAR,
    Boolean,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, ObjectId, Timestamp, id_column

ROLES = ("customer", "merchant", "organiser", "admin")
TIERS = ("analyst", "support", "admin", "super_admin")
SUPER_ADMIN = TIERS[-1]
DELETED_DOMAIN = "deleted.invalid"
"""The domain of the addresses of deleted accounts: their ids @ this domain."""


class Account(Base):
    """A login of one person. A new password or address raises `password_version`, which voids tokens of the old one.

    A retired account was never verified and has lost its address to another account; it cannot be signed in to. Neither
    can a suspended one. An account is erased after `deletion_due_at`, unless its owner keeps it until then.
    """

    __tablename__ = "account"
    __table_args__ = (
        Index("ix_account_email_prefix", "email", postgresql_ops={"email": "varchar_pattern_ops"}),
        Index(
            "ix_account_name_search",
            text("to_tsvector('simple'::regconfig, name)"),
            postgresql_using="gin",
            postgresql_with={"fastupdate": "off"},
        ),
        Index("ix_account_deletion_due", "deletion_due_at", postgresql_where=text("deletion_due_at IS NOT NULL")),
    )
    id: Mapped[str] = id_column()
    email: Mapped[str] = mapped_column(String(254), unique=True)
    email_verified_at: Mapped[datetime | None] = mapped_column(Timestamp)
    password_hash: Mapped[str | None] = mapped_column(String(200))
    password_version: Mapped[int] = mapped_column(Integer, default=1)
    name: Mapped[str] = mapped_column(String(200))
    phone: Mapped[str | None] = mapped_column(String(20))
    language: Mapped[str | None] = mapped_column(String(2))
    second_factor_since: Mapped[datetime | None] = mapped_column(Timestamp)
    roles: Mapped[list[str]] = mapped_column(ARRAY(String(20)))
    admin_tier: Mapped[str | None] = mapped_column(String(20))
    admin_title: Mapped[str | None] = mapped_column(String(80))
    version: Mapped[int] = mapped_column(Integer, default=1)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now(), onupdate=func.now())
    retired_at: Mapped[datetime | None] = mapped_column(Timestamp)
    suspended_at: Mapped[datetime | None] = mapped_column(Timestamp)
    deletion_due_at: Mapped[datetime | None] = mapped_column(Timestamp)


class OrganiserProfile(Base):
    """The profile of an account with the role organiser.

    `pending_contact_email` becomes the public `contact_email` when its mailbox has confirmed it. With `transfers_only`
    nobody pays a stall fee from a mobile wallet.
    """

    __tablename__ = "organiser_profile"

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    org_name: Mapped[str] = mapped_column(String(200))
    address: Mapped[str | None] = mapped_column(String(500), deferred=True)
    vat_number: Mapped[str | None] = mapped_column(String(20), deferred=True)
    bank_account_name: Mapped[str | None] = mapped_column(String(120), deferred=True)
    bank_account_number: Mapped[str | None] = mapped_column(String(34), deferred=True)
    bank_name: Mapped[str | None] = mapped_column(String(120), deferred=True)
    bank_branch_code: Mapped[str | None] = mapped_column(String(20), deferred=True)
    logo: Mapped[str | None] = mapped_column(String(40), deferred=True)
    contact_email: Mapped[str | None] = mapped_column(String(254), deferred=True)
    pending_contact_email: Mapped[str | None] = mapped_column(String(254), deferred=True)
    requires_second_factor: Mapped[bool] = mapped_column(
        Boolean, default=False, server_default=text("false"), deferred=True
    )
    transfers_only: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"), deferred=True)


PROFILES: dict[str, type[Base]] = {"organiser": OrganiserProfile}
"""The profile table of each role that has one, with the key `account_id`. `create_app` adds the merchant's."""


class AccountSession(Base):
    """A sign-in: by the API or, with `kind` "console", on the pages.

    Refresh tokens and cookies are derived from its id and counter, and are not stored. `device` and `network` help its
    owner to recognise it. `last_seen_at` is null until the first use after the sign-in.
    """

    __tablename__ = "account_session"
    __table_args__ = (
        Index("ix_account_session_live", "account_id", "created_at", postgresql_where=text("ended_at IS NULL")),
    )

    id: Mapped[str] = id_column()
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), index=True)
    counter: Mapped[int] = mapped_column(Integer, default=0)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    rotated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    idle_until: Mapped[datetime] = mapped_column(Timestamp, server_default=text("now() + interval '30 days'"))
    ends_at: Mapped[datetime] = mapped_column(Timestamp, server_default=text("now() + interval '90 days'"))
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
    end_reason: Mapped[str | None] = mapped_column(String(40))
    kind: Mapped[str] = mapped_column(String(10), default="api", server_default="api")
    device: Mapped[str | None] = mapped_column(String(80))
    network: Mapped[str | None] = mapped_column(String(50))
    last_seen_at: Mapped[datetime | None] = mapped_column(Timestamp)


class OneTimeCode(Base):
    """The latest code of one purpose for one address, with or without an account.

    The code itself is a keyed hash of the row's nonce and is not stored.
    """

    __tablename__ = "one_time_code"

    purpose: Mapped[str] = mapped_column(String(20), primary_key=True)
    email: Mapped[str] = mapped_column(String(254), primary_key=True)
    nonce: Mapped[str] = mapped_column(CHAR(32))
    sent_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    expires_at: Mapped[datetime] = mapped_column(Timestamp, index=True)
    tries: Mapped[int] = mapped_column(Integer, default=0)
    used: Mapped[bool] = mapped_column(Boolean, default=False)


class ResetToken(Base):
    """A token that sets a new password once; it is bound to the password that it replaces."""

    __tablename__ = "reset_token"

    token_hash: Mapped[str] = mapped_column(CHAR(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), index=True)
    password_version: Mapped[int] = mapped_column(Integer)
    expires_at: Mapped[datetime] = mapped_column(Timestamp, index=True)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class ExternalIdentity(Base):
    """An account at Apple or Google that can sign in to an account."""

    __tablename__ = "external_identity"

    provider: Mapped[str] = mapped_column(String(20), primary_key=True)
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), index=True)
    linked_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class UnverifiedUse(Base):
    """How much of a quota an account has used while its address was unverified. It never decreases."""

    __tablename__ = "unverified_use"

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    quota: Mapped[str] = mapped_column(String(20), primary_key=True)
    used: Mapped[int] = mapped_column(Integer)


class SpentIdentityToken(Base):
    """A used identity token, kept until the token expires."""

    __tablename__ = "spent_identity_token"

    token_hash: Mapped[str] = mapped_column(CHAR(64), primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(Timestamp, index=True)


class SigningKey(Base):
    """A key that signs access tokens; the private half is encrypted with SECRET_KEY."""

    __tablename__ = "signing_key"

    kid: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    private_pem: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    retired_at: Mapped[datetime | None] = mapped_column(Timestamp)
