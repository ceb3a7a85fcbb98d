"""Tables of the log of admissions and of its counts."""

from datetime import date, datetime

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Date,
    Index,
    Integer,
    SmallInteger,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.admissions.kinds import IN, OUT, PLACE_KINDS
from app.core.db import Base, ObjectId, Timestamp, Xid8, id_column, one_of
from app.events.event_rows import EventRow


class Admission(EventRow, Base):
    """A person who entered or left with one place: a slot (`allocation`), an imported `ticket`, or an `unknown` code.

    There are no foreign keys: the log outlives slots and tickets.

    - `scan_id` is the id of the first row of a scan; the scan of a party has a row for each place, by `position`.
    - `occurred_at` is the time of the scan, `recorded_at` when the service learned of it.
    - `entry_day` is the day of an entry at an event where a ticket enters once a day, only for the index against two
      scans at once. It is null after the event got another timezone, and for what was a conflict.
    - `conflict` is the code of the error with which the service would have refused a scan that was made offline.
    - `remaining` is how many of the party were outside after the scan, for the answer to its repetition.
    - `code` is what was scanned, kept only for conflicts of unknown codes.
    - `actor_name`, `undone_by` and `code` are null after the retention time of guests.
    - `transaction_id` is of the transaction that inserted or undid the row, for readers of changes.
    """

    __tablename__ = "admission"
    __table_args__ = (
        one_of("place_kind", PLACE_KINDS),
        one_of("direction", (IN, OUT)),
        CheckConstraint("(place_id IS NULL) = (place_kind = 'unknown')", name="place"),
        CheckConstraint("place_kind <> 'unknown' OR conflict IS NOT NULL", name="unknown_is_a_conflict"),
        CheckConstraint("(undone_at IS NULL) = (undo_reason IS NULL)", name="undone"),
        Index(
            "uq_admission_nonce",
            "event_id",
            "nonce",
            "position",
            unique=True,
            postgresql_where=text("nonce IS NOT NULL"),
        ),
        Index(
            "uq_admission_entry_day",
            "event_id",
            "place_id",
            "entry_day",
            unique=True,
            postgresql_where=text("entry_day IS NOT NULL AND conflict IS NULL AND undone_at IS NULL"),
        ),
        Index("ix_admission_event", "event_id", "id"),
        Index("ix_admission_place", "event_id", "place_id"),
        Index("ix_admission_change", "event_id", "transaction_id"),
        Index(
            "ix_admission_conflict",
            "event_id",
            "id",
            postgresql_where=text("conflict IS NOT NULL AND undone_at IS NULL"),
        ),
    )

    id: Mapped[str] = id_column()
    place_kind: Mapped[str] = mapped_column(String(10))
    place_id: Mapped[str | None] = mapped_column(ObjectId)
    ticket_type_id: Mapped[str | None] = mapped_column(ObjectId)
    scan_id: Mapped[str] = mapped_column(ObjectId)
    position: Mapped[int] = mapped_column(SmallInteger, default=0, server_default=text("0"))
    nonce: Mapped[str | None] = mapped_column(String(80))
    direction: Mapped[str] = mapped_column(String(3), default=IN, server_default=text("'in'"))
    is_reentry: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    remaining: Mapped[int] = mapped_column(SmallInteger, default=0, server_default=text("0"))
    gate: Mapped[str | None] = mapped_column(String(80))
    actor_kind: Mapped[str] = mapped_column(String(10))
    actor_id: Mapped[str] = mapped_column(ObjectId)
    actor_name: Mapped[str | None] = mapped_column(String(200))
    occurred_at: Mapped[datetime] = mapped_column(Timestamp)
    entry_day: Mapped[date | None] = mapped_column(Date)
    recorded_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    conflict: Mapped[str | None] = mapped_column(String(40))
    code: Mapped[str | None] = mapped_column(String(200))
    undone_at: Mapped[datetime | None] = mapped_column(Timestamp)
    undone_by: Mapped[str | None] = mapped_column(String(200))
    undo_reason: Mapped[str | None] = mapped_column(String(200))
    transaction_id: Mapped[str] = mapped_column(Xid8, server_default=text("pg_current_xact_id()"))


class RefusedScan(EventRow, Base):
    """A scan that the gate refused. There are no foreign keys, as in the log of admissions.

    - `reason` is the code of the error.
    - `place_id` is null if no ticket of the event has the code; then `code_start` has its first characters.
    - `times` counts the same scan by the same device within `period`, the ten seconds from then on; `fingerprint` tells
      device, reason and ticket. Of a scan that was sent later it tells device and nonce, and `period` is 1970.
    - Rows are deleted after the retention time of guests.
    """

    __tablename__ = "refused_scan"
    __table_args__ = (
        one_of("direction", (IN, OUT)),
        CheckConstraint("(place_id IS NULL) = (place_kind IS NULL)", name="place"),
        UniqueConstraint("event_id", "fingerprint", "period"),
        Index("ix_refused_scan_event", "event_id", "occurred_at", "id"),
    )

    id: Mapped[str] = id_column()
    reason: Mapped[str] = mapped_column(String(40))
    place_kind: Mapped[str | None] = mapped_column(String(10))
    place_id: Mapped[str | None] = mapped_column(ObjectId)
    ticket_type_id: Mapped[str | None] = mapped_column(ObjectId)
    code_start: Mapped[str | None] = mapped_column(String(8))
    fingerprint: Mapped[str | None] = mapped_column(String(22, collation="C"))
    period: Mapped[datetime] = mapped_column(Timestamp)
    times: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    direction: Mapped[str] = mapped_column(String(3), default=IN, server_default=text("'in'"))
    gate: Mapped[str | None] = mapped_column(String(80))
    actor_kind: Mapped[str] = mapped_column(String(10))
    actor_id: Mapped[str] = mapped_column(ObjectId)
    actor_name: Mapped[str | None] = mapped_column(String(200))
    occurred_at: Mapped[datetime] = mapped_column(Timestamp)
    recorded_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class AdmissionTally(EventRow, Base):
    """How many people entered and left with a ticket type at a gate, in a quarter of an hour.

    `first_entries` leaves out re-entries. Each connection counts in its own stripe, so scanners do not wait for each
    other; a figure is the sum of the stripes. `gate` is empty if the scan named none.
    """

    __tablename__ = "admission_tally"
    __table_args__ = ({"postgresql_with": {"fillfactor": "50"}},)

    ticket_type_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    gate: Mapped[str] = mapped_column(String(80), primary_key=True)
    quarter: Mapped[datetime] = mapped_column(Timestamp, primary_key=True)
    stripe: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    first_entries: Mapped[int] = mapped_column(Integer)
    entries: Mapped[int] = mapped_column(Integer)
    exits: Mapped[int] = mapped_column(Integer)
