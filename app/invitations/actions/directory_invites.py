"""Invitations of merchants from the directory, up to 200 in one request, and their withdrawal."""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict, Unpack

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails
from app.core.ids import new_id
from app.core.outbox import enqueue_many
from app.core.transaction import transaction
from app.invitations.invite_checks import InviteTerms, RequestedTerms, build_terms, lock_event_for_invites
from app.invitations.models import EventInvite
from app.invitations.sql import INVITE_MERCHANTS_SQL
from app.invitations.states import PENDING, WITHDRAWN


class InvitedMerchant(NamedTuple):
    """A merchant with their invitation; `id` is None for one who takes part without an invitation."""

    id: str | None
    merchant_id: str
    status: str


class DirectoryInvites(TypedDict, total=False):
    """The result of inviting or withdrawing; only the lists that apply are present."""

    invited: list[InvitedMerchant]
    already_invited: list[InvitedMerchant]
    unavailable: list[str]
    withdrawn: list[InvitedMerchant]


def invite_from_directory(
    *, caller: Caller, event_id: str, merchant_ids: Sequence[str], **requested_terms: Unpack[RequestedTerms]
) -> DirectoryInvites:
    """Invites and mails each merchant who has no invitation yet; the others are reported.

    Merchants who accept automatically take part immediately, unless there is a fee. Raises NotFound, EventClosed,
    ValidationFailed, SenderNotVerified, MailLimitReached.
    """
    requested_ids = sorted(set(merchant_ids))
    with transaction() as session:
        event = lock_event_for_invites(session, caller, event_id)
        invited, already_invited, emails = _insert_invites(
            session, event_id, caller.id, requested_ids, build_terms(event, requested_terms)
        )
        count_mails(session, event.sender, emails)
        email_jobs = [(f"event-invite-{invite.id}", {"invite_id": invite.id}) for invite in invited]
        enqueue_many("invitations.mail_invite", email_jobs)
    unavailable = sorted(set(requested_ids) - {invite.merchant_id for invite in (*invited, *already_invited)})
    return {"invited": invited, "already_invited": already_invited, "unavailable": unavailable}


def withdraw_invites(*, caller: Caller, event_id: str, merchant_ids: Sequence[str]) -> DirectoryInvites:
    """Withdraws pending invitations; answered ones stay, and a repeated request changes nothing.

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
        return {"withdrawn": [InvitedMerchant(*row) for row in rows]}


def _insert_invites(
    session: OrmSession, event_id: str, organiser_id: str, merchant_ids: Sequence[str], terms: InviteTerms
) -> tuple[list[InvitedMerchant], list[InvitedMerchant], list[str]]:
    """The merchants invited now, those invited before or taking part, and the emails of the former."""
    parameters = {
        **terms,
        "event_id": event_id,
        "invited_by": organiser_id,
        "merchant_ids": merchant_ids,
        "invite_ids": [new_id() for _ in merchant_ids],
    }
    new_invites: list[InvitedMerchant] = []
    existing_invites: list[InvitedMerchant] = []
    emails: list[str] = []
    for row in session.execute(INVITE_MERCHANTS_SQL, parameters):
        invite = InvitedMerchant(row.id, row.merchant_id, row.status)
        (new_invites if row.is_new else existing_invites).append(invite)
        if row.is_new:
            emails.append(row.email)
    return new_invites, existing_invites, emails
