"""The state machine of merchants, and what guards it when two act at once."""

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.merchants import payout_encryption
from app.merchants.states import ACTIVE, DELETED, PAUSED, STATUSES, STEPS, check_step
from tests.factories.accounts import PASSWORD, mails_to, signed_in
from tests.factories.merchants import merchant_account
from tests.http import Client
from tests.races import at_once

ALLOWED = {(ACTIVE, PAUSED), (PAUSED, ACTIVE), (ACTIVE, DELETED), (PAUSED, DELETED), (DELETED, ACTIVE)}


@pytest.mark.parametrize("now", STATUSES)
@pytest.mark.parametrize("wanted", STATUSES)
def test_only_the_steps_of_the_table_can_be_taken(now: str, wanted: str) -> None:
    assert set(STEPS) == set(STATUSES)
    if (now, wanted) in ALLOWED:
        check_step(now, wanted)
    else:
        with pytest.raises(ValueError, match=now):
            check_step(now, wanted)


def test_sixteen_pauses_at_once_make_one_row_and_one_mail(client: Client) -> None:
    who = merchant_account()
    me = signed_in(client, who)
    assert set(at_once(16, lambda _: me.post("/api/merchants/me/pause").status_code)) == {200}
    assert [item["subject"] for item in mails_to(who.email)] == ["Your business is paused"]
    assert db.session.execute(text("SELECT status, version FROM merchant")).all() == [("paused", 1)]


def test_of_two_new_passwords_at_once_one_counts(client: Client) -> None:
    me = signed_in(client, merchant_account())
    bodies = [{"currentPassword": PASSWORD, "newPassword": f"the rain came late {number}"} for number in range(4)]
    answers = at_once(4, lambda number: me.post("/api/merchants/change-password", bodies[number]).status_code)
    assert sorted(answers) == [200, 422, 422, 422]


def test_changes_at_once_are_all_kept(client: Client) -> None:
    me = signed_in(client, merchant_account())
    fields = [
        {"settings": {"language": "de"}},
        {"settings": {"timezone": "Africa/Lusaka"}},
        {"name": "Ndapewa H"},
        {"payoutDetails": {"bankName": "FNB"}},
        {"payoutDetails": {"msisdn": "0811234567"}},
    ]
    empty: dict[str, object] = {"payoutDetails": {}, "settings": {}}
    at_once(5, lambda number: me.patch("/api/merchants/me", {**empty, **fields[number]}))
    found = me.get("/api/merchants/me").get_json()["data"]
    assert (found["settings"]["language"], found["settings"]["timezone"]) == ("de", "Africa/Lusaka")
    assert (found["name"], set(found["payoutDetails"])) == ("Ndapewa H", {"bankName", "msisdn"})


def test_sealed_details_open_for_their_account_alone(app: Flask) -> None:
    sealed = payout_encryption.encrypt_payout_details("a" * 24, {"msisdn": "+264811234567"})
    assert payout_encryption.decrypt_payout_details("a" * 24, sealed) == {"msisdn": "+264811234567"}
    assert sealed != payout_encryption.encrypt_payout_details("a" * 24, {"msisdn": "+264811234567"})
    assert payout_encryption.decrypt_payout_details("b" * 24, sealed) == {}
