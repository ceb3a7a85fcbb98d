"""Inviting merchants from the directory, up to 200 at once, and taking it back."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import build_sender, count_mails
from app.core.ids import new_id
from app.core.outbox import enqueue_many
from app.core.transaction import transaction
from app.invitations.invite_checks import build_terms, lock_event_for_invites
from app.invitations.models import EventInvite
from app.invitations.states import PENDING, WITHDRAWN

INVITE_MERCHANTS_SQL = text("""
    WITH expired AS (
        UPDATE event_invite SET status = 'expired', version = version + 1
         WHERE event_id = :event_id AND merchant_id = ANY(:merchant_ids) AND status = 'pending' AND expires_at <= now()
        RETURNING id
    ), wanted AS (
        SELECT w.id, p.account_id AS merchant_id, coalesce(m.floor_status, 'closed') AS floor_status,
               coalesce(CAST(m.settings ->> 'auto_accept_invites' AS boolean), false)
                   AND coalesce(CAST(:fee_minor AS bigint), 0) = 0 AS automatic
          FROM unnest(CAST(:merchant_ids AS text[]), CAST(:ids AS text[])) AS w (merchant_id, id)
          JOIN merchant_profile p ON p.account_id = w.merchant_id
          JOIN account a ON a.id = p.account_id
          LEFT JOIN merchant m ON m.profile_id = p.account_id
         WHERE a.email_verified_at IS NOT NULL AND coalesce(m.status, 'active') = 'active'
           AND NOT EXISTS (SELECT FROM participation t WHERE t.merchant_id = p.account_id AND t.event_id = :event_id)
         ORDER BY p.account_id FOR KEY SHARE OF p
    ), made AS (
        INSERT INTO event_invite (id, event_id, merchant_id, invited_by, status, automatic, decided_at, message,
                                  stall_type, fee_minor, expires_at)
        SELECT id, :event_id, merchant_id, :invited_by, CASE WHEN automatic THEN 'accepted' ELSE 'pending' END,
               automatic, CASE WHEN automatic THEN now() END, :message, :stall_type, :fee_minor, :expires_at
          FROM wanted WHERE (SELECT count(*) FROM expired) >= 0
        ON CONFLICT (event_id, merchant_id) WHERE status IN ('pending', 'accepted')
        DO UPDATE SET version = event_invite.version
        RETURNING id, merchant_id, status, xmax = 0 AS fresh
    ), joined AS (
        INSERT INTO participation (merchant_id, event_id, stall_type, fee_minor, floor_status)
        SELECT merchant_id, :event_id, :stall_type, :fee_minor, wanted.floor_status
          FROM made JOIN wanted USING (id, merchant_id)
         WHERE made.status = 'accepted' AND made.fresh
        ON CONFLICT DO NOTHING
    )
    SELECT made.id, merchant_id, made.status, fresh, a.email FROM made JOIN account a ON a.id = made.merchant_id
     UNION ALL
    SELECT i.id, w.merchant_id, coalesce(i.status, 'accepted'), false, NULL
      FROM unnest(CAST(:merchant_ids AS text[])) AS w (merchant_id)
      LEFT JOIN event_invite i ON i.merchant_id = w.merchant_id AND i.event_id = :event_id
                              AND (i.status = 'accepted' OR i.status = 'pending' AND i.expires_at > now())
      LEFT JOIN participation t ON t.merchant_id = w.merchant_id AND t.event_id = :event_id
     WHERE (i.id IS NOT NULL OR t.event_id IS NOT NULL) AND w.merchant_id NOT IN (SELECT merchant_id FROM made)
     ORDER BY merchant_id
""")
"""One statement: counting the expired makes room for the new ones first, and anyone who is invited by somebody else at the
same moment is found by the conflict, which tells rows of others from our own."""


def invite_from_directory(
    *, caller: Caller, event_id: str, merchant_ids: Sequence[str], **request_fields: Any
) -> dict[str, list[Any]]:
    """Invites each merchant who is not invited yet, and mails them; the others are reported.

    Those who accept automatically take part at once, unless there is a fee. Raises NotFound, EventClosed,
    ValidationFailed, SenderNotVerified, MailLimitReached.
    """
    requested_ids = sorted(set(merchant_ids))
    with transaction() as session:
        event = lock_event_for_invites(session, caller, event_id)
        params = {**build_terms(event, request_fields), "event_id": event_id, "invited_by": caller.id}
        new_invites, existing_invites, addresses = _insert_invites(session, requested_ids, params)
        count_mails(session, build_sender(event), addresses)
        email_jobs = [(f"event-invite-{invite['id']}", {"invite_id": invite["id"]}) for invite in new_invites]
        enqueue_many("invitations.mail_invite", email_jobs)
    unavailable = sorted(set(requested_ids) - {invite["merchant_id"] for invite in (*new_invites, *existing_invites)})
    return {"invited": new_invites, "already_invited": existing_invites, "unavailable": unavailable}


def withdraw_invites(*, caller: Caller, event_id: str, merchant_ids: Sequence[str]) -> dict[str, list[Any]]:
    """Takes back what is not answered yet; what is answered stays, and withdrawing twice changes nothing.

    Raises NotFound, EventClosed.
    """
    with transaction() as session:
        lock_event_for_invites(session, caller, event_id)
        pending_ids = select(EventInvite.id).where(
            EventInvite.event_id == event_id, EventInvite.merchant_id.in_(merchant_ids), EventInvite.status == PENDING
        )
        rows = session.execute(
            update(EventInvite)
            .where(EventInvite.id.in_(pending_ids.order_by(EventInvite.merchant_id).with_for_update()))
            .values(status=WITHDRAWN, decided_at=func.now(), version=EventInvite.version + 1)
            .returning(EventInvite.id, EventInvite.merchant_id, EventInvite.status)
            .execution_options(synchronize_session=False)
        )
        return {"withdrawn": [dict(row) for row in rows.mappings()]}


def _insert_invites(
    session: OrmSession, merchant_ids: Sequence[str], params: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]:
    """Those who are invited now, those who were or take part (with the invitation, if there was one), and the addresses
    of the former."""
    values = {**params, "merchant_ids": merchant_ids, "ids": [new_id() for _ in merchant_ids]}
    new_invites: list[dict[str, Any]] = []
    existing_invites: list[dict[str, Any]] = []
    addresses: list[str] = []
    for row in session.execute(INVITE_MERCHANTS_SQL, values):
        invite = {"id": row.id, "merchant_id": row.merchant_id, "status": row.status}
        (new_invites if row.fresh else existing_invites).append(invite)
        if row.fresh:
            addresses.append(row.email)
    return new_invites, existing_invites, addresses
