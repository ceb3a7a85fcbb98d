"""The mock's state as tables. In live mode they are empty."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ColumnElement, Interval, String, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.clients.payrail.interface import Charge
from app.clients.payrail.mock_rules import ChargeEntry, TransferEntry
from app.core.db import Base, Timestamp, db, release_connection
from app.core.transaction import assert_no_transaction, transaction


class MockCharge(Base):
    """A charge at the mock rail. From `known_at` on the mock says its outcome."""

    __tablename__ = "payrail_mock_charge"
    __table_args__ = (CheckConstraint("state IN ('open', 'paid', 'declined', 'refunded')", name="state"),)

    reference: Mapped[str] = mapped_column(String(80, collation="C"), primary_key=True)
    msisdn: Mapped[str] = mapped_column(String(20))
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[str] = mapped_column(String(10), default="open", server_default="open")
    known_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class MockTransfer(Base):
    """A transfer at the mock rail, never changed: its state depends on its age alone."""

    __tablename__ = "payrail_mock_transfer"
    __table_args__ = (CheckConstraint("state IN ('paid', 'failed')", name="state"),)

    reference: Mapped[str] = mapped_column(String(80, collation="C"), primary_key=True)
    ending: Mapped[str] = mapped_column(String(4))
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    state: Mapped[str] = mapped_column(String(10))
    known_after: Mapped[timedelta] = mapped_column(Interval)
    returned_after: Mapped[timedelta | None] = mapped_column(Interval)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


SENT = ("reference", "ending", "amount_minor", "currency", "state", "known_after", "returned_after")


class Tables:
    """The mock's state in the application's database, by the database's clock."""

    def open_charge(self, charge: Charge) -> None:
        assert_no_transaction()
        values = {"reference": charge.reference, "msisdn": charge.msisdn, "amount_minor": charge.amount_minor}
        with transaction() as session:
            session.execute(insert(MockCharge).values(values).on_conflict_do_nothing())

    def end_charge(self, reference: str, state: str, known_after: timedelta) -> None:
        assert_no_transaction()
        with transaction() as session:
            session.execute(
                update(MockCharge)
                .where(MockCharge.reference == reference, MockCharge.state == "open")
                .values(state=state, known_at=func.now() + known_after)
            )

    def refund_charge(self, reference: str) -> None:
        assert_no_transaction()
        with transaction() as session:
            session.execute(
                update(MockCharge)
                .where(MockCharge.reference == reference, MockCharge.state == "paid")
                .values(state="refunded")
            )

    def charge(self, reference: str) -> ChargeEntry | None:
        assert_no_transaction()
        result: ColumnElement[bool] = func.coalesce(MockCharge.known_at <= func.now(), True)
        age: ColumnElement[Any] = func.now() - MockCharge.created_at
        query = select(
            MockCharge.msisdn, MockCharge.amount_minor, MockCharge.state, result.label("told"), age.label("age")
        )
        row = db.session.execute(query.where(MockCharge.reference == reference)).first()
        release_connection()
        return ChargeEntry(**row._mapping) if row else None

    def write_transfer(self, entry: TransferEntry) -> None:
        assert_no_transaction()
        values = {name: getattr(entry, name) for name in SENT}
        with transaction() as session:
            session.execute(insert(MockTransfer).values(values).on_conflict_do_nothing())

    def transfer(self, reference: str) -> tuple[TransferEntry | None, timedelta]:
        assert_no_transaction()
        age: ColumnElement[timedelta] = func.clock_timestamp() - MockTransfer.created_at
        row = db.session.execute(select(MockTransfer, age).where(MockTransfer.reference == reference)).first()
        release_connection()
        if row is None:
            return None, timedelta()
        return TransferEntry(**{name: getattr(row[0], name) for name in SENT}), row[1]
