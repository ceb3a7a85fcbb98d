"""The states of merchants, and concurrent changes of one merchant."""

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.merchants import payout_details
from app.merchants.states import ACTIVE, DELETED, PAUSED, STATUSES, STEPS, check_step
from tests.factories.accounts import PASSWORD, create_signed_in_client, list_mails_to
from tests.factories.merchants import create_merchant_account
from tests.http import Client
from tests.races import run_concurrently

ALLOWED = {(ACTIVE, PAUSED), (PAUSED, ACTIVE), (ACTIVE, DELETED), (PAUSED, DELETED), (DELETED, ACTIVE)}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("target", STATUSES)
def test_only_listed_steps_are_allowed(status: str, target: str) -> None:
    assert set(STEPS) == set(STATUSES)
    if (status, target) in ALLOWED:
        check_step(status, target)
    else:
        with pytest.raises(ValueError, match=status):
            check_step(status, target)


def test_concurrent_pauses_make_one_row_and_one_mail(client: Client) -> None:
    owner = create_merchant_account()
    me = create_signed_in_client(client, owner)
    assert set(run_concurrently(16, lambda _: me.post("/api/merchants/me/pause").status_code)) == {200}
    assert [item["subject"] for item in list_mails_to(owner.email)] == ["Your business is paused"]
    assert db.session.execute(text("SELECT status, version FROM merchant")).all() == [("paused", 1)]


def test_one_of_concurrent_password_changes_succeeds(client: Client) -> None:
    me = create_signed_in_client(client, create_merchant_account())
    bodies = [{"currentPassword": PASSWORD, "newPassword": f"the rain came late {number}"} for number in range(4)]
    answers = run_concurrently(4, lambda number: me.post("/api/merchants/change-password", bodies[number]).status_code)
    assert sorted(answers) == [200, 422, 422, 422]


def test_concurrent_changes_are_all_kept(client: Client) -> None:
    me = create_signed_in_client(client, create_merchant_account())
    fields = [
        {"settings": {"language": "de"}},
        {"settings": {"timezone": "Africa/Lusaka"}},
        {"name": "Ndapewa H"},
        {"payoutDetails": {"bankName": "FNB"}},
        {"payoutDetails": {"msisdn": "0811234567"}},
    ]
    no_changes: dict[str, object] = {"payoutDetails": {}, "settings": {}}
    run_concurrently(5, lambda number: me.patch("/api/merchants/me", {**no_changes, **fields[number]}))
    account_data = me.get("/api/merchants/me").get_json()["data"]
    assert (account_data["settings"]["language"], account_data["settings"]["timezone"]) == ("de", "Africa/Lusaka")
    assert (account_data["name"], set(account_data["payoutDetails"])) == ("Ndapewa H", {"bankName", "msisdn"})


def test_encrypted_details_are_readable_only_for_their_account(app: Flask) -> None:
    encrypted = payout_details.encrypt_payout_details("a" * 24, {"msisdn": "+264811234567"})
    assert payout_details.decrypt_payout_details("a" * 24, encrypted) == {"msisdn": "+264811234567"}
    assert encrypted != payout_details.encrypt_payout_details("a" * 24, {"msisdn": "+264811234567"})
    assert payout_details.decrypt_payout_details("b" * 24, encrypted) == {}
