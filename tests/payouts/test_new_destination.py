"""The first payout to a destination is confirmed by its owner: by the password, or by a recent sign-in."""

from datetime import timedelta
from typing import Any

import pytest

from app.accounts.authentication import hash_password
from app.accounts.models import Account
from app.clients.payrail import TransferOutcome
from app.payouts import actions, destination_encryption
from tests.factories.accounts import PASSWORD, sign_in
from tests.factories.merchants import update_merchant
from tests.factories.payouts import (
    BANK,
    PATH,
    FakeRail,
    age_sign_ins,
    assert_ledger_integrity,
    build_payout_body,
    create_earning_merchant,
    execute_sql,
    fetch_scalar,
    load_balance,
    load_payout,
    request_payout,
    run_all_jobs,
    use_rail,
)
from tests.http import Client, data, read_error

OTHER = "+264817654321"
SUBJECT = "A payout to a new destination"


def earlier(client: Client, amount: int = 5000) -> tuple[Client, Account]:
    """A merchant with earnings whose last sign-in was long ago."""
    me, merchant = create_earning_merchant(client, amount)
    age_sign_ins(merchant)
    return me, merchant


def test_new_destination_needs_more_than_a_token(client: Client) -> None:
    me, _ = earlier(client)
    answer = me.post(PATH, build_payout_body())
    assert read_error(answer) == (409, "CONFIRMATION_REQUIRED")
    assert answer.get_json()["data"] == {"methods": ["password", "sign_in"]}
    assert (
        fetch_scalar("SELECT count(*) FROM payout")
        == fetch_scalar("SELECT count(*) FROM outbox WHERE kind LIKE 'payouts%'")
        == 0
    )
    assert load_balance(me) == (5000, 0)
    assert_ledger_integrity()


def test_insufficient_funds_is_reported_before_confirmation(client: Client) -> None:
    me, _ = earlier(client)
    assert read_error(me.post(PATH, build_payout_body(5001))) == (409, "INSUFFICIENT_FUNDS")


@pytest.mark.parametrize("place", ["body", "header"])
def test_password_confirms_new_destination(client: Client, place: str) -> None:
    me, _ = earlier(client)
    body = build_payout_body(password=PASSWORD) if place == "body" else build_payout_body()
    headers = {} if place == "body" else {"X-Confirm-Password": PASSWORD}
    payout = data(me.post(PATH, body, headers=headers), 201)
    run_all_jobs()
    assert load_payout(me, payout)["status"] == "paid"
    assert_ledger_integrity()


def test_non_ascii_password_is_accepted_in_the_header_as_utf_8(client: Client) -> None:
    me, merchant = earlier(client)
    password = "grüße aus Lüderitz"
    execute_sql("UPDATE account SET password_hash = :it WHERE id = :id", it=hash_password(password), id=merchant.id)
    header = password.encode().decode("latin-1")
    assert me.post(PATH, build_payout_body(), headers={"X-Confirm-Password": header}).status_code == 201


def test_sign_in_of_the_last_ten_minutes_confirms(client: Client) -> None:
    me, merchant = create_earning_merchant(client, 5000)
    age_sign_ins(merchant, timedelta(minutes=9, seconds=50))
    request_payout(me)
    age_sign_ins(merchant, timedelta(seconds=20))
    assert read_error(me.post(PATH, build_payout_body())) == (409, "CONFIRMATION_REQUIRED")


def test_refreshed_token_does_not_confirm(client: Client) -> None:
    _, merchant = create_earning_merchant(client, 5000)
    tokens = sign_in(client, merchant.email)
    age_sign_ins(merchant)
    fresh = data(client.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}))
    assert read_error(client.as_(fresh["accessToken"]).post(PATH, build_payout_body())) == (
        409,
        "CONFIRMATION_REQUIRED",
    )


def test_sign_in_right_after_linking_an_identity_does_not_confirm(client: Client) -> None:
    """Anyone with a token can link an identity of their own, and sign in with it."""
    me, merchant = create_earning_merchant(client, 5000)
    execute_sql(
        "INSERT INTO external_identity (provider, subject, account_id) VALUES ('google', 'theirs', :id)", id=merchant.id
    )
    execute_sql("UPDATE account SET created_at = created_at - interval '1 year'")
    assert read_error(me.post(PATH, build_payout_body())) == (409, "CONFIRMATION_REQUIRED")
    assert me.post(PATH, build_payout_body(password=PASSWORD)).status_code == 201


def test_account_without_a_password_confirms_by_signing_in_again(client: Client) -> None:
    me, merchant = create_earning_merchant(client, 5000)
    execute_sql("UPDATE account SET password_hash = NULL")
    execute_sql(
        "INSERT INTO external_identity (provider, subject, account_id, linked_at)"
        " SELECT 'google', 'mine', id, created_at FROM account"
    )
    request_payout(me)
    age_sign_ins(merchant)
    assert me.post(PATH, build_payout_body()).get_json()["data"] == {"methods": ["sign_in"]}


def test_wrong_password_counts_as_failed_sign_in(client: Client) -> None:
    me, _ = earlier(client)
    for _ in range(10):
        assert read_error(me.post(PATH, build_payout_body(password="wrong"))) == (422, "CURRENT_PASSWORD_WRONG")
    for password in ("wrong", PASSWORD):
        assert me.post(PATH, build_payout_body(password=password)).status_code == 429
    key = {"Idempotency-Key": "a-key-for-this"}
    assert me.post(PATH, build_payout_body(password="wrong"), headers=key).status_code == 429
    assert fetch_scalar("SELECT count(*) FROM payout") == 0
    assert_ledger_integrity()


def test_failures_with_an_idempotency_key_count_and_do_not_use_it_up(client: Client) -> None:
    me, _ = earlier(client)
    key = {"Idempotency-Key": "a-key-for-this"}
    assert me.post(PATH, build_payout_body(), headers=key).status_code == 409
    for _ in range(3):
        assert me.post(PATH, build_payout_body(password="wrong"), headers=key).status_code == 422
    assert fetch_scalar("SELECT max(hits) FROM throttle") == 3
    first = me.post(PATH, build_payout_body(password=PASSWORD), headers=key)
    assert first.status_code == 201
    # The password is no part of what was asked for: the answer is given again with it, without it, and with another.
    for again in (
        build_payout_body(password=PASSWORD),
        build_payout_body(),
        build_payout_body(password="changed since"),
        build_payout_body(idempotencyKey="a-key-for-this"),
    ):
        answer = me.post(PATH, again, headers=key)
        assert answer.headers["Idempotent-Replayed"] == "true" and data(answer, 201) == data(first, 201)
    assert read_error(me.post(PATH, build_payout_body(999, password=PASSWORD), headers=key)) == (
        409,
        "IDEMPOTENCY_KEY_REUSED",
    )
    assert fetch_scalar("SELECT count(*) FROM payout") == 1


def test_destination_is_known_after_a_paid_payout(client: Client) -> None:
    me, merchant = create_earning_merchant(client, 9000)
    with use_rail(FakeRail()) as sink:
        request_payout(me)
        age_sign_ins(merchant)
        assert me.post(PATH, build_payout_body()).status_code == 409, "requested is not paid"
        sink.first = TransferOutcome.FAILED
        run_all_jobs()
        assert me.post(PATH, build_payout_body()).status_code == 409, "failed is not paid"
        sink.first = TransferOutcome.PAID
        paid = request_payout(me, password=PASSWORD)
        run_all_jobs()
        assert request_payout(me)["heldUntil"] is None
        assert me.post(PATH, build_payout_body(payrailMsisdn=OTHER)).status_code == 409
        assert me.post(PATH, build_payout_body(destination="bank")).status_code == 409
        run_all_jobs()
        execute_sql("UPDATE payout SET status = 'returned' WHERE status = 'paid'")
        assert load_payout(me, paid)["status"] == "returned"
        assert me.post(PATH, build_payout_body()).status_code == 409, "returned is not paid"


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
    me, merchant = create_earning_merchant(client, 9000)
    request_payout(me, destination="bank")
    run_all_jobs()
    age_sign_ins(merchant)
    update_merchant(
        me, payoutDetails={"bankName": BANK["bankName"].upper(), "accountName": f" {BANK['accountName'].lower()} "}
    )
    assert request_payout(me, destination="bank")["heldUntil"] is None
    update_merchant(me, payoutDetails=change)
    assert read_error(me.post(PATH, build_payout_body(destination="bank"))) == (409, "CONFIRMATION_REQUIRED")


def test_banks_paid_before_destinations_were_hashed_stay_known(client: Client) -> None:
    me, merchant = create_earning_merchant(client, 9000)
    for _ in range(2):
        request_payout(me, destination="bank")
    run_all_jobs()
    execute_sql("UPDATE payout SET wallet_mark = NULL, held_until = NULL, owner_told_at = NULL")
    age_sign_ins(merchant)
    assert request_payout(me, destination="bank")["heldUntil"] is None
    assert fetch_scalar("SELECT count(*) FROM payout WHERE wallet_mark IS NULL") == 0
    execute_sql("UPDATE payout SET wallet_mark = NULL WHERE status = 'paid'")
    update_merchant(me, payoutDetails={"accountNumber": "620099"})
    assert me.post(PATH, build_payout_body(destination="bank")).status_code == 409


def pay_while_details_change(client: Client, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The answer to a request whose saved details are changed while its password is looked at."""
    me, _ = earlier(client)
    inner = actions.confirm_owner

    def slowly(*arguments: Any) -> None:
        inner(*arguments)
        update_merchant(me, payoutDetails={"msisdn": OTHER})

    monkeypatch.setattr(actions, "confirm_owner", slowly)
    return me.post(PATH, build_payout_body(password=PASSWORD))


def test_details_changed_during_the_password_check_are_not_confirmed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_error(pay_while_details_change(client, monkeypatch)) == (409, "CONFIRMATION_REQUIRED")
    assert fetch_scalar("SELECT count(*) FROM payout") == 0


@pytest.mark.control
def test_without_the_hash_the_password_would_confirm_changed_details(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        destination_encryption, "hash_destination", lambda account_id, destination, details: "the same for all"
    )
    assert data(pay_while_details_change(client, monkeypatch), 201)["destinationShown"] == "••••321"
