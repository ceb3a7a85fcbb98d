"""The counter of invoice numbers."""

from sqlalchemy import ForeignKey, Integer, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base


class InvoiceCounter(Base):
    """The last number of an organiser's series in a year. Taking the next one locks the row until the commit."""

    __tablename__ = "invoice_counter"

    organiser_id: Mapped[str] = mapped_column(ForeignKey("account.id"), primary_key=True)
    series: Mapped[str] = mapped_column(String(20), primary_key=True)
    year: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    last: Mapped[int] = mapped_column(Integer)
