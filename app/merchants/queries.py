"""Reads of a merchant's own account and settings, conditions on their status, and the lock of their row.

A lock creates the row when it is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict, cast

from sqlalchemy import Executable, bindparam, case, exists, null, select, text
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.orm import aliased
from sqlalchemy.sql.elements import ColumnElement

from app.accounts.caller import Caller, build_caller
from app.accounts.models import Account
from app.accounts.permissions import STALL_MONEY
from app.core.db import db, fetch_row
from app.merchants.errors import MerchantDeleted
from app.merchants.models import Merchant, MerchantProfile
from app.merchants.payout_details import decrypt_payout_details, mask_payout_details
from app.merchants.states import ACTIVE, CLOSED, PAUSED

OWN_MERCHANT_ROW = Merchant.profile_id == MerchantProfile.account_id
"""Joins a profile with its own merchant row."""
LOCK_MERCHANT_COLUMNS = (
    select(Merchant.status, Merchant.payout_details, Merchant.settings)
    .where(Merchant.account_id == bindparam("account_id"), Merchant.profile_id.is_not(None))
    .with_for_update()
)
PROFILE_FOREIGN_KEY = "fk_merchant_profile_id_merchant_profile"


class NotificationChannels(TypedDict):
    email: bool
    sms: bool
    push: bool


class MerchantSettings(TypedDict):
    """All settings of a merchant."""

    language: str
    notifications: NotificationChannels
    timezone: str
    auto_accept_invites: bool


class MerchantAccount(TypedDict):
    """A merchant's own account. `phone` is missing when it is not set."""

    id: str
    name: str
    email: str
    email_verified: bool
    roles: list[str]
    phone: NotRequired[str]
    business_name: str | None
    stall_name: str | None
    category: str | None
    city: str | None
    status: str
    floor_status: str
    payout_details: dict[str, str]
    settings: MerchantSettings
    version: int


@dataclass(frozen=True)
class MerchantPayoutInfo:
    """The columns of a merchant that a payout request needs."""

    status: str
    payout_details: bytes | None
    settings: dict[str, object]


DEFAULT_SETTINGS: MerchantSettings = {
    "language": "en",
    "notifications": {"email": True, "sms": True, "push": True},
    "timezone": "Africa/Windhoek",
    "auto_accept_invites": False,
}


def is_active_sql() -> ColumnElement[bool]:
    """The condition that the merchant of a profile is not paused. A merchant without a row is active.

    It is an anti-join, for which PostgreSQL estimates that few rows are excluded: it reads an index and does not sort.
    """
    return ~exists().where(OWN_MERCHANT_ROW, Merchant.status == PAUSED).correlate(MerchantProfile)


def load_merchant_account(caller: Caller) -> MerchantAccount:
    """The account of the caller's merchant, with masked payout details.

    Members of the team who may not see the money get neither these nor the owner's phone.
    """
    row = db.session.execute(
        select(MerchantProfile, Merchant)
        .outerjoin(Merchant, OWN_MERCHANT_ROW)
        .where(MerchantProfile.account_id == caller.merchant_id)
    ).first()
    is_own = caller.merchant_id == caller.id
    owner = caller if is_own else build_caller(db.session.get_one(Account, caller.merchant_id))
    account = build_merchant_account(owner, row[0], row[1]) if row else build_merchant_account(owner, None, None)
    if not caller.for_permission(STALL_MONEY).grant:
        account.pop("phone", None)
        account["payout_details"] = mask_payout_details({})
    return account


def find_business_name(account_id: str) -> str | None:
    """The name of a merchant's business; None without a profile."""
    return db.session.scalar(select(MerchantProfile.business_name).where(MerchantProfile.account_id == account_id))


def build_merchant_account(
    caller: Caller, profile: MerchantProfile | None, merchant: Merchant | None
) -> MerchantAccount:
    """The merchant's account from loaded rows."""
    is_paused = merchant is not None and merchant.status == PAUSED
    details = decrypt_payout_details(caller.id, merchant.payout_details) if merchant else {}
    account: MerchantAccount = {
        "id": caller.id,
        "name": caller.name,
        "email": caller.email,
        "email_verified": caller.email_verified,
        "roles": sorted(caller.roles),
        "business_name": profile.business_name if profile else None,
        "stall_name": profile.stall_name if profile else None,
        "category": profile.category if profile else None,
        "city": profile.city if profile else None,
        "status": PAUSED if is_paused else ACTIVE,
        "floor_status": merchant.floor_status if merchant and not is_paused else CLOSED,
        "payout_details": mask_payout_details(details),
        "settings": get_effective_settings(merchant.settings if merchant else None),
        "version": compute_version(caller.version, merchant),
    }
    if caller.phone:
        account["phone"] = caller.phone
    return account


def compute_version(account_version: int, merchant: Merchant | None) -> int:
    """The sum of the two versions. Both only grow, so the sum changes with either of them."""
    return account_version + (merchant.version if merchant else 0)


def get_effective_settings(saved_settings: Mapping[str, object] | None) -> MerchantSettings:
    """The saved settings, with defaults for the others."""
    return cast(MerchantSettings, merge_settings(DEFAULT_SETTINGS, saved_settings or {}))


def merge_settings(settings: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    """The settings with these changes. Nested objects are merged too."""
    merged_settings = dict(settings)
    for name, value in changes.items():
        current_value = merged_settings.get(name)
        if isinstance(value, Mapping) and isinstance(current_value, Mapping):
            merged_settings[name] = merge_settings(current_value, value)
        else:
            merged_settings[name] = value
    return merged_settings


def lock_merchant(session: OrmSession, account_id: str) -> Merchant:
    """The merchant row of the account, locked. A row of an earlier, deleted profile is reset. Raises MerchantDeleted."""
    merchant: Merchant = _lock_or_create_row(
        session, account_id, _upsert_merchant_statement(account_id).returning(Merchant)
    )[0]
    return merchant


def lock_merchant_columns(session: OrmSession, account_id: str) -> MerchantPayoutInfo:
    """Locks the merchant and returns only these columns. An existing row is not written, which is faster."""
    row = fetch_row(LOCK_MERCHANT_COLUMNS, {"account_id": account_id})
    if row is not None:
        return MerchantPayoutInfo(*row)
    merchant = lock_merchant(session, account_id)
    return MerchantPayoutInfo(merchant.status, merchant.payout_details, merchant.settings)


def lock_merchant_with_profile(session: OrmSession, account_id: str) -> tuple[Merchant, Account, MerchantProfile]:
    """Locks merchant, account and profile in one statement. Raises MerchantDeleted."""
    locked_merchant = aliased(
        Merchant, _upsert_merchant_statement(account_id).returning(Merchant).cte("locked_merchant")
    )
    statement = (
        select(locked_merchant, Account, MerchantProfile)
        .join(Account, Account.id == locked_merchant.account_id)
        .join(MerchantProfile, MerchantProfile.account_id == locked_merchant.account_id)
        .with_for_update(of=[Account, MerchantProfile])
    )
    row = _lock_or_create_row(session, account_id, statement)
    return row[0], row[1], row[2]


def lock_against_deletion(session: OrmSession, account_id: str) -> None:
    """Blocks the deletion of a merchant until the transaction ends, so that the deletion sees what it has written.

    Raises MerchantDeleted.
    """
    statement = select(Account.id).where(Account.id == account_id, Account.roles.contains(["merchant"]))
    if session.scalar(statement.with_for_update(read=True)) is None:
        raise MerchantDeleted()


def _lock_or_create_row(session: OrmSession, account_id: str, statement: Executable) -> tuple[Any, ...]:
    """The row of the statement. An account with the role but without a profile first gets a profile with its name.

    The account is locked before its roles are read, so that a deleted merchant gets no new profile. Raises
    MerchantDeleted.
    """
    row = _execute_lock(session, statement)
    if row is not None:
        return row
    is_merchant = (Account.id == account_id, Account.roles.contains(["merchant"]))
    account_name_query = select(Account.id, Account.name).where(*is_merchant).with_for_update(read=True)
    profile = insert(MerchantProfile).from_select(["account_id", "business_name"], account_name_query)
    session.execute(profile.on_conflict_do_nothing())
    row = _execute_lock(session, statement)
    if row is None:
        raise MerchantDeleted()
    return row


def _execute_lock(session: OrmSession, statement: Executable) -> tuple[Any, ...] | None:
    try:
        return session.execute(statement, execution_options={"populate_existing": True}).first()
    except IntegrityError as error:
        if _is_profile_deleted(error):
            raise MerchantDeleted() from error
        raise


def _is_profile_deleted(error: IntegrityError) -> bool:
    """Whether a concurrent deletion, for which the statement waited, has deleted the profile."""
    diagnostics = getattr(error.orig, "diag", None)
    return diagnostics is not None and diagnostics.constraint_name == PROFILE_FOREIGN_KEY


def _upsert_merchant_statement(account_id: str) -> Insert:
    is_abandoned = Merchant.profile_id.is_(None)
    profile = select(MerchantProfile.account_id, MerchantProfile.account_id.label("profile_id"))
    statement = insert(Merchant).from_select(
        ["account_id", "profile_id"], profile.where(MerchantProfile.account_id == account_id)
    )
    return statement.on_conflict_do_update(
        index_elements=["account_id"],
        set_={
            "profile_id": account_id,
            "status": case((is_abandoned, ACTIVE), else_=Merchant.status),
            "payout_details": case((is_abandoned, null()), else_=Merchant.payout_details),
            "settings": case((is_abandoned, text("'{}'::jsonb")), else_=Merchant.settings),
            "floor_status": case((is_abandoned, CLOSED), else_=Merchant.floor_status),
            "version": case((is_abandoned, 0), else_=Merchant.version),
        },
    )
