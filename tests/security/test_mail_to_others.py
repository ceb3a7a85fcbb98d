"""Mail to others: only from verified addresses, so many a day, one invitation to an address, and no links in it."""

from typing import Any

import pytest
from sqlalchemy import text

from app.accounts.models import Account
from app.clients import dev_mailbox
from app.core.transaction import transaction
from app.merchants.models import Merchant
from tests.factories import allocations
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.events import create_event, create_published_event
from tests.factories.merchants import create_merchant_account, invite_merchants
from tests.http import Client, data, read_error

VICTIM = "victim@example.org"


def execute(statement: str, **values: Any) -> None:
    with transaction() as session:
        session.execute(text(statement), values)


def without_verified_address(who: Account) -> None:
    execute("UPDATE account SET email_verified_at = NULL WHERE id = :id", id=who.id)


@pytest.fixture
def organiser_account() -> Account:
    return create_account("organiser")


@pytest.fixture
def owner(client: Client, app: object, organiser_account: Account) -> Client:
    return create_signed_in_client(client, organiser_account)


def test_an_unverified_organiser_cannot_mail_others(client: Client, owner: Client, organiser_account: Account) -> None:
    made = create_published_event(owner, ticketTypes=[{"name": "Pass", "priceMinor": 100, "quantity": 50}])
    block = allocations.create_block(client, owner=owner, holder={"name": "Bank", "email": VICTIM})
    merchant = create_merchant_account()
    without_verified_address(organiser_account)
    asked = [
        ("POST", f"/api/events/{made['id']}/merchant-invite", {"email": VICTIM, "message": "Look!"}),
        ("POST", f"/api/events/{made['id']}/directory-invites", {"merchantIds": [merchant.id]}),
        ("POST", f"{block.path}/remind", {}),
        ("POST", f"{block.path}/open-link", {}),
        ("POST", f"{block.path}/allocator-link", {}),
        ("POST", f"{block.path}/codes", {}),
        ("POST", f"{block.path}/invoice/email", {"to": VICTIM}),
        ("PATCH", f"/api/events/{made['id']}/inventory/reminder", {"recipients": [VICTIM], "enabled": True}),
        ("POST", f"/api/events/{made['id']}/inventory/reminder/trigger", {}),
    ]
    found = {(method, path): read_error(owner.open(method, path, body)) for method, path, body in asked}
    assert found == dict.fromkeys(found, (403, "EMAIL_NOT_VERIFIED"))
    assert list_mails_to(VICTIM) == []


def test_the_address_is_checked_before_the_body(owner: Client, organiser_account: Account) -> None:
    made = create_event(owner)
    without_verified_address(organiser_account)
    answer = owner.post(f"/api/events/{made['id']}/merchant-invite", data=b"{", content_type="application/json")
    assert read_error(answer) == (403, "EMAIL_NOT_VERIFIED")


def test_payout_details_need_a_verified_address(client: Client) -> None:
    who = create_merchant_account(verified=False)
    me = create_signed_in_client(client, who)
    details = {"destination": "payrail", "msisdn": "+264811234567"}
    answer = me.patch("/api/merchants/me", {"payoutDetails": details, "settings": {}})
    assert read_error(answer) == (403, "EMAIL_NOT_VERIFIED")
    assert data(me.patch("/api/merchants/me", {"payoutDetails": {}, "settings": {"language": "en"}}))
    with transaction() as session:
        assert all(row.payout_details is None for row in session.query(Merchant))


def test_mail_that_was_queued_does_not_leave_once_the_sender_is_unverified(
    client: Client, owner: Client, organiser_account: Account
) -> None:
    made = create_published_event(owner)
    block = allocations.create_block(client, owner=owner, holder={"name": "Bank", "email": VICTIM}, unitPriceMinor=500)
    token = block.open_link()
    invite_merchants(owner, made["id"], create_merchant_account(email=VICTIM))
    data(owner.post(f"/api/events/{made['id']}/merchant-invite", {"email": VICTIM}), 201)
    block.invite(VICTIM)
    data(owner.post(f"{block.path}/invoice/email", {}), 202)
    stock = f"/api/events/{made['id']}/inventory"
    data(owner.patch(f"{stock}/reminder", {"recipients": [VICTIM]}))
    data(owner.post(f"{stock}/reminder/trigger"), 202)
    without_verified_address(organiser_account)
    data(allocations.claim_slot(client, token, email=VICTIM))
    assert list_mails_to(VICTIM) == []
    assert not any(message["to"] == VICTIM for message in dev_mailbox.list_messages())


def test_scheduled_mail_does_not_leave_from_an_unverified_sender(
    client: Client, owner: Client, organiser_account: Account
) -> None:
    """A stock digest, an alert and a campaign whose time comes after the address is no longer verified."""
    made = create_published_event(owner)
    stock = f"/api/events/{made['id']}/inventory"
    data(owner.patch(f"{stock}/reminder", {"recipients": [VICTIM], "enabled": True}))
    beer = {
        "name": "Lager",
        "sku": "BEE-1",
        "parLevel": 9,
        "minOrderQty": 1,
        "reorderLevel": 5,
        "onHand": 10,
        "reserved": 0,
        "damaged": 0,
    }
    low = data(owner.post(f"{stock}/items", beer), 201)
    data(owner.post(f"{stock}/items/{low['id']}/adjust", {"delta": -6, "reason": "sold"}))
    block = allocations.create_block(client, owner=owner)
    data(allocations.claim_slot(client, block.codes(1)[0], email=VICTIM))
    run_jobs()
    before = len(list_mails_to(VICTIM))
    body = {
        "name": "News",
        "templateId": "blank",
        "title": "T",
        "body": "B",
        "channels": ["email"],
        "sendNow": False,
        "scheduledAt": "2027-01-01T10:00:00",
        "audienceType": "event_ticket_holders",
        "respectPreferences": True,
    }
    data(owner.post(f"/api/events/{block.event['id']}/notifications/broadcast", body), 202)
    execute("UPDATE outbox SET run_at = now() WHERE kind = 'campaigns.fan_out'")
    execute("UPDATE inventory_reminder SET next_at = now()")
    for kind in ("inventory.remind", "inventory.alert"):
        execute(
            "INSERT INTO outbox (kind, class, critical, bulk, max_attempts, payload)"
            " VALUES (:kind, 'C', false, false, 5, '{}')",
            kind=kind,
        )
    without_verified_address(organiser_account)
    for _ in range(3):
        run_jobs()
    assert len(list_mails_to(VICTIM)) == before
