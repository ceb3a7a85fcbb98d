"""Notices go only to verified addresses, and a limited number of one kind per day."""

import pytest

from app.accounts import jobs
from app.core.throttle import Rule
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to
from tests.http import Client, data

ME = "/api/merchants/me"


def pause_and_resume(merchant: Client) -> None:
    data(merchant.post(f"{ME}/pause", {}))
    data(merchant.post(f"{ME}/resume", {"currentPassword": PASSWORD, "confirmation": "RESUME"}))


def test_an_unverified_address_gets_no_notice(client: Client) -> None:
    """It may belong to a stranger."""
    owner = create_account("merchant", verified=False)
    merchant = create_signed_in_client(client, owner)
    pause_and_resume(merchant)
    changed = {"currentPassword": PASSWORD, "newPassword": "another quiet evening"}
    data(merchant.post("/api/merchants/change-password", changed))
    assert list_mails_to(owner.email) == []


def test_unverified_address_gets_no_deletion_mail(client: Client) -> None:
    owner = create_account("merchant", verified=False)
    body = {"currentPassword": PASSWORD, "confirmation": "DELETE"}
    data(create_signed_in_client(client, owner).post(f"{ME}/delete", body))
    assert list_mails_to(owner.email) == []


def test_notices_of_one_kind_are_limited_per_day(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = jobs.NOTICES_PER_DAY
    monkeypatch.setattr(jobs, "NOTICES_PER_DAY", Rule(limit.name, 2, limit.window))
    owner = create_account("merchant")
    merchant = create_signed_in_client(client, owner)
    for _ in range(4):
        pause_and_resume(merchant)
    details = {"destination": "payrail", "msisdn": "+264811234567"}
    data(merchant.patch(ME, {"payoutDetails": details, "settings": {}}))
    subjects = [mail["subject"] for mail in list_mails_to(owner.email)]
    assert subjects.count("Your business is paused") == 2 and len(subjects) == 3
