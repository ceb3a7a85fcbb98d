"""What time and the event make of an invitation, as SQL: every read and every write asks these."""

from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts.models import Account, OrganiserProfile
from app.events.models import Event
from app.events.visibility import ARCHIVED, CANCELLED
from app.invitations.models import EventInvite, InviteLink, Participation
from app.invitations.states import EXPIRED, LINK_EXPIRED, OPEN, PENDING, REVOKED, USED_UP, WITHDRAWN
from app.merchants.models import Merchant
from app.merchants.states import CLOSED, PAUSED

EVENT_CANCELLED_SQL = Event.visibility.in_((ARCHIVED, CANCELLED))


def invite_status_sql() -> ColumnElement[str]:
    """An invitation's status, joined with its event: a pending one ends with its time and with the event."""
    is_pending = EventInvite.status == PENDING
    is_expired = or_(EventInvite.expires_at <= func.now(), Event.ends_at <= func.now())
    return case(
        (and_(is_pending, EVENT_CANCELLED_SQL), WITHDRAWN),
        (and_(is_pending, is_expired), EXPIRED),
        else_=EventInvite.status,
    )


def link_state_sql() -> ColumnElement[str]:
    """A link's state, joined with its event."""
    return case(
        (or_(EVENT_CANCELLED_SQL, InviteLink.revoked_at.is_not(None)), REVOKED),
        (or_(InviteLink.expires_at <= func.now(), Event.ends_at <= func.now()), LINK_EXPIRED),
        (InviteLink.uses >= InviteLink.max_uses, USED_UP),
        else_=OPEN,
    )


def is_event_open_sql() -> ColumnElement[bool]:
    """The condition on an event that it is not over and not called off."""
    return and_(~EVENT_CANCELLED_SQL, Event.ends_at > func.now())


def floor_status_sql() -> ColumnElement[str]:
    """A stall's floor status, joined with its merchant's row: a pause closes it until it is set again."""
    is_closed = or_(Merchant.status == PAUSED, Merchant.paused_at >= Participation.floor_set_at)
    return case((is_closed, CLOSED), else_=Participation.floor_status)


def organiser_name_sql(organiser_id: InstrumentedAttribute[str] = Event.organiser_id) -> Any:
    """By what name an event's organiser is known."""
    profile_name = (
        select(OrganiserProfile.org_name).where(OrganiserProfile.account_id == organiser_id).scalar_subquery()
    )
    account_name = select(Account.name).where(Account.id == organiser_id).correlate_except(Account).scalar_subquery()
    return func.coalesce(profile_name, account_name)
