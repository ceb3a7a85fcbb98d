"""Changes the details and the password of the caller's own account."""

from dataclasses import replace

from flask import current_app
from sqlalchemy import func, update

from app.accounts import authentication, sessions
from app.accounts.account_lifecycle import lock_own_account
from app.accounts.authentication import require_own_password
from app.accounts.caller import Caller
from app.accounts.errors import CurrentPasswordWrong, InvalidCredentials
from app.accounts.models import Account
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.queries import find_working_access
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import StaleVersion
from app.core.transaction import transaction


def update_profile(*, caller: Caller, expected_version: int | None = None, **new_values: str | None) -> Caller:
    """Sets name, phone and language where they are given, and returns the changed caller. Raises StaleVersion."""
    with transaction() as session:
        account = lock_own_account(session, caller, InvalidCredentials)
        if expected_version not in (None, account.version):
            raise StaleVersion()
        changes = {name: value for name, value in new_values.items() if getattr(account, name) != value}
        for name, value in changes.items():
            setattr(account, name, value)
        if changes:
            account.version += 1
            record(
                session, Action.PROFILE_CHANGED, account_id=account.id, subject=account.id, data={"fields": [*changes]}
            )
        session.flush()
        return replace(
            caller, name=account.name, phone=account.phone, language=account.language, version=account.version
        )


def change_password(*, caller: Caller, new_password: str, current_password: str | None = None) -> None:
    """Sets the password, ends every other session, and notifies the owner.

    An account without a password gets its first one after a recent sign-in. Raises CurrentPasswordWrong (it counts like
    a failed sign-in), ConfirmationRequired, Throttled, ValidationFailed. Of two concurrent requests with the current
    password one succeeds; the other gets CurrentPasswordWrong.
    """
    production = current_app.extensions["settings"].production
    authentication.reject_common_password(
        new_password, caller.email, caller.name, production=production, path="newPassword"
    )
    password_version = require_own_password(caller, current_password, path="currentPassword")
    new_hash = authentication.hash_password(new_password)
    with transaction() as session:
        changed_id = session.scalar(
            update(Account)
            .where(Account.id == caller.id, Account.password_version == password_version)
            .values(
                password_hash=new_hash,
                password_version=Account.password_version + 1,
                version=Account.version + 1,
                updated_at=func.now(),
            )
            .returning(Account.id)
            .execution_options(synchronize_session=False)
        )
        if changed_id is None:
            raise CurrentPasswordWrong()
        sessions.end_all_sessions(session, caller.id, "password_changed", except_session_id=caller.session_id)
        record(session, Action.PASSWORD_CHANGED, account_id=caller.id, subject=caller.id)
        enqueue_notice("password_changed", caller.id, **find_working_access(session, caller.id)._asdict())
