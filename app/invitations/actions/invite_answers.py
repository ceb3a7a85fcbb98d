"""A merchant's answer to an invitation."""

from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import NotFound, StaleVersion
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.acceptance_hooks import must_wait_for_fee
from app.invitations.errors import InviteDecided, InviteExpired, InviteWithdrawn
from app.invitations.models import EventInvite
from app.invitations.participation import add_participant
from app.invitations.queries import EVENT_COLUMNS, EventSummary, MerchantInvite
from app.invitations.sql import invite_status_sql
from app.invitations.states import ACCEPTED, EXPIRED, STEPS, WITHDRAWN
from app.merchants.errors import MerchantPaused
from app.merchants.queries import lock_merchant
from app.merchants.states import PAUSED


@dataclass(frozen=True)
class LockedInvite:
    """A locked invitation with its event, its status now and the database's time."""

    invite: EventInvite
    status: str
    now: datetime
    event: EventSummary


def answer_invite(
    *, caller: Caller, invite_id: str, expected_version: int | None, status: str, message: str | None = None
) -> MerchantInvite:
    """Accepts or declines an invitation. The same answer again changes nothing.

    Accepting takes a place of the stall type and makes the merchant a participant, or with a fee their application, also
    when the same answer arrives several times at the same moment.

    Raises NotFound, StaleVersion, InviteExpired, InviteWithdrawn, InviteDecided, MerchantPaused, HasStall, StallTypeFull.
    """
    with transaction() as session:
        merchant = lock_merchant(session, caller.merchant_id)
        locked = _lock_invite(session, caller, invite_id)
        invite = locked.invite
        if expected_version not in (None, invite.version):
            raise StaleVersion()
        if locked.status != status:
            _check_answer(locked.status, status, is_paused=merchant.status == PAUSED)
            # Before the invitation counts as accepted, and so as a taken place.
            is_participant = status == ACCEPTED and not must_wait_for_fee(session, invite)
            invite.status, invite.reply, invite.version = status, message or None, invite.version + 1
            invite.decided_at = locked.now
            session.flush()
            if is_participant:
                add_participant(
                    session,
                    event_id=invite.event_id,
                    merchant_id=caller.merchant_id,
                    stall_type=invite.stall_type,
                    fee_minor=invite.fee_minor,
                )
            record(
                session,
                Action.INVITE_ACCEPTED if status == ACCEPTED else Action.INVITE_DECLINED,
                event_id=invite.event_id,
                account_id=caller.merchant_id,
                subject=invite_id,
            )
            enqueue("invitations.mail_answer", key=f"invite-answer-{invite_id}", invite_id=invite_id)
    return _build_merchant_invite(invite, locked.event, status)


def _check_answer(current_status: str, answer_status: str, *, is_paused: bool) -> None:
    if current_status == EXPIRED:
        raise InviteExpired()
    if current_status == WITHDRAWN:
        raise InviteWithdrawn()
    if answer_status not in STEPS[current_status]:
        raise InviteDecided(status=current_status)
    if is_paused and answer_status == ACCEPTED:
        raise MerchantPaused()


def _lock_invite(session: OrmSession, caller: Caller, invite_id: str) -> LockedInvite:
    """The caller's invitation, locked. Raises NotFound."""
    row = session.execute(
        select(EventInvite, invite_status_sql().label("current_status"), func.now().label("now"), *EVENT_COLUMNS)
        .join(Event, Event.id == EventInvite.event_id)
        .where(EventInvite.id == invite_id, EventInvite.merchant_id == caller.merchant_id)
        .with_for_update(of=EventInvite),
        execution_options={"populate_existing": True},
    ).first()
    if row is None:
        raise NotFound()
    event_fields = row._asdict()
    return LockedInvite(
        invite=event_fields.pop("EventInvite"),
        status=event_fields.pop("current_status"),
        now=event_fields.pop("now"),
        event=EventSummary(**event_fields),
    )


def _build_merchant_invite(invite: EventInvite, event: EventSummary, status: str) -> MerchantInvite:
    return MerchantInvite(
        **{field.name: getattr(event, field.name) for field in fields(event)},
        id=invite.id,
        status=status,
        stall_type=invite.stall_type,
        fee_minor=invite.fee_minor,
        message=invite.message,
        expires_at=invite.expires_at,
        reply=invite.reply,
        automatic=invite.automatic,
        created_at=invite.created_at,
        decided_at=invite.decided_at,
        version=invite.version,
    )
