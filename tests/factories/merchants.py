"""Merchants for tests."""

from itertools import count
from typing import Any

from app.accounts.models import Account
from app.core.transaction import transaction
from app.merchants.models import MerchantProfile
from tests.factories.accounts import create_account, create_signed_in_client
from tests.http import Client, data

_numbers = count(1)
DELETE = "/api/merchants/me/delete"


def create_merchant_account(
    business_name: str | None = None, *, profile: dict[str, Any] | None = None, **details: Any
) -> Account:
    """A new account with the role merchant and a profile."""
    new_account = create_account("merchant", **details)
    with transaction() as session:
        name = business_name or f"Kapana Corner {next(_numbers)}"
        session.add(MerchantProfile(account_id=new_account.id, business_name=name, **(profile or {})))
    return new_account


def create_merchant_client(client: Client, business_name: str | None = None, **details: Any) -> Client:
    """A client signed in as a new merchant."""
    return create_signed_in_client(client, create_merchant_account(business_name, **details))


def update_merchant(caller: Client, **fields: Any) -> dict[str, Any]:
    """Updates the merchant's account and returns it."""
    return data(caller.patch("/api/merchants/me", {"payoutDetails": {}, "settings": {}, **fields}))


def invite_merchants(owner: Client, event_id: str, *invited_merchants: Account, **terms: Any) -> dict[str, Any]:
    """Invites these merchants from the directory and returns the response data."""
    body = {"merchantIds": [merchant.id for merchant in invited_merchants], **terms}
    return data(owner.post(f"/api/events/{event_id}/directory-invites", body), 201)


def answer_invitation(caller: Client, invite_id: str, status: str = "accepted") -> dict[str, Any]:
    """Answers the invitation and returns it."""
    return data(caller.patch(f"/api/merchants/me/event-invites/{invite_id}", {"status": status}))


def create_participant(client: Client, owner: Client, event_id: str, **details: Any) -> tuple[Client, Account]:
    """A merchant who has accepted an invitation to the event: client and account."""
    new_account = create_merchant_account(**details)
    me = create_signed_in_client(client, new_account)
    answer_invitation(me, invite_merchants(owner, event_id, new_account)["invited"][0]["inviteId"])
    return me, new_account
