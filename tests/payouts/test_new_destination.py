"""The first payout to a destination is confirmed by its owner: by the password, or by a recent sign-in."""

from datetime import timedelta
from typing import Any

import pytest

from app.accounts.models import Account
from app.accounts.passwords import hash_password
from app.clients.payrail import TransferOutcome
from app.payouts import actions, destinations
from tests.factories.accounts import PASSWORD, sign_in
from tests.factories.merchants import changed
from tests.factories.payouts import (
    BANK,
    PATH,
    Sink,
    earner,
    lawful,
    money,
    rail_of,
    read,
    requested,
    scalar,
    signed_in_earlier,
    wish,
    work,
    write,
)
from tests.http import Client, data, refusal

OTHER = "+264817654321"
SUBJECT = "A payout to a new destination"


def earlier(client: Client, amount: int = 5000) -> tuple[Client, Account]:
    """A merchant with earnings whose last sign-in was long ago."""
    me, merchant = earner(client, amount)
    signed_in_earlier(merchant)
    return me, merchant


def test_new_destination_needs_more_than_a_token(client: Client) -> None:
    me, _ = earlier(client)
    answer = me.post(PATH, wish())
    assert refusal(answer) == (409, "CONFIRMATION_REQUIRED")
    assert answer.get_json()["data"] == {"methods": ["password", "sign_in"]}
    assert (
        scalar("SELECT count(*) FROM payout") == scalar("SELECT count(*) FROM outbox WHERE kind LIKE 'payouts%'") == 0
    )
    assert money(me) == (5000, 0)
    lawful()


def test_insufficient_funds_is_reported_before_confirmation(client: Client) -> None:
    me, _ = earlier(client)
    assert refusal(me.post(PATH, wish(5001))) == (409, "INSUFFICIENT_FUNDS")


@pytest.mark.parametrize("place", ["body", "header"])
def test_password_confirms_new_destination(client: Client, place: str) -> None:
    me, _ = earlier(client)
    body = wish(password=PASSWORD) if place == "body" else wish()
    headers = {} if place == "body" else {"X-Confirm-Password": PASSWORD}
    payout = data(me.post(PATH, body, headers=headers), 201)
    work()
    assert read(me, payout)["status"] == "paid"
    lawful()


def test_non_ascii_password_is_accepted_in_the_header_as_utf_8(client: Client) -> None:
    me, merchant = earlier(client)
    password = "grüße aus Lüderitz"
    write("UPDATE account SET password_hash = :it WHERE id = :id", it=hash_password(password), id=merchant.id)
    header = password.encode().decode("latin-1")
    assert me.post(PATH, wish(), headers={"X-Confirm-Password": header}).status_code == 201


def test_sign_in_of_the_last_ten_minutes_confirms(client: Client) -> None:
    me, merchant = earner(client, 5000)
    signed_in_earlier(merchant, timedelta(minutes=9, seconds=50))
    requested(me)
    signed_in_earlier(merchant, timedelta(seconds=20))
    assert refusal(me.post(PATH, wish())) == (409, "CONFIRMATION_REQUIRED")


def test_refreshed_token_does_not_confirm(client: Client) -> None:
    _, merchant = earner(client, 5000)
    tokens = sign_in(client, merchant.email)
    signed_in_earlier(merchant)
    fresh = data(client.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}))
    assert refusal(client.as_(fresh["accessToken"]).post(PATH, wish())) == (409, "CONFIRMATION_REQUIRED")


def test_sign_in_right_after_linking_an_identity_does_not_confirm(client: Client) -> None:
    """Anyone with a token can link an identity of their own, and sign in with it."""
    me, merchant = earner(client, 5000)
    write(
        "INSERT INTO external_identity (provider, subject, account_id) VALUES ('google', 'theirs', :id)", id=merchant.id
    )
    write("UPDATE account SET created_at = created_at - interval '1 year'")
    assert refusal(me.post(PATH, wish())) == (409, "CONFIRMATION_REQUIRED")
    assert me.post(PATH, wish(password=PASSWORD)).status_code == 201


def test_account_without_a_password_confirms_by_signing_in_again(client: Client) -> None:
    me, merchant = earner(client, 5000)
    write("UPDATE account SET password_hash = NULL")
    write(
        "INSERT INTO external_identity (provider, subject, account_id, linked_at)"
        " SELECT 'google', 'mine', id, created_at FROM account"
    )
    requested(me)
    signed_in_earlier(merchant)
    assert me.post(PATH, wish()).get_json()["data"] == {"methods": ["sign_in"]}


def test_wrong_password_counts_as_failed_sign_in(client: Client) -> None:
    me, _ = earlier(client)
    for _ in range(10):
        assert refusal(me.post(PATH, wish(password="wrong"))) == (422, "CURRENT_PASSWORD_WRONG")
    for password in ("wrong", PASSWORD):
        assert me.post(PATH, wish(password=password)).status_code == 429
    key = {"Idempotency-Key": "a-key-for-this"}
    assert me.post(PATH, wish(password="wrong"), headers=key).status_code == 429
    assert scalar("SELECT count(*) FROM payout") == 0
    lawful()


def test_failures_with_an_idempotency_key_count_and_do_not_use_it_up(client: Client) -> None:
    me, _ = earlier(client)
    key = {"Idempotency-Key": "a-key-for-this"}
    assert me.post(PATH, wish(), headers=key).status_code == 409
    for _ in range(3):
        assert me.post(PATH, wish(password="wrong"), headers=key).status_code == 422
    assert scalar("SELECT max(hits) FROM throttle") == 3
    first = me.post(PATH, wish(password=PASSWORD), headers=key)
    assert first.status_code == 201
    # The password is no part of what was asked for: the answer is given again with it, without it, and with another.
    for again in (
        wish(password=PASSWORD),
        wish(),
        wish(password="changed since"),
        wish(idempotencyKey="a-key-for-this"),
    ):
        answer = me.post(PATH, again, headers=key)
        assert answer.headers["Idempotent-Replayed"] == "true" and data(answer, 201) == data(first, 201)
    assert refusal(me.post(PATH, wish(999, password=PASSWORD), headers=key)) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert scalar("SELECT count(*) FROM payout") == 1


def test_destination_is_known_after_a_paid_payout(client: Client) -> None:
    me, merchant = earner(client, 9000)
    with rail_of(Sink()) as sink:
        requested(me)
        signed_in_earlier(merchant)
        assert me.post(PATH, wish()).status_code == 409, "requested is not paid"
        sink.first = TransferOutcome.FAILED
        work()
        assert me.post(PATH, wish()).status_code == 409, "failed is not paid"
        sink.first = TransferOutcome.PAID
        paid = requested(me, password=PASSWORD)
        work()
        assert requested(me)["heldUntil"] is None
        assert me.post(PATH, wish(payrailMsisdn=OTHER)).status_code == 409
        assert me.post(PATH, wish(destination="bank")).status_code == 409
        work()
        write("UPDATE payout SET status = 'returned' WHERE status = 'paid'")
        assert read(me, paid)["status"] == "returned"
        assert me.post(PATH, wish()).status_code == 409, "returned is not paid"


@pytest.mark.parametrize(
    "change",
    [
        {"accountNumber": "620099"},
        {"accountName": "Other CC"},
        {"bankName": "FNB"},
        {"branchCode": "111111"},
        {"branchCode": None},
    ],
)
def test_changed_details_are_a_new_destination(client: Client, change: dict[str, Any]) -> None:
    me, merchant = earner(client, 9000)
    requested(me, destination="bank")
    work()
    signed_in_earlier(merchant)
    changed(me, payoutDetails={"bankName": BANK["bankName"].upper(), "accountName": f" {BANK['accountName'].lower()} "})
    assert requested(me, destination="bank")["heldUntil"] is None
    changed(me, payoutDetails=change)
    assert refusal(me.post(PATH, wish(destination="bank"))) == (409, "CONFIRMATION_REQUIRED")


def test_banks_paid_before_destinations_were_hashed_stay_known(client: Client) -> None:
    me, merchant = earner(client, 9000)
    for _ in range(2):
        requested(me, destination="bank")
    work()
    write("UPDATE payout SET wallet_mark = NULL, held_until = NULL, owner_told_at = NULL")
    signed_in_earlier(merchant)
    assert requested(me, destination="bank")["heldUntil"] is None
    assert scalar("SELECT count(*) FROM payout WHERE wallet_mark IS NULL") == 0
    write("UPDATE payout SET wallet_mark = NULL WHERE status = 'paid'")
    changed(me, payoutDetails={"accountNumber": "620099"})
    assert me.post(PATH, wish(destination="bank")).status_code == 409


def pay_while_details_change(client: Client, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The answer to a request whose saved details are changed while its password is looked at."""
    me, _ = earlier(client)
    inner = actions.confirm_owner

    def slowly(*arguments: Any) -> None:
        inner(*arguments)
        changed(me, payoutDetails={"msisdn": OTHER})

    monkeypatch.setattr(actions, "confirm_owner", slowly)
    return me.post(PATH, wish(password=PASSWORD))


def test_details_changed_during_the_password_check_are_not_confirmed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refusal(pay_while_details_change(client, monkeypatch)) == (409, "CONFIRMATION_REQUIRED")
    assert scalar("SELECT count(*) FROM payout") == 0


@pytest.mark.control
def test_without_the_hash_the_password_would_confirm_changed_details(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(destinations, "hash_destination", lambda account_id, destination, details: "the same for all")
    assert data(pay_while_details_change(client, monkeypatch), 201)["destinationShown"] == "••••321"
