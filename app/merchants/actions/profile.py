"""Changing one's profile, where money goes, and settings."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.accounts.caller import Caller
from app.accounts.errors import EmailNotVerified
from app.accounts.models import Account
from app.accounts.notices import enqueue_notice
from app.core.errors import StaleVersion
from app.core.transaction import transaction
from app.merchants import payout_details as details_of
from app.merchants import queries, vault
from app.merchants import settings as settings_of
from app.merchants.claiming import claimed_with_profile
from app.merchants.models import Merchant, MerchantProfile

OF_ACCOUNT = ("name", "phone")


def change_profile(
    *,
    caller: Caller,
    expected_version: int | None,
    payout_details: Mapping[str, Any],
    settings: Mapping[str, Any],
    **names: Any,
) -> dict[str, Any]:
    """The profile with these changes; what is not named stays, within the two objects as well.

    New payout details need a verified address, and are told to it by mail. Raises StaleVersion, ValidationFailed,
    EmailNotVerified.
    """
    with transaction() as session:
        merchant, account, profile = claimed_with_profile(session, caller.id)
        if expected_version not in (None, queries.version(account.version, merchant)):
            raise StaleVersion()
        moved = _redirect(merchant, payout_details)
        if any([_put(account, profile, names), moved, _set(merchant, settings)]):
            merchant.version += 1
        if moved:
            if not caller.email_verified:
                raise EmailNotVerified()
            enqueue_notice("payout_details_changed", caller.id)
        session.flush()
    now = replace(caller, name=account.name, phone=account.phone, version=account.version)
    return queries.shown(now, profile, merchant)


def _put(account: Account, profile: MerchantProfile, names: Mapping[str, Any]) -> bool:
    """Sets the names that differ; whether any did."""
    changed = False
    for name, value in names.items():
        owner = account if name in OF_ACCOUNT else profile
        if getattr(owner, name) != value:
            setattr(owner, name, value)
            changed = True
    return changed


def _redirect(merchant: Merchant, changes: Mapping[str, Any]) -> bool:
    """Joins changes into the sealed details; whether anything is different now."""
    known = vault.opened(merchant.account_id, merchant.payout_details)
    wanted = details_of.merged(known, changes, path="payoutDetails")
    if wanted == known:
        return False
    merchant.payout_details = vault.sealed(merchant.account_id, wanted) if wanted else None
    return True


def _set(merchant: Merchant, changes: Mapping[str, Any]) -> bool:
    wanted = settings_of.merged(merchant.settings, changes)
    if wanted == merchant.settings:
        return False
    merchant.settings = wanted
    return True
