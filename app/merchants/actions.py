"""Actions of merchants on their own account: update the profile, pause, resume, delete.

Pausing needs only the token, resuming needs the password. Deletion erases the person; ledger and payouts stay.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import and_, exists, func, or_, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.authentication import find_own_password_version, verify_own_password
from app.accounts.caller import Caller
from app.accounts.deletion import erase_account, lock_for_deletion
from app.accounts.errors import CurrentPasswordWrong, EmailNotVerified
from app.accounts.models import Account
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.permissions import ORGANISER
from app.accounts.sessions import end_all_sessions
from app.accounts.team_models import TeamMember
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import StaleVersion
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.merchants import queries
from app.merchants.deletion_hooks import MerchantDeletion, check_open_money, erase_business
from app.merchants.models import Merchant, MerchantProfile
from app.merchants.payout_details import decrypt_payout_details, encrypt_payout_details, merge_payout_details
from app.merchants.queries import lock_merchant, lock_merchant_with_profile, merge_settings
from app.merchants.states import ACTIVE, CLOSED, DELETED, PAUSED, check_step

ACCOUNT_FIELDS = ("name", "phone")
MERCHANT_ROLE = "merchant"
DELETED_MERCHANT_NAME = "Deleted merchant"


@dataclass(frozen=True)
class MerchantStatus:
    """The status of a merchant; `paused_at` is None unless they are paused."""

    status: str
    paused_at: datetime | None


@dataclass(frozen=True)
class DeletionResult:
    """The status after a deletion, and until when the last payout may come back (None: there is none)."""

    status: str
    money_may_return_until: datetime | None


def update_profile(
    *,
    caller: Caller,
    expected_version: int | None,
    payout_details: Mapping[str, str | None],
    settings: Mapping[str, object],
    **new_values: str | None,
) -> queries.MerchantAccount:
    """Updates the given fields and returns the merchant's account. The two objects are merged.

    New payout details need a verified address, which gets a notice. Raises StaleVersion, ValidationFailed,
    EmailNotVerified, MerchantDeleted.
    """
    with transaction() as session:
        merchant, account, profile = lock_merchant_with_profile(session, caller.id)
        if expected_version not in (None, queries.compute_version(account.version, merchant)):
            raise StaleVersion()
        details_changed = _update_payout_details(merchant, payout_details)
        if any([_update_fields(account, profile, new_values), details_changed, _update_settings(merchant, settings)]):
            merchant.version += 1
        if details_changed:
            if not caller.email_verified:
                raise EmailNotVerified()
            record(session, Action.PAYOUT_DETAILS_CHANGED, account_id=caller.id, subject=caller.id)
            enqueue_notice("payout_details_changed", caller.id)
        session.flush()
    updated_caller = replace(caller, name=account.name, phone=account.phone, version=account.version)
    return queries.build_merchant_account(updated_caller, profile, merchant)


def _update_fields(account: Account, profile: MerchantProfile, new_values: Mapping[str, str | None]) -> bool:
    """Sets the fields that differ. Returns whether any did."""
    changed = False
    for name, value in new_values.items():
        row = account if name in ACCOUNT_FIELDS else profile
        if getattr(row, name) != value:
            setattr(row, name, value)
            changed = True
    return changed


def _update_payout_details(merchant: Merchant, changes: Mapping[str, str | None]) -> bool:
    """Merges changes into the encrypted details. Returns whether anything has changed."""
    saved_details = decrypt_payout_details(merchant.account_id, merchant.payout_details)
    new_details = merge_payout_details(saved_details, changes, path="payoutDetails")
    if new_details == saved_details:
        return False
    merchant.payout_details = encrypt_payout_details(merchant.account_id, new_details) if new_details else None
    return True


def _update_settings(merchant: Merchant, changes: Mapping[str, object]) -> bool:
    new_settings = merge_settings(merchant.settings, changes)
    if new_settings == merchant.settings:
        return False
    merchant.settings = new_settings
    return True


def pause_merchant(*, caller: Caller) -> MerchantStatus:
    """Hides the merchant, closes their stalls and holds their payouts. A second call changes nothing."""
    with transaction() as session:
        merchant = lock_merchant(session, caller.merchant_id)
        if merchant.status != PAUSED:
            now: datetime = session.execute(select(func.now())).scalar_one()
            _change_status(merchant, PAUSED)
            merchant.floor_status, merchant.paused_at = CLOSED, now
            record(session, Action.MERCHANT_PAUSED, account_id=caller.merchant_id, subject=caller.merchant_id)
            enqueue_notice("merchant_paused", caller.merchant_id)
        session.flush()
    return _build_status(merchant)


def resume_merchant(*, caller: Caller, current_password: str) -> MerchantStatus:
    """Ends the pause. The stalls stay closed until the merchant opens them.

    Raises CurrentPasswordWrong (it counts like a failed sign-in) and Throttled.
    """
    if not verify_own_password(caller, current_password):
        raise CurrentPasswordWrong()
    with transaction() as session:
        merchant = lock_merchant(session, caller.id)
        if merchant.status == PAUSED:
            _change_status(merchant, ACTIVE)
            record(session, Action.MERCHANT_RESUMED, account_id=caller.id, subject=caller.id)
        session.flush()
    return _build_status(merchant)


def _change_status(merchant: Merchant, new_status: str) -> None:
    check_step(merchant.status, new_status)
    merchant.status = new_status
    merchant.version += 1


def _build_status(merchant: Merchant) -> MerchantStatus:
    return MerchantStatus(merchant.status, merchant.paused_at if merchant.status == PAUSED else None)


def delete_merchant(*, caller: Caller, current_password: str) -> DeletionResult:
    """Erases the merchant, and the whole account unless it has another role or a place in a team. Every session ends.

    Raises CurrentPasswordWrong, Throttled, BalanceNotZero, PayoutInProgress, MerchantDeleted.
    """
    password_version = find_own_password_version(caller, current_password)
    if password_version is None:
        raise CurrentPasswordWrong()
    with transaction() as session:
        lock_for_deletion(session, caller.id)
        # With the account locked, a settlement for it either commits before or finds no merchant.
        merchant, account, _ = lock_merchant_with_profile(session, caller.id)
        if account.password_version != password_version:
            # A reset has set another password since it was verified.
            raise CurrentPasswordWrong()
        returns_until = check_open_money(session, caller.id)
        check_step(merchant.status, DELETED)
        record(session, Action.MERCHANT_DELETED, account_id=caller.id, subject=caller.id)
        if _is_needed(session, account):
            account.roles = [role for role in account.roles if role != MERCHANT_ROLE]
            account.version += 1
            session.flush()
            end_all_sessions(session, caller.id, "merchant_deleted")
            erase_business(session, MerchantDeletion(caller.id, caller.email if caller.email_verified else None))
        else:
            erase_account(session, account, name=DELETED_MERCHANT_NAME)
        if caller.email_verified:
            enqueue(
                "merchants.mail_farewell",
                account_id=caller.id,
                email=caller.email,
                name=caller.name,
                returns_until=returns_until.isoformat() if returns_until else None,
            )
    return DeletionResult(DELETED, returns_until)


def _is_needed(session: OrmSession, account: Account) -> bool:
    """Whether the account has another role, a place in a team, or an organisation that it has founded and passed on."""
    in_team = or_(
        TeamMember.account_id == account.id, and_(TeamMember.team_id == account.id, TeamMember.kind == ORGANISER)
    )
    return account.roles != [MERCHANT_ROLE] or bool(session.scalar(select(exists().where(in_team))))
