"""Reads of a merchant's own account and settings, and conditions on the status of merchants."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict, cast

from sqlalchemy import exists, select
from sqlalchemy.sql.elements import ColumnElement

from app.accounts.caller import Caller
from app.core.db import db
from app.merchants.models import Merchant, MerchantProfile
from app.merchants.payout_details import decrypt_payout_details, mask_payout_details
from app.merchants.states import ACTIVE, CLOSED, PAUSED

OWN_MERCHANT_ROW = Merchant.profile_id == MerchantProfile.account_id
"""Joins a profile with its own merchant row."""


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
    """The caller's account as a merchant, with masked payout details."""
    row = db.session.execute(
        select(MerchantProfile, Merchant)
        .outerjoin(Merchant, OWN_MERCHANT_ROW)
        .where(MerchantProfile.account_id == caller.id)
    ).first()
    return build_merchant_account(caller, row[0], row[1]) if row else build_merchant_account(caller, None, None)


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
