"""Reads of the directory, of invitations and of participation, always limited to what the caller may see."""

from typing import Any

from sqlalchemy import ColumnElement, Select, String, case, cast, exists, false, func, select, text, true
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import aliased

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.core.db import db
from app.core.errors import NotFound
from app.core.text_folding import folded_sql
from app.events.models import Event
from app.events.queries import READS, owned
from app.events.search import prefix_query, words_of
from app.invitations.errors import InviteExpired, InviteUsed, InviteWithdrawn
from app.invitations.link_tokens import INVITE_KIND as INVITE_KIND
from app.invitations.link_tokens import build_invite_url, build_slug, parse_slug
from app.invitations.models import EventInvite, InviteLink, Participation
from app.invitations.states import LINK_EXPIRED, REVOKED, USED_UP
from app.invitations.status_sql import floor_status_sql, invite_status_sql, link_state_sql, organiser_name_sql
from app.merchants.models import Merchant, MerchantProfile
from app.merchants.queries import is_active_sql

MAX_SORTED_MATCHES = 1000
Organiser = aliased(Account)
ERROR_BY_LINK_STATE = {LINK_EXPIRED: InviteExpired, REVOKED: InviteWithdrawn, USED_UP: InviteUsed}
DIRECTORY_SORTS: dict[str, Any] = {"businessName": MerchantProfile.name_key}
INVITE_SORTS: dict[str, Any] = {"createdAt": EventInvite.created_at, "startsAt": Event.starts_at}
EVENT_SORTS: dict[str, Any] = {"startsAt": Event.starts_at, "joinedAt": Participation.joined_at}
EVENT_COLUMNS: list[Any] = [
    Event.id.label("event_id"),
    Event.name.label("event_name"),
    Event.city,
    Event.venue,
    Event.country,
    Event.timezone,
    Event.starts_at,
    Event.ends_at,
    organiser_name_sql().label("organiser_name"),
]
INVITE_COLUMNS: list[Any] = [
    EventInvite.id,
    EventInvite.merchant_id,
    EventInvite.message,
    EventInvite.stall_type,
    EventInvite.fee_minor,
    EventInvite.expires_at,
    EventInvite.reply,
    EventInvite.automatic,
    EventInvite.decided_at,
    EventInvite.created_at,
]


def list_directory_query(
    caller: Caller, event_id: str, *, q: str | None = None, category: str | None = None, city: str | None = None
) -> Select[Any]:
    """Merchants who can be invited: active and verified, without anything private. Raises NotFound for the event."""
    if db.session.scalar(select(Event.id).where(Event.id == event_id, owned(caller, READS))) is None:
        raise NotFound()
    statement = (
        select(
            MerchantProfile.account_id.label("id"),
            MerchantProfile.business_name,
            MerchantProfile.stall_name,
            MerchantProfile.category,
            MerchantProfile.city,
            _latest_invite_status_sql(event_id).label("invite_status"),
            _takes_part_sql(event_id).label("takes_part"),
        )
        .join(Account, Account.id == MerchantProfile.account_id)
        .where(Account.email_verified_at.is_not(None), is_active_sql())
    )
    if city is not None:
        statement = statement.where(MerchantProfile.city_key == _folded_param_sql("city")).params(city=city)
    if category is not None:
        statement = statement.where(MerchantProfile.category_key == _folded_param_sql("category")).params(
            category=category
        )
    words = words_of(q) if q else []
    return statement.where(_search_sql(prefix_query(words))) if words else statement


def list_own_invites_query(caller: Caller, *, status: str | None = None, event_id: str | None = None) -> Select[Any]:
    """The caller's invitations, with what time has made of them."""
    statement = _invites_query().where(EventInvite.merchant_id == caller.id)
    if status is not None:
        statement = statement.where(invite_status_sql() == status)
    return statement.where(EventInvite.event_id == event_id) if event_id else statement


def get_own_invite(caller: Caller, invite_id: str) -> Any:
    """One of them. Raises NotFound, also for somebody else's."""
    statement = _invites_query().where(EventInvite.id == invite_id, EventInvite.merchant_id == caller.id)
    invite = db.session.execute(statement).mappings().first()
    if invite is None:
        raise NotFound()
    return invite


def list_own_events_query(caller: Caller) -> Select[Any]:
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
        .where(Participation.merchant_id == caller.id)
    )


def get_invite_link(slug: str) -> dict[str, Any]:
    """What a link shows: event, terms and state, dead or alive. Raises NotFound for a name never given out."""
    link_id = parse_slug(slug)
    row = (
        db.session.execute(
            select(
                InviteLink.id,
                InviteLink.email,
                InviteLink.business_name,
                InviteLink.stall_type,
                InviteLink.fee_minor,
                InviteLink.message,
                InviteLink.expires_at,
                InviteLink.max_uses,
                InviteLink.uses,
                link_state_sql().label("state"),
                *EVENT_COLUMNS,
                Event.organiser_id,
                Account.email.label("contact"),
            )
            .join(Event, Event.id == InviteLink.event_id)
            .join(Account, Account.id == Event.organiser_id)
            .where(InviteLink.id == link_id)
        )
        .mappings()
        .first()
        if link_id
        else None
    )
    if row is None:
        raise NotFound()
    return {**row, "slug": build_slug(row["id"]), "url": build_invite_url(row["id"])}


def get_active_invite_link(slug: str) -> dict[str, Any]:
    """The same for one that still counts. Raises NotFound, InviteExpired, InviteWithdrawn, InviteUsed."""
    invite_link = get_invite_link(slug)
    if invite_link["state"] in ERROR_BY_LINK_STATE:
        raise ERROR_BY_LINK_STATE[invite_link["state"]](state=invite_link["state"], contact=invite_link["contact"])
    return invite_link


def get_invitation_page(slug: str) -> dict[str, Any]:
    """What the page of a link shows, or that of one merchant's own invitation (`personal`). Raises NotFound."""
    invite_id = parse_slug(slug, INVITE_KIND)
    if invite_id is None:
        return {**get_invite_link(slug), "personal": False}
    row = (
        db.session.execute(
            select(
                *INVITE_COLUMNS,
                invite_status_sql().label("state"),
                *EVENT_COLUMNS,
                MerchantProfile.business_name,
                Organiser.email.label("contact"),
            )
            .join(Event, Event.id == EventInvite.event_id)
            .join(Organiser, Organiser.id == Event.organiser_id)
            .outerjoin(MerchantProfile, MerchantProfile.account_id == EventInvite.merchant_id)
            .where(EventInvite.id == invite_id)
        )
        .mappings()
        .first()
    )
    if row is None:
        raise NotFound()
    return {**row, "personal": True}


def get_application_terms(slug: str) -> dict[str, Any]:
    """What an application by this link starts from: `link_id`, the event's facts, and the terms that the organiser set
    (`email`, `business_name`, `stall_type`, `fee_minor`, `message`; each may be None).

    Raises NotFound, and the Gone errors of `living_link`.
    """
    invite_link = get_active_invite_link(slug)
    fields = ("event_id", "organiser_id", "timezone", "email", "business_name", "stall_type", "fee_minor", "message")
    return {"link_id": invite_link["id"], **{field: invite_link[field] for field in fields}}


def _search_sql(query: str) -> ColumnElement[bool]:
    """The condition for a search. PostgreSQL cannot tell rare beginnings of words from common ones, so we look first:
    of few matches all are sorted; among many the next ones in order are near, and the index of words is left out.
    """
    tsquery = func.to_tsquery("simple", query)
    matches_query = (
        select(MerchantProfile.account_id).where(MerchantProfile.search.op("@@")(tsquery)).limit(MAX_SORTED_MATCHES + 1)
    )
    ids = db.session.scalars(matches_query).all()
    if len(ids) <= MAX_SORTED_MATCHES:
        return MerchantProfile.account_id == func.any(cast(ids, ARRAY(String)))
    return case((MerchantProfile.search.op("@@")(tsquery), true()), else_=false())


def _invites_query() -> Select[Any]:
    return select(*INVITE_COLUMNS, EventInvite.version, invite_status_sql().label("status"), *EVENT_COLUMNS).join(
        Event, Event.id == EventInvite.event_id
    )


def _latest_invite_status_sql(event_id: str) -> Any:
    statement = (
        select(invite_status_sql())
        .join(Event, Event.id == EventInvite.event_id)
        .where(EventInvite.event_id == event_id, EventInvite.merchant_id == MerchantProfile.account_id)
        .order_by(EventInvite.id.desc())
        .limit(1)
    )
    return statement.correlate(MerchantProfile).scalar_subquery()


def _takes_part_sql(event_id: str) -> ColumnElement[bool]:
    return (
        exists()
        .where(Participation.merchant_id == MerchantProfile.account_id, Participation.event_id == event_id)
        .correlate(MerchantProfile)
    )


def _folded_param_sql(param: str) -> Any:
    """A parameter in the form of the keys; PostgreSQL folds it once, before it looks."""
    return text(folded_sql(f"CAST(:{param} AS text)"))
