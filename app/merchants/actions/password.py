"""A new password, by whoever knows the present one."""

from flask import current_app
from sqlalchemy import func, update

from app.accounts import passwords, sessions
from app.accounts.caller import Caller
from app.accounts.errors import CurrentPasswordWrong
from app.accounts.models import Account
from app.accounts.notices import enqueue_notice
from app.accounts.throttling import own_password_version
from app.core.transaction import transaction


def change_password(*, caller: Caller, current_password: str, new_password: str) -> None:
    """Sets the password, ends every other session, and tells the owner.

    Raises CurrentPasswordWrong (it counts like a failed sign-in), Throttled, ValidationFailed. Of two at once that
    both know the present password one wins; for the other it is wrong by then.
    """
    production = current_app.extensions["settings"].production
    passwords.check_uncommon(new_password, caller.email, caller.name, production=production, path="newPassword")
    seen = own_password_version(caller, current_password)
    if seen is None:
        raise CurrentPasswordWrong()
    new_hash = passwords.hashed(new_password)
    with transaction() as session:
        changed = session.execute(
            update(Account)
            .where(Account.id == caller.id, Account.password_version == seen)
            .values(
                password_hash=new_hash,
                password_version=Account.password_version + 1,
                version=Account.version + 1,
                updated_at=func.now(),
            )
            .returning(Account.id)
            .execution_options(synchronize_session=False)
        )
        if changed.first() is None:
            raise CurrentPasswordWrong()
        sessions.end_all(session, caller.id, "password_changed", but=caller.session_id)
        enqueue_notice("password_changed", caller.id)
