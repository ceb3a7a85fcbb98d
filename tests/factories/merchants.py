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


def invited(owner: Client, event_id: str, *who: Account, **terms: Any) -> dict[str, Any]:
    """What inviting these merchants from the directory answers."""
    body = {"merchantIds": [item.id for item in who], **terms}
    return data(owner.post(f"/api/events/{event_id}/directory-invites", body), 201)


def answered(caller: Client, invite_id: str, status: str = "accepted") -> dict[str, Any]:
    """The invitation after the answer."""
    return data(caller.patch(f"/api/merchants/me/event-invites/{invite_id}", {"status": status}))


def participant(client: Client, owner: Client, event_id: str, **details: Any) -> tuple[Client, Account]:
    """A merchant who takes part in the event, by an invitation that they accepted."""
    who = merchant_account(**details)
    me = signed_in(client, who)
    answered(me, invited(owner, event_id, who)["invited"][0]["inviteId"])
    return me, who
