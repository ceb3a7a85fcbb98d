"""Tables of campaigns: the campaign, its recipients (one per person and channel), figures and acts.

Recipients are added when sending starts. A recipient's state and the campaign's figure change in one statement. Each
connection counts in its own stripe, so senders do not wait for each other; a figure is the sum of the stripes. The number
of pending messages is the rest of the total.
"""

from datetime import datetime
from decimal import Decimal

from sqlalchemy import (
    CHAR,
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Numeric,
    SmallInteger,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.campaigns import states
from app.core.db import Base, ObjectId, Timestamp, id_column, one_of
from app.events.event_rows import EventRow, event_column, parent_key


def _count() -> Mapped[int]:
    return mapped_column(Integer, default=0, server_default=text("0"))


class Campaign(EventRow, Base):
    """One message to the people of an event. `turn` counts its schedules: only the last one starts it.

    `audience_filter` chooses the people of a filtered audience (`filtered_people_sql`).
    `audience` has the counts of the audience, from its creation and finally from the start of sending. `after` is the last
    person whose recipients were added.
    """

    __tablename__ = "campaign"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (
        one_of("status", states.STATES),
        one_of("audience_type", states.AUDIENCES),
        CheckConstraint("ab_split_percent BETWEEN 10 AND 90", name="split"),
        CheckConstraint("cardinality(channels) > 0", name="channels"),
        CheckConstraint("status <> 'scheduled' OR scheduled_at IS NOT NULL", name="scheduled"),
        Index("ix_campaign_event", "event_id", "created_at", "id"),
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = event_column()
    name: Mapped[str] = mapped_column(String(120))
    template_id: Mapped[str] = mapped_column(String(64))
    title: Mapped[str] = mapped_column(String(160))
    body: Mapped[str] = mapped_column(String(600))
    href: Mapped[str | None] = mapped_column(String(300))
    image_url: Mapped[str | None] = mapped_column(String(2048))
    banner_url: Mapped[str | None] = mapped_column(String(2048))
    channels: Mapped[list[str]] = mapped_column(ARRAY(String(10)))
    ab_test_enabled: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    variant_b_title: Mapped[str | None] = mapped_column(String(160))
    variant_b_body: Mapped[str | None] = mapped_column(String(600))
    ab_split_percent: Mapped[Decimal] = mapped_column(Numeric(5, 2), default=50, server_default=text("50"))
    audience_type: Mapped[str] = mapped_column(String(30))
    user_ids: Mapped[list[str]] = mapped_column(ARRAY(String(24)), default=list, server_default=text("'{}'"))
    audience_filter: Mapped[dict[str, object] | None] = mapped_column(JSONB(none_as_null=True))
    respect_preferences: Mapped[bool] = mapped_column(Boolean)
    scheduled_at: Mapped[datetime | None] = mapped_column(Timestamp)
    status: Mapped[str] = mapped_column(String(20))
    turn: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    audience: Mapped[dict[str, object] | None] = mapped_column(JSONB(none_as_null=True))
    after: Mapped[str | None] = mapped_column(String(254))
    started_at: Mapped[datetime | None] = mapped_column(Timestamp)
    fanned_out_at: Mapped[datetime | None] = mapped_column(Timestamp)
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_by: Mapped[str | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"), index=True)
    copied_from: Mapped[str | None] = mapped_column(ObjectId)
    version: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class Recipient(EventRow, Base):
    """One person on one channel. `person` is the lower-case e-mail address on every channel. `address` is the e-mail
    address, the phone number, or the account's id for push."""

    __tablename__ = "campaign_recipient"
    __table_args__ = (
        one_of("channel", states.CHANNELS),
        one_of("state", states.RECIPIENT_STATES),
        one_of("variant", ("A", "B")),
        UniqueConstraint("campaign_id", "person", "channel", "event_id"),
        Index(
            "uq_campaign_recipient_number",
            "campaign_id",
            "address",
            "event_id",
            unique=True,
            postgresql_where=text("channel = 'sms'"),
        ),
        Index("ix_campaign_recipient_uncertain", "campaign_id", "id", postgresql_where=text("state = 'uncertain'")),
        Index("ix_campaign_recipient_failed", "campaign_id", "id", postgresql_where=text("state = 'failed'")),
        {"postgresql_with": {"fillfactor": "85"}},
    )

    id: Mapped[str] = id_column()
    # Without a foreign key: an audience of 100,000 is not checked 100,000 times.
    campaign_id: Mapped[str] = mapped_column(ObjectId)
    channel: Mapped[str] = mapped_column(String(10))
    person: Mapped[str] = mapped_column(String(254))
    address: Mapped[str] = mapped_column(String(254))
    name: Mapped[str | None] = mapped_column(String(200))
    places: Mapped[int] = mapped_column(Integer)
    variant: Mapped[str] = mapped_column(CHAR(1))
    state: Mapped[str] = mapped_column(String(12), server_default=states.PENDING)
    reason: Mapped[str | None] = mapped_column(String(500))
    settled_at: Mapped[datetime | None] = mapped_column(Timestamp)
    clicked_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Tally(EventRow, Base):
    """Figures of one variant in one stripe. A stripe can be negative; only sums count."""

    __tablename__ = "campaign_tally"
    __table_args__ = (parent_key("campaign_id", "campaign"), {"postgresql_with": {"fillfactor": "50"}})

    campaign_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    variant: Mapped[str] = mapped_column(CHAR(1), primary_key=True)
    stripe: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    total: Mapped[int] = _count()
    sent: Mapped[int] = _count()
    failed: Mapped[int] = _count()
    suppressed: Mapped[int] = _count()
    uncertain: Mapped[int] = _count()
    clicked: Mapped[int] = _count()


class CampaignAct(EventRow, Base):
    """Who did what with a campaign, and when. Rows are added with every change and never changed."""

    __tablename__ = "campaign_act"
    __table_args__ = (parent_key("campaign_id", "campaign"), Index("ix_campaign_act_campaign", "campaign_id", "id"))

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    campaign_id: Mapped[str] = mapped_column(ObjectId)
    verb: Mapped[str] = mapped_column(String(30))
    account_id: Mapped[str | None] = mapped_column(ObjectId)
    details: Mapped[dict[str, object]] = mapped_column(JSONB, server_default=text("'{}'"))
    at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
