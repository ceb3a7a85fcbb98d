"""Reads of invitations, invite links and participation, and the slugs of links.

A slug is an id and a keyed hash of it. It can be built again for another mail, so it is never stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import current_app
from sqlalchemy import ColumnElement, Select, exists, select
from sqlalchemy.orm import aliased

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.organisation_details import contact_sql
from app.accounts.queries import owner_id_sql
from app.core.db import db
from app.core.errors import NotFound
from app.core.ids import is_id
from app.core.tokens import derived_text, same
from app.events.models import Event
from app.invitations.errors import InviteDeclined, InviteExpired, InviteUsed, InviteWithdrawn
from app.invitations.models import EventInvite, InviteLink, Participation
from app.invitations.sql import floor_status_sql, invite_status_sql, link_state_sql, organiser_name_sql
from app.invitations.states import LINK_DECLINED, LINK_EXPIRED, PENDING, REVOKED, USED_UP
from app.merchants.models import Merchant, MerchantProfile

ListQuery = Select[*tuple[object, ...]]
Organiser = aliased(Account)
ERROR_BY_LINK_STATE = {
    LINK_EXPIRED: InviteExpired,
    REVOKED: InviteWithdrawn,
    USED_UP: InviteUsed,
    LINK_DECLINED: InviteDeclined,
}
INVITE_SORTS: dict[str, ColumnElement[datetime]] = {
    "createdAt": EventInvite.created_at.expression,
    "startsAt": Event.starts_at.expression,
}
EVENT_SORTS: dict[str, ColumnElement[datetime]] = {
    "startsAt": Event.starts_at.expression,
    "joinedAt": Participation.joined_at.expression,
}
EVENT_COLUMNS = (
    Event.id.label("event_id"),
    Event.name.label("event_name"),
    Event.city,
    Event.venue,
    Event.country,
    Event.timezone,
    Event.starts_at,
    Event.ends_at,
    organiser_name_sql().label("organiser_name"),
)
"""The fields of `EventSummary`."""
INVITE_COLUMNS = (
    EventInvite.id,
    EventInvite.message,
    EventInvite.stall_type,
    EventInvite.fee_minor,
    EventInvite.expires_at,
    EventInvite.reply,
    EventInvite.automatic,
    EventInvite.decided_at,
    EventInvite.created_at,
    EventInvite.version,
)
LINK_KIND, INVITE_KIND = "merchant-invite", "event-invite"
SECRET_LENGTH = 22
MAX_LISTED_INVITES = 100


@dataclass(frozen=True, kw_only=True)
class EventSummary:
    """The event that an invitation is for."""

    event_id: str
    event_name: str
    city: str
    venue: str
    country: str
    timezone: str
    starts_at: datetime
    ends_at: datetime
    organiser_name: str


@dataclass(frozen=True, kw_only=True)
class MerchantInvite(EventSummary):
    """An invitation as the invited merchant sees it; the fields of `INVITE_COLUMNS` with the status now."""

    id: str
    status: str
    stall_type: str | None
    fee_minor: int | None
    message: str | None
    expires_at: datetime
    reply: str | None
    automatic: bool
    created_at: datetime
    decided_at: datetime | None
    version: int


@dataclass(frozen=True, kw_only=True)
class InvitationPage(EventSummary):
    """An invitation of one merchant (`personal`) or a link, as its page shows it; `contact` is the organiser's email."""

    organiser_id: str
    personal: bool
    merchant_id: str | None = None
    takes_part: bool = False
    state: str
    business_name: str | None
    stall_type: str | None
    fee_minor: int | None
    message: str | None
    expires_at: datetime
    contact: str
    slug: str


@dataclass(frozen=True, kw_only=True)
class InviteLinkDetails(InvitationPage):
    """A link that anyone who has it may use to apply."""

    id: str
    email: str | None
    stall_types: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class ApplicationTerms:
    """The terms that an application takes from its invite link; None leaves the value to the applicant."""

    link_id: str
    event_id: str
    organiser_id: str
    timezone: str
    ends_at: datetime
    stall_type: str | None
    fee_minor: int | None
    stall_types: Sequence[Mapping[str, Any]]


def list_own_invites_query(caller: Caller, *, status: str | None = None, event_id: str | None = None) -> ListQuery:
    """The caller's invitations with their status now."""
    statement = _invites_query().where(EventInvite.merchant_id == caller.merchant_id)
    if status is not None:
        statement = statement.where(invite_status_sql() == status)
    return statement.where(EventInvite.event_id == event_id) if event_id else statement


def list_newest_invites(caller: Caller) -> list[MerchantInvite]:
    """The caller's newest invitations, at most MAX_LISTED_INVITES; those without an answer first."""
    is_answered = invite_status_sql() != PENDING
    statement = list_own_invites_query(caller).order_by(is_answered, EventInvite.created_at.desc(), EventInvite.id)
    rows = db.session.execute(statement.limit(MAX_LISTED_INVITES))
    return [MerchantInvite(**row._asdict()) for row in rows]


def get_own_invite(caller: Caller, invite_id: str) -> MerchantInvite:
    """One of the caller's invitations. Raises NotFound, also for another merchant's."""
    statement = _invites_query().where(EventInvite.id == invite_id, EventInvite.merchant_id == caller.merchant_id)
    row = db.session.execute(statement).first()
    if row is None:
        raise NotFound()
    return MerchantInvite(**row._asdict())


def list_own_events_query(caller: Caller) -> ListQuery:
    """The events that the caller takes part in."""
    return (
        select(
            Event.id,
            Event.name,
            Event.city,
            Event.venue,
            Event.country,
            Event.timezone,
            Event.starts_at,
            Event.ends_at,
            Event.visibility,
            organiser_name_sql().label("organiser_name"),
            Participation.stall_type,
            Participation.fee_minor,
            Participation.joined_at,
            floor_status_sql().label("floor_status"),
        )
        .join(Participation, Participation.event_id == Event.id)
        .outerjoin(Merchant, Merchant.profile_id == Participation.merchant_id)
        .where(Participation.merchant_id == caller.merchant_id)
    )


def get_active_invite_link(slug: str) -> InviteLinkDetails:
    """A link that can be used. Raises NotFound, InviteExpired, InviteWithdrawn, InviteUsed."""
    invite_link = _get_invite_link(slug)
    if invite_link.state in ERROR_BY_LINK_STATE:
        raise ERROR_BY_LINK_STATE[invite_link.state](state=invite_link.state, contact=invite_link.contact)
    return invite_link


def get_application_terms(slug: str) -> ApplicationTerms:
    """The terms of a link that can be used. Raises NotFound, InviteExpired, InviteWithdrawn, InviteUsed."""
    invite_link = get_active_invite_link(slug)
    return ApplicationTerms(
        link_id=invite_link.id,
        event_id=invite_link.event_id,
        organiser_id=invite_link.organiser_id,
        timezone=invite_link.timezone,
        ends_at=invite_link.ends_at,
        stall_type=invite_link.stall_type,
        fee_minor=invite_link.fee_minor,
        stall_types=invite_link.stall_types,
    )


def get_invitation_page(slug: str) -> InvitationPage:
    """The page of a link or of one merchant's invitation, in whatever state. Raises NotFound."""
    invite_id = parse_slug(slug, INVITE_KIND)
    if invite_id is None:
        return _get_invite_link(slug)
    row = db.session.execute(
        select(
            invite_status_sql().label("state"),
            EventInvite.merchant_id,
            exists()
            .where(Participation.merchant_id == EventInvite.merchant_id, Participation.event_id == EventInvite.event_id)
            .label("takes_part"),
            MerchantProfile.business_name,
            EventInvite.stall_type,
            EventInvite.fee_minor,
            EventInvite.message,
            EventInvite.expires_at,
            contact_sql(Event.organiser_id, Organiser).label("contact"),
            Event.organiser_id,
            *EVENT_COLUMNS,
        )
        .join(Event, Event.id == EventInvite.event_id)
        .join(Organiser, Organiser.id == owner_id_sql(Event.organiser_id))
        .outerjoin(MerchantProfile, MerchantProfile.account_id == EventInvite.merchant_id)
        .where(EventInvite.id == invite_id)
    ).first()
    if row is None:
        raise NotFound()
    return InvitationPage(**row._asdict(), slug=slug, personal=True)


def _get_invite_link(slug: str) -> InviteLinkDetails:
    """A link with its event, in whatever state. Raises NotFound."""
    link_id = parse_slug(slug)
    if link_id is None:
        raise NotFound()
    row = db.session.execute(
        select(
            InviteLink.id,
            InviteLink.email,
            InviteLink.business_name,
            InviteLink.stall_type,
            InviteLink.fee_minor,
            InviteLink.message,
            InviteLink.expires_at,
            link_state_sql().label("state"),
            Event.organiser_id,
            Event.stall_types,
            contact_sql(Event.organiser_id).label("contact"),
            *EVENT_COLUMNS,
        )
        .join(Event, Event.id == InviteLink.event_id)
        .join(Account, Account.id == owner_id_sql(Event.organiser_id))
        .where(InviteLink.id == link_id)
    ).first()
    if row is None:
        raise NotFound()
    return InviteLinkDetails(**row._asdict(), slug=slug, personal=False)


def _invites_query() -> ListQuery:
    return select(*INVITE_COLUMNS, invite_status_sql().label("status"), *EVENT_COLUMNS).join(
        Event, Event.id == EventInvite.event_id
    )


def build_slug(id: str, kind: str = LINK_KIND) -> str:
    """The slug of a link, or of the page of one merchant's invitation: 46 characters."""
    return id + derived_text(kind, id)[:SECRET_LENGTH]


def parse_slug(slug: str, kind: str = LINK_KIND) -> str | None:
    """The id in a slug; None if the slug is not valid for that kind."""
    id = slug[:24]
    return id if is_id(id) and same(slug, build_slug(id, kind)) else None


def build_invite_url(id: str, kind: str = LINK_KIND) -> str:
    """The URL of the page that shows the invitation."""
    base_url: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/merchant-invite/{build_slug(id, kind)}"
