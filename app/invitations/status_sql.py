"""The status of an invitation, of a link and of an event as SQL; it depends on the clock and on the event."""

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts.models import Account, OrganiserProfile
from app.events.models import Event
from app.events.visibility import ARCHIVED, CANCELLED
from app.invitations.models import EventInvite, InviteLink
from app.invitations.states import EXPIRED, LINK_EXPIRED, OPEN, PENDING, REVOKED, USED_UP, WITHDRAWN

EVENT_CANCELLED_SQL = Event.visibility.in_((ARCHIVED, CANCELLED))


def invite_status_sql() -> ColumnElement[str]:
    """An invitation's status, for a query that joins Event: a pending one ends at its own end and with the event."""
    is_pending = EventInvite.status == PENDING
    is_expired = or_(EventInvite.expires_at <= func.now(), Event.ends_at <= func.now())
    return case(
        (and_(is_pending, EVENT_CANCELLED_SQL), WITHDRAWN),
        (and_(is_pending, is_expired), EXPIRED),
        else_=EventInvite.status,
    )


def link_state_sql() -> ColumnElement[str]:
    """A link's state, for a query that joins Event."""
    return case(
        (or_(EVENT_CANCELLED_SQL, InviteLink.revoked_at.is_not(None)), REVOKED),
        (or_(InviteLink.expires_at <= func.now(), Event.ends_at <= func.now()), LINK_EXPIRED),
        (InviteLink.uses >= InviteLink.max_uses, USED_UP),
        else_=OPEN,
    )


def is_event_open_sql() -> ColumnElement[bool]:
    """True for an event that is not over, cancelled or archived."""
    return and_(~EVENT_CANCELLED_SQL, Event.ends_at > func.now())


def organiser_name_sql(organiser_id: InstrumentedAttribute[str] = Event.organiser_id) -> ColumnElement[str]:
    """The organiser's public name: that of the organisation, else of the account."""
    profile_name = (
        select(OrganiserProfile.org_name).where(OrganiserProfile.account_id == organiser_id).scalar_subquery()
    )
    account_name = select(Account.name).where(Account.id == organiser_id).correlate_except(Account).scalar_subquery()
    return func.coalesce(profile_name, account_name)
