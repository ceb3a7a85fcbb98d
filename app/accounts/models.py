"""Tables of accounts. One e-mail address is one account; it can hold several roles."""

from datetime import datetime

from sqlalchemy import (
    CHAR,
    Boolean,
    Computed,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, ObjectId, Timestamp, id_column
from app.core.folding import folded_sql

ROLES = ("customer", "merchant", "organiser", "admin")
TIERS = ("analyst", "support", "admin", "super_admin")
Key = Text(collation="C")
MERCHANT_WORDS = (
    "business_name || ' ' || coalesce(stall_name, '') || ' ' || coalesce(category, '') || ' ' || coalesce(city, '')"
)
MERCHANT_SEARCH = f"to_tsvector('simple'::regconfig, {folded_sql(MERCHANT_WORDS)})"


def _key_of(column: str) -> Computed:
    return Computed(folded_sql(f"left({column}, 240)"), persisted=True)


class Account(Base):
    """A person. `password_version` counts passwords, so that what was issued for an old one is void.

    A retired account was never verified and has lost its address to another account; nobody signs in to it.
    """

    __tablename__ = "account"
    id: Mapped[str] = id_column()
    email: Mapped[str] = mapped_column(String(254), unique=True)
    email_verified_at: Mapped[datetime | None] = mapped_column(Timestamp)
    password_hash: Mapped[str | None] = mapped_column(String(200))
    password_version: Mapped[int] = mapped_column(Integer, default=1)
    name: Mapped[str] = mapped_column(String(200))
    phone: Mapped[str | None] = mapped_column(String(20))
    roles: Mapped[list[str]] = mapped_column(ARRAY(String(20)))
    admin_tier: Mapped[str | None] = mapped_column(String(20))
    admin_title: Mapped[str | None] = mapped_column(String(80))
    version: Mapped[int] = mapped_column(Integer, default=1)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now(), onupdate=func.now())
    retired_at: Mapped[datetime | None] = mapped_column(Timestamp)


class OrganiserProfile(Base):
    """What an account has as an organiser."""

    __tablename__ = "organiser_profile"

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    org_name: Mapped[str] = mapped_column(String(200))


class MerchantProfile(Base):
    """What an account has as a merchant. Its keys are the names without case and accents: the directory's order."""

    __tablename__ = "merchant_profile"
    __table_args__ = (
        Index("ix_merchant_profile_name", "name_key", "account_id"),
        Index("ix_merchant_profile_city", "city_key", "name_key", "account_id"),
        Index("ix_merchant_profile_category", "category_key", "name_key", "account_id"),
        Index("ix_merchant_profile_search", "search", postgresql_using="gin", postgresql_with={"fastupdate": "off"}),
    )

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    business_name: Mapped[str] = mapped_column(String(200))
    stall_name: Mapped[str | None] = mapped_column(String(100))
    category: Mapped[str | None] = mapped_column(String(80))
    city: Mapped[str | None] = mapped_column(String(120))
    name_key: Mapped[str] = mapped_column(Key, _key_of("business_name"), deferred=True)
    city_key: Mapped[str | None] = mapped_column(Key, _key_of("city"), deferred=True)
    category_key: Mapped[str | None] = mapped_column(Key, _key_of("category"), deferred=True)
    search: Mapped[str] = mapped_column(TSVECTOR, Computed(MERCHANT_SEARCH, persisted=True), deferred=True)


PROFILES: dict[str, type[OrganiserProfile] | type[MerchantProfile]] = {
    "organiser": OrganiserProfile,
    "merchant": MerchantProfile,
}


class AccountSession(Base):
    """A sign-in. Refresh tokens are derived from its id and counter; none is stored."""

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


class OneTimeCode(Base):
    """The latest code of one purpose for one address, whether or not it has an account.

    The code itself is a keyed hash of this row's nonce and is stored nowhere.
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
    """Permission to set a new password once, bound to the password it replaces."""

    __tablename__ = "reset_token"

    token_hash: Mapped[str] = mapped_column(CHAR(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), index=True)
    password_version: Mapped[int] = mapped_column(Integer)
    expires_at: Mapped[datetime] = mapped_column(Timestamp, index=True)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class ExternalIdentity(Base):
    """An account at Apple or Google that signs in here."""

    __tablename__ = "external_identity"

    provider: Mapped[str] = mapped_column(String(20), primary_key=True)
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), index=True)
    linked_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class UnverifiedUse(Base):
    """How much of a quota an account used while its address was not verified. Never lowered."""

    __tablename__ = "unverified_use"

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    quota: Mapped[str] = mapped_column(String(20), primary_key=True)
    used: Mapped[int] = mapped_column(Integer)


class SpentIdentityToken(Base):
    """An identity token that has been used, kept until it would expire anyway."""

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
