"""Payouts over HTTP: asking, listing, what is available, cancelling."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mock_rail import MockServer
from tests.counting import record_statements
from tests.factories.accounts import PASSWORD, create_signed_in_client, list_mails_to
from tests.factories.merchants import create_merchant_account, update_merchant
from tests.factories.payouts import (
    BANK,
    PATH,
    WALLET,
    advance_time,
    assert_ledger_integrity,
    build_payout_body,
    create_earning_merchant,
    fetch_scalar,
    import_earnings,
    load_balance,
    load_payout,
    request_payout,
    run_all_jobs,
)
from tests.http import Client, data, list_problems, read_error


def in_days(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


def test_a_request_holds_the_amount_at_once_and_is_paid(client: Client) -> None:
    me, who = create_earning_merchant(client, 5000)
    made = request_payout(me, 2000)
    assert (made["status"], made["conclusive"], made["currency"]) == ("requested", False, "NAD")
    assert made["destinationShown"] == "••••567"
    assert load_balance(me) == (3000, 2000)
    run_all_jobs()
    found = load_payout(me, made)
    assert (found["status"], found["conclusive"]) == ("paid", True)
    assert [item["status"] for item in found["history"]] == ["requested", "processing", "paid"]
    assert [item["actor"] for item in found["history"]] == ["merchant", "service", "rail"]
    assert load_balance(me) == (3000, 0)
    assert list_mails_to(who.email)[0]["subject"] == "N$\u00a020.00 is paid out"
    assert_ledger_integrity()


def test_more_than_there_is_is_refused_with_the_figure(client: Client) -> None:
    me, _ = create_earning_merchant(client, 500)
    answer = me.post(PATH, build_payout_body(501))
    assert read_error(answer) == (409, "INSUFFICIENT_FUNDS")
    assert answer.get_json()["data"] == {"availableMinor": 500}
    poor, _ = create_earning_merchant(client)
    assert poor.post(PATH, build_payout_body(1)).get_json()["data"] == {"availableMinor": 0}
    assert fetch_scalar("SELECT count(*) FROM payout") == 0
    assert_ledger_integrity()


HOSTILE = ["0", "-1", "1.5", '"100"', "true", "1e400", str(2**53 + 1), "null", "[]", "10000000000000"]


@pytest.mark.parametrize("amount", HOSTILE)
def test_an_amount_that_is_none_is_refused_and_writes_no_row(client: Client, amount: str) -> None:
    me, _ = create_earning_merchant(client, 5000)
    body = f'{{"amountMinor": {amount}, "destination": "payrail", "mode": "now"}}'
    answer = me.post(PATH, data=body, content_type="application/json")
    assert set(list_problems(answer)) == {"amountMinor"}
    assert fetch_scalar("SELECT (SELECT count(*) FROM payout) + (SELECT count(*) FROM ledger_transaction)") == 1
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'payouts.carry'") == 0


def test_nan_and_a_doubled_amount_are_refused(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    for body in (
        '{"amountMinor": NaN, "destination": "payrail", "mode": "now"}',
        '{"amountMinor": 1, "amountMinor": 5000, "destination": "payrail", "mode": "now"}',
    ):
        assert me.post(PATH, data=body, content_type="application/json").status_code == 400
    assert load_balance(me) == (5000, 0)


def test_without_a_token_nothing_is_done(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    made = request_payout(me)
    rows = fetch_scalar("SELECT count(*) FROM payout_event")
    assert read_error(client.post(PATH, build_payout_body())) == (401, "TOKEN_MISSING")
    assert read_error(client.post(f"{PATH}/{made['id']}/cancel")) == (401, "TOKEN_MISSING")
    assert client.get(PATH).status_code == client.get(f"{PATH}/availability").status_code == 401
    assert fetch_scalar("SELECT count(*) FROM payout_event") == rows
    assert load_balance(me) == (4000, 1000)


def test_the_address_must_be_verified(client: Client) -> None:
    who = create_merchant_account(verified=False)
    import_earnings(who, 5000)
    me = create_signed_in_client(client, who)
    assert read_error(me.post(PATH, build_payout_body())) == (403, "EMAIL_NOT_VERIFIED")
    assert "EMAIL_NOT_VERIFIED" in data(me.get(f"{PATH}/availability?amountMinor=1"))["reasons"]


def test_the_destination_needs_its_details(client: Client) -> None:
    who = create_merchant_account()
    import_earnings(who, 5000)
    me = create_signed_in_client(client, who)
    assert read_error(me.post(PATH, build_payout_body())) == (409, "PAYOUT_DETAILS_MISSING")
    assert read_error(me.post(PATH, build_payout_body(destination="bank"))) == (409, "PAYOUT_DETAILS_MISSING")
    assert request_payout(me, payrailMsisdn="081 765 4321")["destinationShown"] == "••••321"
    update_merchant(me, payoutDetails=BANK)
    assert request_payout(me, destination="bank")["destinationShown"] == "Bank Windhoek ••••4567"
    run_all_jobs()
    assert fetch_scalar("SELECT count(*) FROM payout WHERE status = 'paid'") == 2


def test_numbers_stand_nowhere_in_clear(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    request_payout(me)
    request_payout(me, destination="bank")
    rows = fetch_scalar(
        "SELECT string_agg(p::text, '') || (SELECT string_agg(o::text, '') FROM outbox o) FROM payout p"
    )
    assert WALLET[4:] not in rows and BANK["accountNumber"] not in rows


def test_a_scheduled_payout_holds_now_and_leaves_later(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    made = request_payout(me, mode="schedule", scheduledFor=in_days(2))
    assert made["status"] == "scheduled"
    assert load_balance(me) == (4000, 1000)
    assert data(me.get(f"{PATH}/availability"))["nextPayoutAt"] == made["scheduledFor"]
    run_all_jobs()
    assert load_payout(me, made)["status"] == "scheduled"
    advance_time(timedelta(days=2, seconds=1))
    assert [item["status"] for item in load_payout(me, made)["history"]] == [
        "scheduled",
        "requested",
        "processing",
        "paid",
    ]
    assert_ledger_integrity()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"mode": "schedule"}, "required"),
        ({"mode": "schedule", "scheduledFor": "2020-01-01"}, "too_small"),
        ({"mode": "schedule", "scheduledFor": in_days(91)}, "too_large"),
        ({"mode": "schedule", "scheduledFor": "tomorrow or so"}, "invalid_time"),
        ({"mode": "now", "scheduledFor": in_days(1)}, "unexpected_value"),
    ],
)
def test_a_time_must_fit_the_mode(client: Client, fields: dict[str, Any], code: str) -> None:
    me, _ = create_earning_merchant(client, 5000)
    assert list_problems(me.post(PATH, build_payout_body(**fields))) == {"scheduledFor": code}
    assert load_balance(me) == (5000, 0)


def test_a_naive_time_is_in_the_merchants_zone(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    update_merchant(me, settings={"timezone": "Asia/Tokyo"})
    day = (datetime.now(UTC) + timedelta(days=5)).date()
    made = request_payout(me, mode="schedule", scheduledFor=f"{day}T09:00:00")
    assert made["scheduledFor"] == f"{day}T00:00:00.000Z"


def test_a_pause_refuses_new_ones_and_keeps_the_others_back(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    soon, now = request_payout(me, mode="schedule", scheduledFor=in_days(1)), request_payout(me)
    me.post("/api/merchants/me/pause")
    assert read_error(me.post(PATH, build_payout_body())) == (409, "MERCHANT_PAUSED")
    assert data(me.get(f"{PATH}/availability?amountMinor=1"))["reasons"] == ["MERCHANT_PAUSED"]
    advance_time(timedelta(days=1, seconds=1))
    for made in (soon, now):
        found = load_payout(me, made)
        assert found["onHold"] and found["status"] in ("requested", "scheduled")
    data(me.post("/api/merchants/me/resume", {"currentPassword": PASSWORD, "confirmation": "RESUME"}))
    advance_time(timedelta(minutes=2))
    assert {load_payout(me, made)["status"] for made in (soon, now)} == {"paid"}
    assert_ledger_integrity()


def test_cancelling_gives_the_money_back_once(client: Client, rail_server: MockServer) -> None:
    me, _ = create_earning_merchant(client, 5000)
    for fields in ({}, {"mode": "schedule", "scheduledFor": in_days(1)}):
        made = request_payout(me, **fields)
        cancelled = data(me.post(f"{PATH}/{made['id']}/cancel"))
        assert (cancelled["status"], cancelled["conclusive"]) == ("cancelled", True)
        assert data(me.post(f"{PATH}/{made['id']}/cancel")) == cancelled
        assert load_balance(me) == (5000, 0)
    advance_time(timedelta(days=2))
    assert rail_server.store.list_transfers() == []
    assert_ledger_integrity()


def test_what_has_left_is_not_cancelled(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    made = request_payout(me)
    run_all_jobs()
    answer = me.post(f"{PATH}/{made['id']}/cancel")
    assert read_error(answer) == (409, "NOT_CANCELLABLE")
    assert answer.get_json()["data"] == {"status": "paid"}


def test_others_payouts_do_not_exist(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    other, _ = create_earning_merchant(client)
    made = request_payout(me)
    for answer in (
        other.get(f"{PATH}/{made['id']}"),
        other.post(f"{PATH}/{made['id']}/cancel"),
        me.get(f"{PATH}/{'0' * 24}"),
        me.post(f"{PATH}/nothing/cancel"),
    ):
        assert read_error(answer) == (404, "NOT_FOUND")
    assert data(other.get(PATH))["payoutRequests"] == []


def test_a_declined_and_a_bounced_payout_give_the_money_back_and_say_so(
    client: Client, rail_server: MockServer
) -> None:
    me, who = create_earning_merchant(client, 5000)
    declined = request_payout(me, payrailMsisdn="+264811230001")
    bounced = request_payout(me, payrailMsisdn="+264811230004")
    run_all_jobs()
    assert (load_payout(me, declined)["status"], load_payout(me, bounced)["status"]) == ("failed", "paid")
    assert load_balance(me) == (4000, 0)
    rail_server.clock.ahead += 120
    advance_time(timedelta(minutes=2))
    found = load_payout(me, bounced)
    assert [item["status"] for item in found["history"]][-2:] == ["paid", "returned"]
    assert load_balance(me) == (5000, 0)
    subjects = [item["subject"] for item in list_mails_to(who.email)]
    assert subjects[0] == "Your payout of N$\u00a010.00 came back"
    assert {"Your payout of N$\u00a010.00 failed", "N$\u00a010.00 is paid out"} <= set(subjects)
    for mail in list_mails_to(who.email):
        if mail["subject"].endswith(("failed", "came back")):
            assert "back on your balance" in mail["text"] and "/stall/payout-details" in mail["html"]
            assert "the number may be wrong" in mail["text"] and "request the payout again" in mail["text"]
    assert_ledger_integrity()


def test_the_list_is_filtered_sorted_and_paged(client: Client) -> None:
    me, _ = create_earning_merchant(client, 50000)
    when = in_days(3)
    small = request_payout(me, 100, idempotencyKey="the-first-of-them")
    large = request_payout(me, 9000, destination="bank")
    soon = request_payout(me, 200, mode="schedule", scheduledFor=when, payrailMsisdn="+264817654321")
    run_all_jobs()

    def ids(query: str) -> list[str]:
        return [payout_request["id"] for payout_request in data(me.get(f"{PATH}?{query}"))["payoutRequests"]]

    assert ids("") == [soon["id"], large["id"], small["id"]]
    assert ids("sort=amountMinor") == [small["id"], soon["id"], large["id"]]
    assert ids("amountMinor=9000") == ids("destination=bank") == [large["id"]]
    assert ids("mode=schedule") == ids("status=scheduled") == ids("payrailMsisdn=081 765 4321") == [soon["id"]]
    assert ids("idempotencyKey=the-first-of-them") == [small["id"]]
    assert ids(f"scheduledFor={soon['scheduledFor']}") == [soon["id"]]
    assert ids("scheduledFor=2020-01-01") == []
    first = data(me.get(f"{PATH}?limit=2&withTotal=true"))
    assert (first["pagination"]["total"], len(first["payoutRequests"])) == (3, 2)
    assert ids(f"limit=2&cursor={first['pagination']['nextCursor']}") == [small["id"]]


def test_availability_says_what_and_why_not(client: Client) -> None:
    me, _ = create_earning_merchant(client, 1000)
    found = data(me.get(f"{PATH}/availability"))
    assert found == {
        "balanceMinor": 1000,
        "heldMinor": 0,
        "availableMinor": 1000,
        "currency": "NAD",
        "nextPayoutAt": None,
    }
    assert data(me.get(f"{PATH}/availability?amountMinor=1000&destination=bank"))["payable"] is True
    refused = data(me.get(f"{PATH}/availability?amountMinor=1001"))
    assert (refused["payable"], refused["reasons"]) == (False, ["INSUFFICIENT_FUNDS"])
    assert list_problems(me.get(f"{PATH}/availability?amountMinor=1.5")) == {"amountMinor": "invalid_type"}


@pytest.mark.parametrize("fields", [{}, {"payrailMsisdn": WALLET}, {"destination": "payrail", "payrailMsisdn": WALLET}])
@pytest.mark.parametrize("saved", [None, {"destination": "bank", **BANK}])
def test_availability_agrees_with_the_request(
    client: Client, fields: dict[str, str], saved: dict[str, str] | None
) -> None:
    who = create_merchant_account()
    import_earnings(who, 5000)
    me = create_signed_in_client(client, who)
    if saved is not None:
        update_merchant(me, payoutDetails=saved)
    found = data(me.get(f"{PATH}/availability", query_string={"amountMinor": 1000, **fields}))
    destination = "payrail" if fields or saved is None else "bank"
    answer = me.post(PATH, build_payout_body(**{"destination": destination, **fields}))
    assert found["payable"] == (answer.status_code == 201), (found, answer.json)
    assert found["reasons"] == ([] if found["payable"] else [read_error(answer)[1]])


def test_a_merchant_stays_while_money_is_open(client: Client) -> None:
    me, who = create_earning_merchant(client, 1000)
    leave = {"currentPassword": PASSWORD, "confirmation": "DELETE"}
    assert read_error(me.post("/api/merchants/me/delete", leave)) == (409, "BALANCE_NOT_ZERO")
    made = request_payout(me, 1000)
    assert read_error(me.post("/api/merchants/me/delete", leave)) == (409, "PAYOUT_IN_PROGRESS")
    run_all_jobs()
    data(me.post("/api/merchants/me/delete", leave))
    run_all_jobs()
    assert fetch_scalar("SELECT shown_as FROM payout WHERE id = :id AND sealed_to IS NULL", id=made["id"]) == "deleted"
    assert_ledger_integrity()


def test_no_operation_asks_more_than_six_times(client: Client) -> None:
    """But for the entry in the audit trail, and for the first payout to a destination, which is confirmed between two
    tries."""
    me, _ = create_earning_merchant(client, 50000)
    request_payout(me)
    run_all_jobs()
    made = request_payout(me)
    for most, call in (
        (7, lambda: me.post(PATH, build_payout_body())),
        (11, lambda: me.post(PATH, build_payout_body(payrailMsisdn="+264817654321"))),
        (7, lambda: me.post(f"{PATH}/{made['id']}/cancel")),
        (2, lambda: me.get(PATH)),
        (2, lambda: me.get(f"{PATH}/availability?amountMinor=5")),
        (3, lambda: me.get(f"{PATH}/{made['id']}")),
    ):
        call()
        with record_statements() as seen:
            call()
        assert len(seen) <= most, seen
