"""What the mock rail remembers. In live mode the table stays empty."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, DateTime, String, func
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base


class MockCharge(Base):
    """A charge at the mock rail. `known_at` is when it begins to tell the outcome."""

    __tablename__ = "payrail_mock_charge"
    __table_args__ = (CheckConstraint("state IN ('open', 'paid', 'declined')", name="state"),)

    reference: Mapped[str] = mapped_column(String(80, collation="C"), primary_key=True)
    msisdn: Mapped[str] = mapped_column(String(20))
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[str] = mapped_column(String(10), default="open", server_default="open")
    known_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
