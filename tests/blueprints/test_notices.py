"""Notices about an account go to its verified address, and only so many of the same a day."""

import pytest

from app.accounts import jobs
from app.core.throttle import Rule
from tests.factories.accounts import PASSWORD, account, mails_to, signed_in
from tests.http import Client, data

ME = "/api/merchants/me"


def pause_and_resume(merchant: Client) -> None:
    data(merchant.post(f"{ME}/pause", {}))
    data(merchant.post(f"{ME}/resume", {"currentPassword": PASSWORD, "confirmation": "RESUME"}))


def test_an_unverified_address_gets_no_notice(client: Client) -> None:
    """It may be a stranger's, who would get one for each turn."""
    who = account("merchant", verified=False)
    merchant = signed_in(client, who)
    pause_and_resume(merchant)
    changed = {"currentPassword": PASSWORD, "newPassword": "another quiet evening"}
    data(merchant.post("/api/merchants/change-password", changed))
    assert mails_to(who.email) == []


def test_unverified_address_gets_no_deletion_mail(client: Client) -> None:
    who = account("merchant", verified=False)
    body = {"currentPassword": PASSWORD, "confirmation": "DELETE"}
    data(signed_in(client, who).post(f"{ME}/delete", body))
    assert mails_to(who.email) == []


def test_notices_of_one_kind_are_limited_per_day(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = jobs.NOTICES_PER_DAY
    monkeypatch.setattr(jobs, "NOTICES_PER_DAY", Rule(rule.name, 2, rule.window))
    who = account("merchant")
    merchant = signed_in(client, who)
    for _ in range(4):
        pause_and_resume(merchant)
    details = {"destination": "payrail", "msisdn": "+264811234567"}
    data(merchant.patch(ME, {"payoutDetails": details, "settings": {}}))
    subjects = [mail["subject"] for mail in mails_to(who.email)]
    assert subjects.count("Your business is paused") == 2 and len(subjects) == 3
