"""What an account keeps as a merchant. The business's names stand in `accounts`, where it registers."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Integer, LargeBinary, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Timestamp
from app.merchants.states import ACTIVE, CLOSED


class Merchant(Base):
    """Made when a merchant first changes something; until then all is as the defaults say.

    `profile_id` is null once the profile it was made for is gone: somebody else may have registered with the address
    since, and must not find the details of whoever was there before. Such a row counts for nothing.
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
    settings: Mapped[dict[str, Any]] = mapped_column(JSONB, default=dict, server_default=text("'{}'"))
    floor_status: Mapped[str] = mapped_column(String(10), default=CLOSED, server_default=CLOSED)
    paused_at: Mapped[datetime | None] = mapped_column(Timestamp)
    version: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
