"""Reads of merchants."""

from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.sql.elements import ColumnElement

from app.accounts.caller import Caller
from app.core.db import db
from app.merchants import payout_details, payout_encryption, settings
from app.merchants.models import Merchant, MerchantProfile
from app.merchants.states import ACTIVE, CLOSED, PAUSED

OWN_MERCHANT_ROW = Merchant.profile_id == MerchantProfile.account_id
"""Joins a profile with the row that was made for it."""


def is_active_sql() -> ColumnElement[bool]:
    """The condition on a profile that its merchant is not paused. No row at all means active.

    As an anti-join, so that PostgreSQL knows how rarely it refuses, and walks an index instead of sorting everything.
    """
    return ~exists().where(OWN_MERCHANT_ROW, Merchant.status == PAUSED).correlate(MerchantProfile)


def load_merchant_account(caller: Caller) -> dict[str, Any]:
    """The caller as a merchant. `version` grows with the account and with the merchant."""
    row = db.session.execute(
        select(MerchantProfile, Merchant)
        .outerjoin(Merchant, OWN_MERCHANT_ROW)
        .where(MerchantProfile.account_id == caller.id)
    ).first()
    return serialize_merchant(caller, row[0], row[1]) if row else serialize_merchant(caller, None, None)


def serialize_merchant(caller: Caller, profile: MerchantProfile | None, merchant: Merchant | None) -> dict[str, Any]:
    """The same from what was read already."""
    return {
        **_serialize_account(caller),
        **_serialize_profile(profile),
        **_serialize_merchant_row(caller.id, merchant),
        "version": compute_version(caller.version, merchant),
    }


def compute_version(account_version: int, merchant: Merchant | None) -> int:
    """Both counters only grow, so their sum changes whenever either of them does."""
    return account_version + (merchant.version if merchant else 0)


def get_merchant_status(account_id: str) -> str:
    """Whether a merchant is active or paused: what new payouts and invitations ask."""
    status = db.session.scalar(select(Merchant.status).where(Merchant.profile_id == account_id))
    return PAUSED if status == PAUSED else ACTIVE


def _serialize_account(caller: Caller) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": caller.id,
        "name": caller.name,
        "email": caller.email,
        "email_verified": caller.email_verified,
        "roles": sorted(caller.roles),
    }
    return {**fields, "phone": caller.phone} if caller.phone else fields


def _serialize_profile(profile: MerchantProfile | None) -> dict[str, Any]:
    names = ("business_name", "stall_name", "category", "city")
    return {name: getattr(profile, name) if profile else None for name in names}


def _serialize_merchant_row(account_id: str, merchant: Merchant | None) -> dict[str, Any]:
    details = payout_encryption.decrypt_payout_details(account_id, merchant.payout_details) if merchant else {}
    is_paused = merchant is not None and merchant.status == PAUSED
    return {
        "status": PAUSED if is_paused else ACTIVE,
        "floor_status": merchant.floor_status if merchant and not is_paused else CLOSED,
        "payout_details": payout_details.mask_payout_details(details),
        "settings": settings.get_effective_settings(merchant.settings if merchant else None),
    }
