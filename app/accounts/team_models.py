"""Tables of teams: members, invitations and API keys. `permissions` says what each of them may do."""

from datetime import datetime

from sqlalchemy import CHAR, CheckConstraint, ForeignKey, Index, String, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import Account
from app.accounts.permissions import MERCHANT, ORGANISER, ROLES
from app.core.db import Base, ObjectId, Timestamp, id_column, one_of

KINDS = (ORGANISER, MERCHANT)
ALL_ROLES = tuple(dict.fromkeys((*ROLES[ORGANISER], *ROLES[MERCHANT])))


class TeamMember(Base):
    """A person in the team of an organiser or a merchant. `team_id` is the account of the organiser or merchant.

    `event_ids` limits a role to some events. An account with the role organiser or merchant owns the team of its own id
    without a row here.
    """

    __tablename__ = "team_member"
    __table_args__ = (
        one_of("kind", KINDS),
        one_of("role", ALL_ROLES),
        CheckConstraint("event_ids IS NULL OR cardinality(event_ids) > 0", name="event_ids"),
        UniqueConstraint("account_id", "team_id", "kind"),
        Index("ix_team_member_team", "team_id", "kind"),
        Index("uq_team_member_owner", "team_id", "kind", unique=True, postgresql_where=text("role = 'owner'")),
    )

    id: Mapped[str] = id_column()
    team_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(10))
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    role: Mapped[str] = mapped_column(String(10))
    event_ids: Mapped[list[str] | None] = mapped_column(ARRAY(ObjectId))
    invited_by: Mapped[str | None] = mapped_column(ObjectId)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class TeamInvite(Base):
    """An invitation to a team that was mailed to an address. Only the hash of its token is stored.

    With the role `owner` it offers the ownership of the organisation.
    """

    __tablename__ = "team_invite"
    __table_args__ = (
        one_of("kind", KINDS),
        one_of("role", ALL_ROLES),
        Index("ix_team_invite_team", "team_id", "kind"),
        Index(
            "uq_team_invite_open",
            "team_id",
            "kind",
            "email",
            unique=True,
            postgresql_where=text("ended_at IS NULL"),
        ),
    )

    id: Mapped[str] = id_column()
    team_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(10))
    email: Mapped[str] = mapped_column(String(254))
    role: Mapped[str] = mapped_column(String(10))
    event_ids: Mapped[list[str] | None] = mapped_column(ARRAY(ObjectId))
    token_hash: Mapped[str] = mapped_column(CHAR(64), unique=True)
    invited_by: Mapped[str] = mapped_column(ObjectId)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
    outcome: Mapped[str | None] = mapped_column(String(10))


class ApiKey(Base):
    """A key of an organisation for a program. The key itself is shown once; `hint` is its last four characters."""

    __tablename__ = "api_key"
    __table_args__ = (Index("ix_api_key_organisation", "organisation_id", "created_at"),)

    id: Mapped[str] = id_column()
    organisation_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(80))
    scopes: Mapped[list[str]] = mapped_column(ARRAY(String(20)))
    key_hash: Mapped[str] = mapped_column(CHAR(64), unique=True)
    hint: Mapped[str] = mapped_column(String(4))
    created_by: Mapped[str] = mapped_column(ObjectId)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
    creator: Mapped[Account] = relationship(primaryjoin="foreign(ApiKey.created_by) == Account.id", viewonly=True)
