"""Outcomes of transfers: status checks, retries, reviews, bounces and operators' actions."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.clients.payrail import TransferOutcome, TransferState
from app.clients.payrail.disabled import DisabledRail
from app.core.jobs import Postpone
from app.core.outbox import maintenance
from app.payouts import actions, reviews
from app.payouts.errors import NotResolvable
from app.payouts.jobs import STATUS_CHECK_AGES, _postpone_status_check
from app.payouts.outcomes import record_outcome
from app.payouts.states import STATES, STEPS
from mock_rail import MockServer
from tests.factories.accounts import list_mails_to
from tests.factories.payouts import (
    PATH,
    FakeRail,
    advance_time,
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

PAID, FAILED, RETURNED = TransferOutcome.PAID, TransferOutcome.FAILED, TransferOutcome.RETURNED
UNKNOWN, ACCEPTED, NOT_FOUND = TransferOutcome.UNKNOWN, TransferOutcome.ACCEPTED, TransferOutcome.NOT_FOUND


def open_reviews() -> list[tuple[str, str]]:
    return [(review.review.kind, review.review.reference) for review in reviews.list_open_reviews()]


def record(payout: dict[str, Any], outcome: TransferOutcome, **more: Any) -> str:
    return record_outcome(payout["id"], TransferState(outcome=outcome, **more), actor="rail")


def test_timeout_after_the_commit_stays_processing_until_the_rail_responds(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(answer=UNKNOWN)) as sink:
        payout = request_payout(me)
        run_all_jobs()
        assert (load_payout(me, payout)["status"], load_payout(me, payout)["conclusive"]) == ("processing", False)
        assert read_error(me.post(f"{PATH}/{payout['id']}/cancel")) == (409, "NOT_CANCELLABLE")
        for _ in range(4):
            advance_time(timedelta(seconds=61))
        assert load_payout(me, payout)["status"] == "processing" and load_balance(me) == (4000, 1000)
        sink.answer = None
        advance_time(timedelta(minutes=3))
    assert load_payout(me, payout)["status"] == "paid"
    assert sink.tries == [payout["id"]]
    assert_ledger_integrity()


def test_mock_that_commits_and_times_out_is_known_a_minute_later(client: Client, rail_server: MockServer) -> None:
    me, _ = create_earning_merchant(client, 5000)
    payout = request_payout(me, payrailMsisdn="+264811230002")
    run_all_jobs()
    assert load_payout(me, payout)["status"] == "processing"
    rail_server.clock.ahead += 31
    advance_time(timedelta(seconds=31))
    assert load_payout(me, payout)["status"] == "paid"


def test_status_checks_run_at_growing_intervals(app: Flask) -> None:
    age, asked = timedelta(), []
    while age < timedelta(hours=1):
        with pytest.raises(Postpone) as error:
            _postpone_status_check("0" * 24, age)
        age += error.value.delay
        asked.append(age)
    assert asked[: len(STATUS_CHECK_AGES)] == list(STATUS_CHECK_AGES)
    gaps = [after - before for before, after in zip(asked, asked[1:], strict=False)]
    assert max(gaps) == timedelta(minutes=15)
    assert all(gap <= timedelta(seconds=60) for gap in gaps[:3])


def test_transfer_unknown_to_the_rail_is_sent_again_with_the_same_reference(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(answer=UNKNOWN)) as sink:
        payout = request_payout(me)
        run_all_jobs()
        sink.truth.clear()
        sink.answer = None
        advance_time(timedelta(seconds=11))
    assert sink.tries == [payout["id"], payout["id"]]
    assert load_payout(me, payout)["status"] == "paid"


def test_no_transfer_is_sent_again_while_the_merchant_has_paused(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(answer=UNKNOWN)) as sink:
        payout = request_payout(me)
        run_all_jobs()
        sink.truth.clear()
        sink.answer = None
        me.post("/api/merchants/me/pause")
        advance_time(timedelta(minutes=2))
        assert (sink.tries, load_payout(me, payout)["status"]) == ([payout["id"]], "processing")
        advance_time(timedelta(hours=73))
        assert load_payout(me, payout)["status"] == "needs_review"
    assert_ledger_integrity()


def test_payout_needs_review_after_72_hours(client: Client) -> None:
    me, merchant = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(answer=UNKNOWN)) as sink:
        payout = request_payout(me)
        run_all_jobs()
        advance_time(timedelta(hours=73))
        assert load_payout(me, payout)["status"] == "needs_review" and not load_payout(me, payout)["conclusive"]
        assert open_reviews() == [("no_outcome", payout["id"])] and load_balance(me) == (4000, 1000)
        assert_ledger_integrity()
        sink.answer = None
        assert actions.check_transfer_now(payout["id"]) == ("paid", "paid")
    assert "is paid out" in list_mails_to(merchant.email)[0]["subject"]
    assert_ledger_integrity()


@pytest.mark.parametrize(("outcome", "left"), [("paid", (4000, 0)), ("failed", (5000, 0))])
def test_operator_resolves_a_payout_that_needs_review(client: Client, outcome: str, left: tuple[int, int]) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(answer=UNKNOWN)):
        payout = request_payout(me)
        run_all_jobs()
        with pytest.raises(NotResolvable, match="processing"):
            actions.resolve_payout(payout["id"], outcome, "too early")
        advance_time(timedelta(hours=73))
        assert actions.resolve_payout(payout["id"], outcome, "the bank says so, by telephone") == outcome
    last = load_payout(me, payout)["history"][-1]
    assert (last["status"], last["actor"], last["reason"]) == (outcome, "operator", "the bank says so, by telephone")
    assert open_reviews() == [] and load_balance(me) == left
    assert_ledger_integrity()


def test_review_created_during_resolve_stays_open(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    me, _ = create_earning_merchant(client, 5000)

    def after_the_rail(payout_id: str, found_out: TransferState, **more: Any) -> str:
        record({"id": payout_id}, PAID)
        return record_outcome(payout_id, found_out, **more)

    with use_rail(FakeRail(answer=UNKNOWN)):
        payout = request_payout(me)
        run_all_jobs()
        advance_time(timedelta(hours=73))
        monkeypatch.setattr(actions, "record_outcome", after_the_rail)
        assert actions.resolve_payout(payout["id"], "failed", "the bank says so") == "paid"
    assert [kind for kind, *_ in open_reviews()] == ["contradiction"]


def test_commands_of_operators(app: Flask, client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    flask = app.test_cli_runner()
    with use_rail(FakeRail(answer=UNKNOWN)):
        payout = request_payout(me)
        run_all_jobs()
        advance_time(timedelta(hours=73))
        assert f"no_outcome         {payout['id']}" in flask.invoke(args=["payouts", "review"]).output
        assert "says unknown" in flask.invoke(args=["payouts", "ask", payout["id"]]).output
        assert flask.invoke(args=["payouts", "resolve", "0" * 24, "paid", "--note", "x"]).exit_code == 1
        run = flask.invoke(args=["payouts", "resolve", payout["id"], "failed", "--note", "asked the bank"])
        assert (run.exit_code, run.output) == (0, "the payout is failed\n")
        assert "0 open" in flask.invoke(args=["payouts", "review"]).output
        assert "0 closed" in flask.invoke(args=["payouts", "seen", payout["id"], "--note", "x"]).output


def test_accepted_transfer_is_not_paid(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(first=ACCEPTED)) as sink:
        payout = request_payout(me)
        run_all_jobs()
        assert load_payout(me, payout)["status"] == "processing"
        sink.truth[payout["id"]] = PAID
        advance_time(timedelta(seconds=11))
    assert load_payout(me, payout)["status"] == "paid" and len(sink.tries) == 1


def test_bounce_is_found_without_a_callback(client: Client) -> None:
    me, merchant = create_earning_merchant(client, 5000)
    with use_rail(FakeRail()) as sink:
        payout = request_payout(me)
        run_all_jobs()
        advance_time(timedelta(days=3))
        assert load_payout(me, payout)["status"] == "paid"
        sink.truth[payout["id"]] = RETURNED
        advance_time(timedelta(days=2))
    assert load_payout(me, payout)["status"] == "returned" and load_balance(me) == (5000, 0)
    assert "came back" in list_mails_to(merchant.email)[0]["subject"]
    assert (
        fetch_scalar("SELECT string_agg(kind, ' ' ORDER BY id) FROM ledger_transaction")
        == "settlement hold payout return"
    )
    assert_ledger_integrity()


def test_transfer_that_bounced_before_the_first_check_takes_both_steps(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(first=RETURNED)):
        payout = request_payout(me)
        run_all_jobs()
    assert [item["status"] for item in load_payout(me, payout)["history"]][-2:] == ["paid", "returned"]
    assert load_balance(me) == (5000, 0)
    assert_ledger_integrity()


def test_other_amount_or_currency_creates_a_review_and_changes_nothing(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(answer=UNKNOWN)):
        payout = request_payout(me)
        run_all_jobs()
        assert record(payout, PAID, amount_minor=999) == record(payout, PAID, currency="ZAR") == "processing"
        assert open_reviews() == [("mismatch", payout["id"])]
        assert load_balance(me) == (4000, 1000)
        assert record(payout, PAID, amount_minor=1000, currency="NAD") == "paid"
    assert_ledger_integrity()


CONTRADICTIONS = [
    (PAID, FAILED),
    (PAID, NOT_FOUND),
    (FAILED, PAID),
    (FAILED, RETURNED),
    (RETURNED, PAID),
    (RETURNED, FAILED),
]


@pytest.mark.parametrize(("first", "second"), CONTRADICTIONS)
def test_first_outcome_counts_and_a_contradiction_creates_a_review(
    client: Client, first: TransferOutcome, second: TransferOutcome
) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(first=first)):
        payout = request_payout(me)
        run_all_jobs()
        before, status = load_balance(me), load_payout(me, payout)["status"]
        assert record(payout, second) == record(payout, second) == status == first.value
    assert open_reviews() == [("contradiction", payout["id"])] and load_balance(me) == before
    assert_ledger_integrity()


def test_repeated_outcome_changes_nothing(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    payout = request_payout(me)
    run_all_jobs()
    assert record(payout, PAID) == record(payout, ACCEPTED) == record(payout, UNKNOWN) == "paid"
    assert open_reviews() == []
    assert_ledger_integrity()


def test_disabled_rail_holds_and_sends_nothing(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    payout = request_payout(me)
    with use_rail(DisabledRail()):
        assert read_error(me.post(PATH, build_payout_body())) == (503, "PAYRAIL_DISABLED")
        assert load_balance(me) == (4000, 1000) and fetch_scalar("SELECT count(*) FROM payout") == 1
        assert data(me.get(f"{PATH}/availability?amountMinor=1"))["reasons"] == ["PAYRAIL_DISABLED"]
        run_all_jobs()
        assert load_payout(me, payout)["status"] == "requested"
    advance_time(timedelta(minutes=1))
    assert load_payout(me, payout)["status"] == "paid"


def test_payout_with_undecryptable_destination_fails_and_releases_the_amount(client: Client) -> None:
    me, merchant = create_earning_merchant(client, 5000)
    payout = request_payout(me)
    execute_sql("UPDATE payout SET sealed_to = 'sealed by a key that is gone'")
    with use_rail(FakeRail()) as sink:
        run_all_jobs()
    found = load_payout(me, payout)
    assert (found["status"], found["reason"]) == ("failed", "DESTINATION_UNREADABLE")
    assert sink.tries == [] and load_balance(me) == (5000, 0)
    assert "could not be read" in list_mails_to(merchant.email)[0]["text"]


def test_payout_without_a_job_gets_a_new_one(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    lost, fine = request_payout(me), request_payout(me, mode="schedule", scheduledFor="2026-12-30")
    execute_sql("UPDATE outbox SET state = 'dead', done_at = now() WHERE payload->>'payout_id' = :id", id=lost["id"])
    run_all_jobs()
    execute_sql("UPDATE payout SET due_at = due_at - interval '3 minutes'")
    maintenance.enqueue_recurring()
    run_all_jobs()
    assert (load_payout(me, lost)["status"], load_payout(me, fine)["status"]) == ("paid", "scheduled")
    assert_ledger_integrity()


def test_history_accepts_only_known_steps(app: Flask) -> None:
    body = fetch_scalar(
        "SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint WHERE conname = 'ck_payout_event_edge'"
    )
    pairs = [(now, wanted) for now in ("", *STATES) for wanted in STATES]
    taken = fetch_scalar(
        f"SELECT array_agg({body} ORDER BY n) FROM (SELECT n, nullif(now, '')::varchar, wanted::varchar"
        " FROM unnest(CAST(:nows AS text[]), CAST(:wanteds AS text[])) WITH ORDINALITY AS u (now, wanted, n))"
        " AS e (n, from_status, to_status)",
        nows=[now for now, _ in pairs],
        wanteds=[wanted for _, wanted in pairs],
    )
    assert taken == [wanted in STEPS.get(now, ()) for now, wanted in pairs]
