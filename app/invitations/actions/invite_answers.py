"""A merchant's answer to an invitation."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import NotFound, StaleVersion
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.errors import InviteDecided, InviteExpired, InviteWithdrawn
from app.invitations.models import EventInvite
from app.invitations.participation import add_participant
from app.invitations.queries import EVENT_COLUMNS
from app.invitations.states import ACCEPTED, EXPIRED, STEPS, WITHDRAWN
from app.invitations.status_sql import invite_status_sql
from app.merchants.errors import MerchantPaused
from app.merchants.row_locks import lock_merchant
from app.merchants.states import PAUSED


def answer_invite(
    *, caller: Caller, invite_id: str, expected_version: int | None, status: str, message: str | None = None
) -> dict[str, Any]:
    """The invitation as answered; giving the same answer again changes nothing.

    Accepting makes the merchant a participant, no matter who else accepts at the same moment. Raises NotFound,
    StaleVersion, InviteExpired, InviteWithdrawn, InviteDecided, MerchantPaused.
    """
    with transaction() as session:
        merchant = lock_merchant(session, caller.id)
        invite, current_status, event_fields = _lock_invite(session, caller, invite_id)
        if expected_version not in (None, invite.version):
            raise StaleVersion()
        if current_status != status:
            _check_answer(current_status, status, is_paused=merchant.status == PAUSED)
            invite.status, invite.reply, invite.version = status, message or None, invite.version + 1
            invite.decided_at = event_fields["now"]
            session.flush()
            if status == ACCEPTED:
                add_participant(
                    session,
                    event_id=invite.event_id,
                    merchant_id=caller.id,
                    stall_type=invite.stall_type,
                    fee_minor=invite.fee_minor,
                )
            enqueue("invitations.mail_answer", key=f"invite-answer-{invite_id}", invite_id=invite_id)
    invite_fields = {column.key: getattr(invite, column.key) for column in EventInvite.__table__.columns}
    return {**event_fields, **invite_fields, "status": status}


def _check_answer(current_status: str, answer_status: str, *, is_paused: bool) -> None:
    if current_status == EXPIRED:
        raise InviteExpired()
    if current_status == WITHDRAWN:
        raise InviteWithdrawn()
    if answer_status not in STEPS[current_status]:
        raise InviteDecided(status=current_status)
    if is_paused and answer_status == ACCEPTED:
        raise MerchantPaused()


def _lock_invite(session: OrmSession, caller: Caller, invite_id: str) -> tuple[EventInvite, str, dict[str, Any]]:
    """The caller's invitation, locked, with its status now and what is told of its event. Raises NotFound."""
    row = session.execute(
        select(EventInvite, invite_status_sql().label("status_now"), func.now().label("now"), *EVENT_COLUMNS)
        .join(Event, Event.id == EventInvite.event_id)
        .where(EventInvite.id == invite_id, EventInvite.merchant_id == caller.id)
        .with_for_update(of=EventInvite),
        execution_options={"populate_existing": True},
    ).first()
    if row is None:
        raise NotFound()
    return row[0], row.status_now, dict(row._mapping)
