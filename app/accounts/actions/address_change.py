"""Changes the address of an account: a code goes to the new address, and the old address can undo the change.

The old address gets a link that restores it within seven days. Until then it is reserved. Restoring an address also
undoes every later change, so that a person who took over the account cannot keep it by a second change.

Lock order: the addresses in alphabetical order, then the account, then its changes and codes.
"""

from datetime import timedelta

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts import one_time_codes, second_factor, sessions
from app.accounts.account_lifecycle import is_replaceable, lock_own_account, retire_account
from app.accounts.actions.external_login import unlink_all_identities
from app.accounts.address_reservations import UNDO_PERIOD, build_undo_token, is_reserved
from app.accounts.authentication import require_own_password
from app.accounts.caller import Caller
from app.accounts.errors import AddressTaken, CodeInvalid, CurrentPasswordWrong
from app.accounts.models import Account
from app.accounts.own_account_models import AddressChange
from app.accounts.queries import find_account, lock_account_by_email, lock_address
from app.accounts.quotas import ADDRESS_QUOTA, count_unverified_use
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.db import db
from app.core.errors import Busy, LinkExpired, NotFound, Throttled, ValidationFailed
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.tokens import fingerprint
from app.core.transaction import transaction

CHANGES_PER_DAY = Rule("address-changes", 10, timedelta(days=1))


def request_address_change(*, caller: Caller, new_email: str, password: str | None = None) -> None:
    """Mails a code to the new address; a known address gets a mail that says so. The response is always the same.

    An account without a password needs a recent sign-in. Raises ValidationFailed, CurrentPasswordWrong,
    ConfirmationRequired, Throttled, and EmailNotVerified when an unverified account has used up its quota.
    """
    if new_email == caller.email:
        raise ValidationFailed.of("newEmail", "unchanged", "This is the address of your account.")
    password_version = require_own_password(caller, password, path="password")
    new_values = {
        "id": new_id(),
        "old_email": caller.email,
        "new_email": new_email,
        "password_version": password_version,
        "created_at": func.now(),
    }
    with transaction() as session:
        lock_address(session, new_email)
        account = lock_own_account(session, caller)
        if account.password_version != password_version:
            raise CurrentPasswordWrong()
        count_unverified_use(session, caller, ADDRESS_QUOTA)
        daily_limit = throttle.hit(session, CHANGES_PER_DAY, caller.id)
        if daily_limit.exceeded:
            raise Throttled("Too many codes for new addresses today.", retry_after=daily_limit.seconds)
        session.execute(
            insert(AddressChange)
            .values(account_id=caller.id, **new_values)
            .on_conflict_do_update(
                index_elements=["account_id"],
                index_where=AddressChange.confirmed_at.is_(None) & AddressChange.ended_at.is_(None),
                set_=new_values,
            )
        )
        one_time_codes.issue_code(session, one_time_codes.CHANGE_EMAIL, new_email)


def confirm_address_change(*, caller: Caller, code: str) -> None:
    """Changes the address by the code that was mailed to it. Other sessions end; the old address gets a mail with a link.

    Nothing of the old address goes on working: reset tokens, codes and marks of known devices. Raises CodeInvalid, also
    when another account has the address by now; the attempt counts.
    """
    new_email = db.session.scalar(select(AddressChange.new_email).where(*_pending_conditions(caller.id)))
    if new_email is None:
        raise CodeInvalid()
    with transaction() as session:
        for email in sorted({caller.email, new_email}):
            lock_address(session, email)
        account = lock_own_account(session, caller, CodeInvalid)
        is_changed = one_time_codes.redeem_code(
            session, one_time_codes.CHANGE_EMAIL, new_email, code
        ) and _change_address(session, account, new_email, caller)
    if not is_changed:
        raise CodeInvalid()


def _pending_conditions(account_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        AddressChange.account_id == account_id,
        AddressChange.confirmed_at.is_(None),
        AddressChange.ended_at.is_(None),
    )


def _change_address(session: OrmSession, account: Account, new_email: str, caller: Caller) -> bool:
    """Carries out the pending change if it is still the one that was read, and the address is free."""
    change = session.scalar(
        select(AddressChange).where(
            *_pending_conditions(account.id),
            AddressChange.old_email == account.email,
            AddressChange.new_email == new_email,
            AddressChange.password_version == account.password_version,
        )
    )
    if change is None or account.email != caller.email or is_reserved(session, new_email, except_account_id=account.id):
        return False
    occupant = lock_account_by_email(session, new_email)
    if occupant is not None and not is_replaceable(occupant):
        return False
    retire_account(session, occupant)
    is_return = _end_changes_since(session, account.id, new_email)
    was_verified, left_email = account.email_verified_at is not None, account.email
    can_be_undone = was_verified and not is_return
    _void_codes(session, left_email)
    _set_address(session, account, new_email)
    change.confirmed_at = func.now()
    if can_be_undone:
        change.undo_hash = fingerprint(build_undo_token(change.id))
        change.undo_until = func.now() + UNDO_PERIOD
    else:
        change.ended_at = func.now()
    session.flush()
    sessions.end_all_sessions(session, account.id, "address_changed", except_session_id=caller.session_id)
    record(session, Action.ADDRESS_CHANGED, account_id=account.id, subject=account.id)
    if can_be_undone:
        enqueue("accounts.mail_address_changed", change_id=change.id)
    elif was_verified:
        enqueue("accounts.mail_address_restored", account_id=account.id, email=left_email)
    return True


def _end_changes_since(session: OrmSession, account_id: str, email: str) -> bool:
    """Ends the change away from an address to which the account returns, and all later ones. Returns whether it does."""
    left_at = session.scalar(
        select(func.min(AddressChange.confirmed_at)).where(
            AddressChange.account_id == account_id,
            AddressChange.old_email == email,
            AddressChange.ended_at.is_(None),
            AddressChange.undo_until > func.now(),
        )
    )
    if left_at is None:
        return False
    session.execute(
        update(AddressChange)
        .where(
            AddressChange.account_id == account_id,
            AddressChange.ended_at.is_(None),
            AddressChange.confirmed_at >= left_at,
        )
        .values(ended_at=func.now())
        .execution_options(synchronize_session=False)
    )
    return True


def _set_address(session: OrmSession, account: Account, email: str) -> None:
    """Gives the account a verified address. The new version of the password voids all tokens of the old address."""
    account.email, account.email_verified_at = email, func.now()
    account.password_version += 1
    account.version += 1
    session.flush()


def _void_codes(session: OrmSession, email: str) -> None:
    for purpose in one_time_codes.PURPOSES:
        one_time_codes.void_code(session, purpose, email)


def undo_address_change(*, token: str) -> str:
    """Restores the old address of a change, and returns it. Works once, until seven days after the change.

    Every session ends, the password and all Apple and Google accounts stop working, and the old address gets a code and
    a link for a new password. Later changes are undone too, and a second factor that was turned on after the change. An
    earlier second factor stays. Raises LinkExpired, NotFound, AddressTaken.
    """
    change = find_undoable_change(token)
    account = find_account(change.account_id)
    assert account is not None
    change_id, old_email, last_email = change.id, change.old_email, account.email
    with transaction() as session:
        for email in sorted({old_email, last_email}):
            lock_address(session, email)
        account = session.get_one(Account, change.account_id, with_for_update=True, populate_existing=True)
        if account.email != last_email:
            raise Busy()
        changed_at = session.scalar(
            update(AddressChange)
            .where(AddressChange.id == change_id, *_undoable_conditions())
            .values(ended_at=func.now())
            .returning(AddressChange.confirmed_at)
            .execution_options(synchronize_session=False)
        )
        if changed_at is None:
            raise LinkExpired()
        if session.scalar(select(Account.id).where(Account.email == old_email)) is not None:
            raise AddressTaken()
        session.execute(
            update(AddressChange)
            .where(
                AddressChange.account_id == account.id,
                AddressChange.ended_at.is_(None),
                or_(AddressChange.confirmed_at.is_(None), AddressChange.confirmed_at > changed_at),
            )
            .values(ended_at=func.now())
            .execution_options(synchronize_session=False)
        )
        if account.second_factor_since is not None and account.second_factor_since > changed_at:
            second_factor.remove_second_factor(session, account)
        account.password_hash = None
        # The person who changed the address may have asked for the deletion too.
        account.deletion_due_at = None
        unlink_all_identities(session, account.id)
        _void_codes(session, last_email)
        _set_address(session, account, old_email)
        sessions.end_all_sessions(session, account.id, "address_restored")
        record(session, Action.ADDRESS_RESTORED, account_id=account.id, subject=account.id)
        one_time_codes.issue_code_when_allowed(session, one_time_codes.RESET_PASSWORD, old_email)
        enqueue("accounts.mail_address_restored", account_id=account.id, email=last_email)
    return old_email


def find_undoable_change(token: str) -> AddressChange:
    """The change that this link undoes. Raises NotFound, and LinkExpired when it is over or was undone."""
    change = db.session.scalar(select(AddressChange).where(AddressChange.undo_hash == fingerprint(token)))
    if change is None:
        raise NotFound()
    is_open = db.session.scalar(select(AddressChange.id).where(AddressChange.id == change.id, *_undoable_conditions()))
    if is_open is None:
        raise LinkExpired()
    return change


def _undoable_conditions() -> tuple[ColumnElement[bool], ...]:
    return AddressChange.ended_at.is_(None), AddressChange.undo_until > func.now()
