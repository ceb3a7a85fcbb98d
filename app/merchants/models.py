"""Tables of merchants: the public profile, and the status, payout details and settings."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Computed, ForeignKey, Index, Integer, LargeBinary, String, Text, text
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Timestamp
from app.core.text_normalization import folded_sql
from app.merchants.states import ACTIVE, CLOSED

SortKey = Text(collation="C")
MERCHANT_SEARCH_TEXT_SQL = (
    "business_name || ' ' || coalesce(stall_name, '') || ' ' || coalesce(category, '') || ' ' || coalesce(city, '')"
)
MERCHANT_SEARCH_VECTOR_SQL = f"to_tsvector('simple'::regconfig, {folded_sql(MERCHANT_SEARCH_TEXT_SQL)})"


def _sort_key_column(column: str) -> Computed:
    return Computed(folded_sql(f"left({column}, 240)"), persisted=True)


class MerchantProfile(Base):
    """The business of a merchant. The keys are folded (no case, no accents) and sort the directory."""

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
    name_key: Mapped[str] = mapped_column(SortKey, _sort_key_column("business_name"), deferred=True)
    city_key: Mapped[str | None] = mapped_column(SortKey, _sort_key_column("city"), deferred=True)
    category_key: Mapped[str | None] = mapped_column(SortKey, _sort_key_column("category"), deferred=True)
    search: Mapped[str] = mapped_column(TSVECTOR, Computed(MERCHANT_SEARCH_VECTOR_SQL, persisted=True), deferred=True)


class Merchant(Base):
    """Status and settings of a merchant. The row is created with the first change; until then the defaults apply.

    `profile_id` becomes null when the profile is deleted. The account may then get a new profile, which must not see
    these details, so a row without `profile_id` is ignored.
    """

    __tablename__ = "merchant"
    __table_args__ = (
        CheckConstraint("status IN ('active', 'paused', 'deleted')", name="status"),
        CheckConstraint("floor_status IN ('open', 'busy', 'paused', 'closed')", name="floor_status"),
    )

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    profile_id: Mapped[str | None] = mapped_column(
        ForeignKey("merchant_profile.account_id", ondelete="SET NULL"), index=True
    )
    status: Mapped[str] = mapped_column(String(10), default=ACTIVE, server_default=ACTIVE)
    payout_details: Mapped[bytes | None] = mapped_column(LargeBinary)
    settings: Mapped[dict[str, object]] = mapped_column(JSONB, default=dict, server_default=text("'{}'"))
    floor_status: Mapped[str] = mapped_column(String(10), default=CLOSED, server_default=CLOSED)
    paused_at: Mapped[datetime | None] = mapped_column(Timestamp)
    version: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
