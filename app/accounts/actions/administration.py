"""What admins may do to accounts: suspend and restore them, and end their sessions.

Each act is recorded with its reason, and in the audit trail without it, because a reason may name people. The owner gets
a mail about it, unless the admin gives a reason why they must not be told.
"""

from dataclasses import dataclass

from flask import current_app
from sqlalchemy import func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts import sessions
from app.accounts.caller import Caller
from app.accounts.deletion import GRACE_PERIOD, lock_admins
from app.accounts.errors import InvalidCredentials, OwnAccount, TierTooHigh
from app.accounts.models import DELETED_DOMAIN, Account
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.personal_data_models import RESTORED, SESSIONS_ENDED, SUSPENDED, AccountAct
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import NotFound, ValidationFailed
from app.core.transaction import transaction

NOTICES = {
    SUSPENDED: "account_suspended",
    RESTORED: "account_restored",
    SESSIONS_ENDED: "sessions_ended_by_admin",
}
AUDITED_ACTIONS = {
    SUSPENDED: Action.ACCOUNT_SUSPENDED,
    RESTORED: Action.ACCOUNT_RESTORED,
    SESSIONS_ENDED: Action.ACCOUNT_SESSIONS_ENDED,
}


@dataclass(frozen=True)
class Justification:
    """Why an admin acts. `not_told_reason` is why the owner gets no mail about it, and None when they get one."""

    reason: str | None = None
    not_told_reason: str | None = None


def build_justification(
    *, reason: str | None = None, tell_owner: bool = True, not_told_reason: str | None = None
) -> Justification:
    """The justification in a request. Raises ValidationFailed for silence without a reason, and a reason without it."""
    if not tell_owner and not not_told_reason:
        message = "Say why the owner must not be told, for example the law that forbids it."
        raise ValidationFailed.of("notToldReason", "required", message)
    if tell_owner and not_told_reason:
        raise ValidationFailed.of("notToldReason", "not_allowed", "Send it only with tellOwner false.")
    return Justification(reason, not_told_reason)


def suspend_account(*, caller: Caller, account_id: str, justification: Justification) -> None:
    """Ends every session of an account and refuses new ones. A second call changes nothing.

    Raises NotFound, OwnAccount, TierTooHigh, InvalidCredentials when the caller's session has ended.
    """
    with transaction() as session:
        account = _lock_account(session, caller, account_id)
        if account.suspended_at is None:
            account.suspended_at = func.now()
            account.version += 1
            # A sign-in holds the row, so it commits before and is ended here, or finds the account suspended.
            session.flush()
            sessions.end_all_sessions(session, account_id, "suspended")
            _record_act(session, caller, account_id, SUSPENDED, justification)


def restore_account(*, caller: Caller, account_id: str, justification: Justification) -> None:
    """Lets the owner of a suspended account sign in again. A deletion that was due waits for another grace period.

    Raises NotFound, OwnAccount, TierTooHigh, InvalidCredentials when the caller's session has ended.
    """
    with transaction() as session:
        account = _lock_account(session, caller, account_id)
        if account.suspended_at is not None:
            account.suspended_at = None
            if account.deletion_due_at is not None:
                account.deletion_due_at = func.greatest(account.deletion_due_at, func.now() + GRACE_PERIOD)
            account.version += 1
            session.flush()
            _record_act(session, caller, account_id, RESTORED, justification)


def end_account_sessions(*, caller: Caller, account_id: str, justification: Justification) -> None:
    """Ends every session of an account. The owner can sign in again.

    Raises NotFound, OwnAccount, TierTooHigh, InvalidCredentials when the caller's session has ended.
    """
    with transaction() as session:
        _lock_account(session, caller, account_id)
        sessions.end_all_sessions(session, account_id, "ended_by_admin")
        _record_act(session, caller, account_id, SESSIONS_ENDED, justification)


def _lock_account(session: OrmSession, caller: Caller, account_id: str) -> Account:
    """The account, locked, if the caller may act on it. An admin may act on others up to their own tier.

    Of two admins who suspend each other at the same moment, one succeeds.
    """
    if session.scalar(select(Account.admin_tier).where(Account.id == account_id)) is not None:
        lock_admins(session)
    account = session.get(Account, account_id, with_for_update=True, populate_existing=True)
    if account is None or account.retired_at is not None or account.email.endswith(f"@{DELETED_DOMAIN}"):
        raise NotFound()
    if account.id == caller.id:
        raise OwnAccount()
    if account.admin_tier is not None and not caller.has_tier(account.admin_tier):
        raise TierTooHigh("This account has a higher tier than yours; an admin of its tier must do this.")
    if not sessions.is_session_active(session, caller.session_id):
        raise InvalidCredentials()
    return account


def _record_act(session: OrmSession, caller: Caller, account_id: str, verb: str, justification: Justification) -> None:
    is_owner_told = justification.not_told_reason is None
    session.add(
        AccountAct(
            account_id=account_id,
            admin_id=caller.id,
            verb=verb,
            reason=justification.reason,
            owner_told=is_owner_told,
            not_told_reason=justification.not_told_reason,
        )
    )
    data = {"ownerTold": is_owner_told}
    record(session, AUDITED_ACTIONS[verb], caller=caller, account_id=account_id, subject=account_id, data=data)
    if is_owner_told:
        contact = current_app.extensions["settings"].CONTACT_EMAIL
        contact_url = f"mailto:{contact}" if contact else ""
        enqueue_notice(NOTICES[verb], account_id, why=justification.reason, contact_url=contact_url)
