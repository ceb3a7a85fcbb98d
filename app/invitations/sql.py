"""SQL of invitations: the present status of invitations, links, events and stalls, and the invitation of merchants."""

from sqlalchemy import ColumnElement, and_, case, func, or_, select, text
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts.models import Account, OrganiserProfile
from app.events.models import Event
from app.events.visibility import ARCHIVED, CANCELLED
from app.invitations.models import EventInvite, InviteLink, Participation
from app.invitations.states import EXPIRED, LINK_DECLINED, LINK_EXPIRED, OPEN, PENDING, REVOKED, USED_UP, WITHDRAWN
from app.merchants.models import Merchant
from app.merchants.states import CLOSED, PAUSED

INVITE_MERCHANTS_SQL = text("""
    WITH expired AS (
        UPDATE event_invite SET status = 'expired', version = version + 1
         WHERE event_id = :event_id AND merchant_id = ANY(:merchant_ids) AND status = 'pending' AND expires_at <= now()
        RETURNING id
    ), invitable AS (
        SELECT requested.id, profile.account_id AS merchant_id,
               coalesce(merchant.floor_status, 'closed') AS floor_status,
               coalesce(CAST(merchant.settings ->> 'auto_accept_invites' AS boolean), false)
                   AND coalesce(CAST(:fee_minor AS bigint), 0) = 0
                   AND NOT EXISTS (SELECT FROM event_invite earlier
                                    WHERE earlier.merchant_id = profile.account_id AND earlier.event_id = :event_id
                                      AND earlier.status IN ('pending', 'accepted')) AS would_accept
          FROM unnest(CAST(:merchant_ids AS text[]), CAST(:invite_ids AS text[])) AS requested (merchant_id, id)
          JOIN merchant_profile profile ON profile.account_id = requested.merchant_id
          JOIN account ON account.id = profile.account_id
          LEFT JOIN merchant ON merchant.profile_id = profile.account_id
         WHERE account.email_verified_at IS NOT NULL AND coalesce(merchant.status, 'active') = 'active'
           AND NOT EXISTS (SELECT FROM participation
                            WHERE participation.merchant_id = profile.account_id
                              AND participation.event_id = :event_id)
         ORDER BY profile.account_id FOR KEY SHARE OF profile
    ), candidate AS (
        SELECT id, merchant_id, floor_status,
               would_accept AND row_number() OVER (PARTITION BY would_accept ORDER BY merchant_id)
                   <= coalesce(CAST(:places_left AS bigint), 200) AS automatic
          FROM invitable
    ), invite AS (
        INSERT INTO event_invite (id, event_id, merchant_id, invited_by, status, automatic, decided_at, message,
                                  stall_type, fee_minor, expires_at)
        SELECT id, :event_id, merchant_id, :invited_by, CASE WHEN automatic THEN 'accepted' ELSE 'pending' END,
               automatic, CASE WHEN automatic THEN now() END, :message, :stall_type, :fee_minor, :expires_at
          FROM candidate WHERE (SELECT count(*) FROM expired) >= 0
        ON CONFLICT (event_id, merchant_id) WHERE status IN ('pending', 'accepted')
        DO UPDATE SET version = event_invite.version
        RETURNING id, merchant_id, status, xmax = 0 AS is_new
    ), participant AS (
        INSERT INTO participation (merchant_id, event_id, stall_type, fee_minor, floor_status)
        SELECT merchant_id, :event_id, :stall_type, :fee_minor, invitable.floor_status
          FROM invite JOIN invitable USING (id, merchant_id)
         WHERE invite.status = 'accepted' AND invite.is_new
        ON CONFLICT DO NOTHING
    )
    SELECT invite.id, merchant_id, invite.status, is_new, account.email
      FROM invite JOIN account ON account.id = invite.merchant_id
     UNION ALL
    SELECT earlier.id, requested.merchant_id, coalesce(earlier.status, 'accepted'), false, NULL
      FROM unnest(CAST(:merchant_ids AS text[])) AS requested (merchant_id)
      LEFT JOIN event_invite earlier
             ON earlier.merchant_id = requested.merchant_id AND earlier.event_id = :event_id
            AND (earlier.status = 'accepted' OR earlier.status = 'pending' AND earlier.expires_at > now())
      LEFT JOIN participation ON participation.merchant_id = requested.merchant_id
                             AND participation.event_id = :event_id
     WHERE (earlier.id IS NOT NULL OR participation.event_id IS NOT NULL)
       AND requested.merchant_id NOT IN (SELECT merchant_id FROM invite)
     ORDER BY merchant_id
""")
"""Invites merchants. Rows: those invited now (`is_new`, with their email), then those already invited or taking part.

Automatic acceptances take `places_left` places at most. Counting `expired` makes PostgreSQL end expired invitations
before it inserts. The conflict finds invitations that
another request inserts at the same time; `xmax = 0` tells new rows from theirs.
"""
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
        (InviteLink.declined_at.is_not(None), LINK_DECLINED),
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


def floor_status_sql() -> ColumnElement[str]:
    """A stall's floor status, for a query that joins Merchant. A pause closes the stall until the status is set again."""
    is_closed = or_(Merchant.status == PAUSED, Merchant.paused_at >= Participation.floor_set_at)
    return case((is_closed, CLOSED), else_=Participation.floor_status)
