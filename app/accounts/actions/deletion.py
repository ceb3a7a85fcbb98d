"""Actions of people who leave: ask for the deletion of their account, and keep it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from app.accounts import sessions
from app.accounts.account_lifecycle import lock_own_account
from app.accounts.authentication import confirm_owner
from app.accounts.caller import Caller
from app.accounts.deletion import GRACE_PERIOD, check_deletion, lock_for_deletion
from app.accounts.errors import InvalidCredentials
from app.accounts.outgoing_mail import enqueue_notice
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import StaleVersion
from app.core.formatting import format_time
from app.core.transaction import transaction


@dataclass(frozen=True)
class PlannedDeletion:
    """When the account is deleted, and until when the last payout may come back (None: there is none)."""

    deletes_at: datetime
    money_may_return_until: datetime | None


def request_deletion(*, caller: Caller, password: str | None, expected_version: int | None = None) -> PlannedDeletion:
    """Marks the account for deletion after GRACE_PERIOD and ends all other sessions. A second call changes nothing.

    Raises ConfirmationRequired, CurrentPasswordWrong, Throttled, StaleVersion, LastSuperAdmin, InvalidCredentials when
    the session has ended, and the errors of the registered checks.
    """
    confirm_owner(caller, password)
    with transaction() as session:
        lock_for_deletion(session, caller.id)
        account = lock_own_account(session, caller, InvalidCredentials)
        if expected_version not in (None, account.version):
            raise StaleVersion()
        returns_until = check_deletion(session, account)
        deletes_at = account.deletion_due_at
        if deletes_at is None:
            now: datetime = session.execute(select(func.now())).scalar_one()
            account.deletion_due_at = deletes_at = now + GRACE_PERIOD
            account.version += 1
            session.flush()
            record(session, Action.DELETION_REQUESTED, caller=caller, account_id=account.id, subject=account.id)
            enqueue_notice("deletion_requested", account.id, when=format_time(deletes_at))
        sessions.end_all_sessions(session, account.id, "deletion_requested", except_session_id=caller.session_id)
        return PlannedDeletion(deletes_at, returns_until)


def keep_account(*, caller: Caller) -> None:
    """Cancels the deletion of the caller's account. Without one it changes nothing.

    Raises InvalidCredentials when the session has ended.
    """
    with transaction() as session:
        account = lock_own_account(session, caller, InvalidCredentials)
        if account.deletion_due_at is not None:
            account.deletion_due_at = None
            account.version += 1
            session.flush()
            record(session, Action.ACCOUNT_KEPT, caller=caller, account_id=account.id, subject=account.id)
            enqueue_notice("account_kept", account.id)
