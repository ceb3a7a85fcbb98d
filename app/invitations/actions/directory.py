"""Inviting merchants from the directory, up to 200 at once, and taking it back."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.ids import new_id
from app.core.outbox import enqueue_many
from app.core.transaction import transaction
from app.invitations.inviting import inviting_event, terms
from app.invitations.models import EventInvite
from app.invitations.states import EXPIRED, PENDING, WITHDRAWN

INVITE = text("""
    WITH wanted AS (
        SELECT w.id, p.account_id AS merchant_id, coalesce(m.floor_status, 'closed') AS floor_status,
               coalesce(CAST(m.settings ->> 'auto_accept_invites' AS boolean), false)
                   AND coalesce(CAST(:fee_minor AS bigint), 0) = 0 AS automatic
          FROM unnest(CAST(:merchant_ids AS text[]), CAST(:ids AS text[])) AS w (merchant_id, id)
          JOIN merchant_profile p ON p.account_id = w.merchant_id
          JOIN account a ON a.id = p.account_id
          LEFT JOIN merchant m ON m.profile_id = p.account_id
         WHERE a.email_verified_at IS NOT NULL AND coalesce(m.status, 'active') = 'active'
           AND NOT EXISTS (SELECT FROM participation t WHERE t.merchant_id = p.account_id AND t.event_id = :event_id)
         ORDER BY p.account_id
    ), made AS (
        INSERT INTO event_invite (id, event_id, merchant_id, invited_by, status, automatic, decided_at, message,
                                  stall_type, fee_minor, expires_at)
        SELECT id, :event_id, merchant_id, :invited_by, CASE WHEN automatic THEN 'accepted' ELSE 'pending' END,
               automatic, CASE WHEN automatic THEN now() END, :message, :stall_type, :fee_minor, :expires_at
          FROM wanted
        ON CONFLICT (event_id, merchant_id) WHERE status IN ('pending', 'accepted') DO NOTHING
        RETURNING id, merchant_id, status
    ), joined AS (
        INSERT INTO participation (merchant_id, event_id, stall_type, fee_minor, floor_status)
        SELECT merchant_id, :event_id, :stall_type, :fee_minor, wanted.floor_status
          FROM made JOIN wanted USING (id, merchant_id)
         WHERE made.status = 'accepted'
        ON CONFLICT DO NOTHING
    )
    SELECT id, merchant_id, status FROM made
""")
KNOWN = text("""
    SELECT i.id, w.merchant_id, coalesce(i.status, 'accepted') AS status
      FROM unnest(CAST(:merchant_ids AS text[])) AS w (merchant_id)
      LEFT JOIN event_invite i ON i.merchant_id = w.merchant_id AND i.event_id = :event_id
                              AND i.status IN ('pending', 'accepted')
      LEFT JOIN participation t ON t.merchant_id = w.merchant_id AND t.event_id = :event_id
     WHERE i.id IS NOT NULL OR t.event_id IS NOT NULL
     ORDER BY w.merchant_id
""")


def invite_from_directory(
    *, caller: Caller, event_id: str, merchant_ids: Sequence[str], **sent: Any
) -> dict[str, list[Any]]:
    """Invites each merchant who is not invited yet, and mails him; the others are reported.

    Who accepts by himself takes part at once, unless there is a fee. Raises NotFound, EventClosed, ValidationFailed.
    """
    wanted = sorted(set(merchant_ids))
    with transaction() as session:
        event = inviting_event(session, caller, event_id)
        _expire(session, event_id, wanted)
        given = {**terms(event, sent), "event_id": event_id, "invited_by": caller.id}
        made = [dict(row) for row in _invited(session, wanted, given)]
        rest = sorted(set(wanted) - {each["merchant_id"] for each in made})
        known = _known(session, event_id, rest) if rest else []
        rows = [(f"event-invite-{each['id']}", {"invite_id": each["id"]}) for each in made]
        enqueue_many("invitations.mail_invite", rows)
    unavailable = sorted(set(rest) - {each["merchant_id"] for each in known})
    return {"invited": made, "already_invited": known, "unavailable": unavailable}


def withdraw_invites(*, caller: Caller, event_id: str, merchant_ids: Sequence[str]) -> dict[str, list[Any]]:
    """Takes back what is not answered yet; what is answered stays, and withdrawing twice changes nothing.

    Raises NotFound, EventClosed.
    """
    with transaction() as session:
        inviting_event(session, caller, event_id)
        ids = select(EventInvite.id).where(
            EventInvite.event_id == event_id, EventInvite.merchant_id.in_(merchant_ids), EventInvite.status == PENDING
        )
        rows = session.execute(
            update(EventInvite)
            .where(EventInvite.id.in_(ids.order_by(EventInvite.merchant_id).with_for_update()))
            .values(status=WITHDRAWN, decided_at=func.now(), version=EventInvite.version + 1)
            .returning(EventInvite.id, EventInvite.merchant_id, EventInvite.status)
            .execution_options(synchronize_session=False)
        )
        return {"withdrawn": [dict(row) for row in rows.mappings()]}


def _expire(session: OrmSession, event_id: str, merchant_ids: Sequence[str]) -> None:
    """Makes room for a new invitation where the clock has ended one."""
    session.execute(
        update(EventInvite)
        .where(
            EventInvite.event_id == event_id,
            EventInvite.merchant_id.in_(merchant_ids),
            EventInvite.status == PENDING,
            EventInvite.expires_at <= func.now(),
        )
        .values(status=EXPIRED, version=EventInvite.version + 1)
        .execution_options(synchronize_session=False)
    )


def _invited(session: OrmSession, merchant_ids: Sequence[str], given: dict[str, Any]) -> Any:
    values = {**given, "merchant_ids": merchant_ids, "ids": [new_id() for _ in merchant_ids]}
    return session.execute(INVITE, values).mappings()


def _known(session: OrmSession, event_id: str, merchant_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Of these merchants, those who are invited or take part: with the invitation, if there was one."""
    found = session.execute(KNOWN, {"event_id": event_id, "merchant_ids": merchant_ids})
    return [dict(row) for row in found.mappings()]
