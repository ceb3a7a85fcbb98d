"""Merchants for tests."""

from itertools import count
from typing import Any

from app.accounts.models import Account
from app.core.transaction import transaction
from app.merchants.models import MerchantProfile
from tests.factories.accounts import account, signed_in
from tests.http import Client, data

_numbers = count(1)
DELETE = "/api/merchants/me/delete"


def merchant_account(
    business_name: str | None = None, *, profile: dict[str, Any] | None = None, **details: Any
) -> Account:
    """A new account with the role merchant and a profile."""
    new_account = account("merchant", **details)
    with transaction() as session:
        name = business_name or f"Kapana Corner {next(_numbers)}"
        session.add(MerchantProfile(account_id=new_account.id, business_name=name, **(profile or {})))
    return new_account


def merchant(client: Client, business_name: str | None = None, **details: Any) -> Client:
    """A client signed in as a new merchant."""
    return signed_in(client, merchant_account(business_name, **details))


def changed(caller: Client, **fields: Any) -> dict[str, Any]:
    """Updates the merchant's account and returns it."""
    return data(caller.patch("/api/merchants/me", {"payoutDetails": {}, "settings": {}, **fields}))


def invited(owner: Client, event_id: str, *invited_merchants: Account, **terms: Any) -> dict[str, Any]:
    """Invites these merchants from the directory and returns the response data."""
    body = {"merchantIds": [merchant.id for merchant in invited_merchants], **terms}
    return data(owner.post(f"/api/events/{event_id}/directory-invites", body), 201)


def answered(caller: Client, invite_id: str, status: str = "accepted") -> dict[str, Any]:
    """Answers the invitation and returns it."""
    return data(caller.patch(f"/api/merchants/me/event-invites/{invite_id}", {"status": status}))


def participant(client: Client, owner: Client, event_id: str, **details: Any) -> tuple[Client, Account]:
    """A merchant who has accepted an invitation to the event: client and account."""
    new_account = merchant_account(**details)
    me = signed_in(client, new_account)
    answered(me, invited(owner, event_id, new_account)["invited"][0]["inviteId"])
    return me, new_account
