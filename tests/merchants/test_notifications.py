"""What a merchant can switch off, and what is sent all the same."""

import pytest
from flask import Flask

from app.accounts.models import Account
from app.merchants.notifications import KINDS, OPTIONAL, may_send
from tests.allocations.blocks import festival, organiser_of
from tests.factories.accounts import create_signed_in_client, list_mails_to
from tests.factories.campaigns import CampaignEvent
from tests.factories.merchants import create_merchant_account, invite_merchants, update_merchant
from tests.house.sources import ROOT
from tests.http import Client, data

MAIL_PARTS = {"base", "parts", "greeting", "footer", "steps", "terms", "ticket_facts", "safety"}


def a_merchant(client: Client, **channels: bool) -> tuple[Client, Account]:
    merchant = create_merchant_account()
    me = create_signed_in_client(client, merchant)
    update_merchant(me, settings={"notifications": channels})
    return me, merchant


def subjects(merchant: Account) -> list[str]:
    return [mail["subject"] for mail in list_mails_to(merchant.email)]


def test_every_mail_is_essential_or_optional() -> None:
    templates = {path.stem for path in (ROOT / "app/templates/email").glob("*.txt")} - MAIL_PARTS
    assert set(KINDS) == templates


def test_the_documentation_lists_each_optional_message() -> None:
    page = (ROOT / "docs/merchants.md").read_text()
    assert [name for name, kind in KINDS.items() if kind == OPTIONAL and f"`{name}`" not in page] == []


def test_an_invitation_is_not_mailed_to_a_merchant_without_mail(client: Client) -> None:
    owner, _ = organiser_of(client)
    event = festival(owner)
    me, silent = a_merchant(client, email=False)
    _, reachable = a_merchant(client, sms=False, push=False)
    invite_merchants(owner, event["id"], silent, reachable)
    assert subjects(silent) == [] and len(subjects(reachable)) == 1
    assert len(data(me.get("/api/merchants/me/event-invites?status=pending"))["invites"]) == 1


def test_security_and_money_are_mailed_without_mail(client: Client) -> None:
    me, merchant = a_merchant(client, email=False)
    update_merchant(me, payoutDetails={"destination": "payrail", "msisdn": "+264811234567"})
    data(client.post("/api/auth/password-reset/request", {"email": merchant.email}))
    assert len(subjects(merchant)) == 2


def test_an_automatic_acceptance_is_mailed_without_mail(client: Client) -> None:
    owner, _ = organiser_of(client)
    event = festival(owner)
    me, merchant = a_merchant(client, email=False)
    update_merchant(me, settings={"autoAcceptInvites": True})
    invite_merchants(owner, event["id"], merchant, feeMinor=0)
    assert len(subjects(merchant)) == 1


@pytest.mark.parametrize("channel", ["email", "sms", "push"])
def test_a_campaign_does_not_use_a_channel_that_is_off(client: Client, channel: str) -> None:
    campaign_event = CampaignEvent(client)
    merchant = create_merchant_account(phone="+264811234567")
    me = create_signed_in_client(client, merchant)
    data(me.post("/api/notifications/devices", {"token": "t" * 40, "platform": "android"}), 201)
    campaign_event.sold(merchant.email)
    assert campaign_event.preview(channels=[channel])["reachable"][channel] == 1
    update_merchant(me, settings={"notifications": {channel: False}})
    assert campaign_event.preview(channels=[channel])["excluded"]["optedOut"] == 1
    assert campaign_event.preview(channels=[channel], respectPreferences=False)["reachable"][channel] == 1


def test_an_unverified_account_does_not_stop_the_mail_of_an_address(app: Flask, client: Client) -> None:
    _, verified = a_merchant(client, email=False)
    assert not may_send("inventory_alert", verified.email) and may_send("payout_paid", verified.email)
    assert may_send("inventory_alert", "nobody@example.com")
