"""Merchants for tests."""

from itertools import count
from typing import Any

from app.accounts.models import Account, MerchantProfile
from app.core.transaction import transaction
from tests.factories.accounts import account, signed_in
from tests.http import Client, data

_numbers = count(1)
DELETE = "/api/merchants/me/delete"


def merchant_account(
    business_name: str | None = None, *, profile: dict[str, Any] | None = None, **details: Any
) -> Account:
    """An account that is a merchant's, with its profile."""
    made = account("merchant", **details)
    with transaction() as session:
        name = business_name or f"Kapana Corner {next(_numbers)}"
        session.add(MerchantProfile(account_id=made.id, business_name=name, **(profile or {})))
    return made


def merchant(client: Client, business_name: str | None = None, **details: Any) -> Client:
    """A client signed in as a new merchant."""
    return signed_in(client, merchant_account(business_name, **details))


def changed(caller: Client, **fields: Any) -> dict[str, Any]:
    """The merchant's account after these changes."""
    return data(caller.patch("/api/merchants/me", {"payoutDetails": {}, "settings": {}, **fields}))
