"""The HTTP rail against the mock server: requests, accepted responses and retries."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.clients.payrail import BankAccount, Outcome, Transfer, TransferOutcome
from app.clients.payrail.breaker import Limits
from app.clients.payrail.errors import PayrailUnavailable
from app.clients.payrail.http_client import Credentials
from app.core.transaction import TransactionOpen, transaction
from mock_rail import CODE, Fault, MockServer, Pace, rules
from mock_rail.store import Store
from tests.clients.rail import charge, client_of, journal_of, read_outcome, send_transfer, serving, transfer
from tests.races import run_concurrently
from tests.timing import assert_in_time

PAID, FAILED, UNKNOWN = TransferOutcome.PAID, TransferOutcome.FAILED, TransferOutcome.UNKNOWN


def asked(journal: Path, on: str) -> int:
    return sum(line["operation"] == on for line in journal_of(journal, "request"))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def server(journal: Path) -> Iterator[MockServer]:
    with serving(journal) as server:
        yield server


def test_repeated_transfer_is_paid_once(app: Flask, server: MockServer, journal: Path) -> None:
    rail = client_of(app, server.url)
    for _ in range(3):
        state = rail.send_transfer(transfer())
        assert (state.outcome, state.amount_minor, state.currency) == (PAID, 90000, "NAD")
    assert read_outcome(rail) is PAID and len(journal_of(journal)) == 1
    assert read_outcome(rail, "never-sent") is TransferOutcome.NOT_FOUND


def test_transfer_to_a_bank_account_is_paid(app: Flask, server: MockServer) -> None:
    account = BankAccount(account_name="Tuli Ñ", account_number="6200990001", bank_name="FNB", branch_code="280172")
    sending = Transfer(reference="bank/1 %?", amount_minor=100, destination=account, description="Payout — März")
    rail = client_of(app, server.url)
    assert rail.send_transfer(sending).outcome is FAILED
    state = rail.transfer_status("bank/1 %?")
    assert (state.outcome, state.reason) == (FAILED, "declined")


def test_a_transfer_to_0002_is_unknown_first_and_paid_later(app: Flask, journal: Path) -> None:
    with serving(journal, pace=Pace()) as server:
        rail = client_of(app, server.url, total=0.4)
        assert send_transfer(rail, ending="0002") is UNKNOWN
        assert read_outcome(rail) is UNKNOWN
        server.clock.ahead += 30
        assert read_outcome(rail) is PAID and len(journal_of(journal)) == 1


def test_0003_answers_late(app: Flask, server: MockServer) -> None:
    assert send_transfer(client_of(app, server.url), ending="0003") is PAID


def test_0004_bounces_when_its_time_has_come(app: Flask, server: MockServer) -> None:
    rail = client_of(app, server.url)
    assert send_transfer(rail, ending="0004") is PAID
    server.clock.ahead += 61
    assert read_outcome(rail) is TransferOutcome.RETURNED


def test_a_charge_takes_the_code_and_says_when_it_is_wrong(app: Flask, server: MockServer) -> None:
    rail = client_of(app, server.url)
    assert rail.charge_status("a-charge").outcome is Outcome.DECLINED
    assert rail.start_charge(charge()).outcome is Outcome.CODE_SENT
    assert rail.charge_status("a-charge").outcome is Outcome.CODE_SENT
    assert rail.confirm_charge("a-charge", "000000").outcome is Outcome.WRONG_CODE
    assert rail.confirm_charge("a-charge", CODE).outcome is Outcome.PAID
    assert rail.charge_status("a-charge").outcome is Outcome.PAID


def test_not_found_is_valid_only_for_a_status_query(app: Flask, server: MockServer) -> None:
    rail = client_of(app, server.url)
    assert rail.confirm_charge("never-sent", CODE).outcome is Outcome.UNKNOWN
    assert rail.refund_charge("never-sent").outcome is Outcome.UNKNOWN
    assert rail.charge_status("never-sent").outcome is Outcome.DECLINED


def test_wrong_code_is_valid_only_for_a_confirmation(
    app: Flask, server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rail = client_of(app, server.url)
    rail.start_charge(charge())
    monkeypatch.setattr(rules, "find_charge_outcome", lambda *_: "wrong_code")
    assert rail.charge_status("a-charge").outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    "do", ["hang", "fail", "drip", "garbage", "huge", "other_amount", "other_reference", "not_found"]
)
def test_transfer_without_response_is_unknown_until_the_status_query(
    app: Flask, server: MockServer, journal: Path, do: str
) -> None:
    server.faults.set([Fault(do=do, on="send", times=1, seconds=1.3 if do == "hang" else None)])
    rail = client_of(app, server.url, total=0.6)
    assert send_transfer(rail) is UNKNOWN
    assert read_outcome(rail) is PAID
    assert asked(journal, "send") == 1 and len(journal_of(journal)) == 1


@pytest.mark.parametrize("do", ["error", "drop"])
def test_request_that_may_have_arrived_is_not_repeated(app: Flask, server: MockServer, journal: Path, do: str) -> None:
    server.faults.set([Fault(do=do, on="send", times=1)])
    rail = client_of(app, server.url)
    assert send_transfer(rail) is UNKNOWN and asked(journal, "send") == 1
    assert read_outcome(rail) is TransferOutcome.NOT_FOUND
    assert send_transfer(rail) is PAID and len(journal_of(journal)) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_refused_request_is_repeated_with_the_same_reference(
    app: Flask, server: MockServer, journal: Path, status: int
) -> None:
    server.faults.set([Fault(do="busy", on="send", times=2, seconds=0, status=status)])
    assert send_transfer(client_of(app, server.url, total=3.0)) is PAID
    assert asked(journal, "send") == 3 and {line["reference"] for line in journal_of(journal, "request")} == {
        "a-transfer"
    }


def test_retry_after_over_two_seconds_is_not_waited_for(app: Flask, server: MockServer, journal: Path) -> None:
    server.faults.set([Fault(do="busy", on="send", times=1, seconds=3)])
    begun = time.monotonic()
    assert send_transfer(client_of(app, server.url, total=10)) is UNKNOWN
    assert asked(journal, "send") == 1
    assert_in_time(time.monotonic() - begun < 2.5)


@pytest.mark.parametrize("do", ["error", "drop", "garbage", "busy"])
def test_status_query_is_repeated_after_any_failure(app: Flask, server: MockServer, journal: Path, do: str) -> None:
    rail = client_of(app, server.url, total=3.0)
    send_transfer(rail)
    server.faults.set([Fault(do=do, on="status", times=2, seconds=0)])
    assert read_outcome(rail) is PAID and asked(journal, "status") == 3


def test_slow_response_ends_at_the_total_timeout(app: Flask, server: MockServer) -> None:
    server.faults.set([Fault(do="drip", seconds=0.05)])
    rail = client_of(app, server.url, total=0.7)
    for call in (lambda: send_transfer(rail), lambda: read_outcome(rail)):
        begun = time.monotonic()
        assert call() is UNKNOWN
        assert_in_time(0.6 < time.monotonic() - begun < 3)


@pytest.mark.control
def test_without_the_deadline_stream_a_slow_response_would_go_on(
    app: Flask, server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.clients.deadline.remaining_seconds", lambda limit=None: 5.0 if limit is None else limit)
    server.faults.set([Fault(do="drip", seconds=0.01)])
    begun = time.monotonic()
    assert send_transfer(client_of(app, server.url, total=0.5)) is PAID
    assert_in_time(time.monotonic() - begun > 1.2)


def test_slow_name_lookup_ends_at_the_connect_timeout(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.clients.deadline.socket.getaddrinfo", lambda *_, **__: time.sleep(3) or [])
    begun = time.monotonic()
    assert send_transfer(client_of(app, "http://rail.test", connect=0.3, total=0.5)) is UNKNOWN
    assert_in_time(time.monotonic() - begun < 2.5)


def test_dead_address_is_skipped(app: Flask, server: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.clients.deadline._resolve", lambda *_: ["127.0.0.9", "127.0.0.1"])
    assert send_transfer(client_of(app, server.url.replace("127.0.0.1", "rail.test"))) is PAID


def test_timeouts_are_three_and_fifteen_seconds() -> None:
    account = Credentials(url="https://rail.test", key="k", secret="s")
    assert (account.connect, account.total) == (3, 15)


def test_process_never_uses_connections_of_its_parent(app: Flask, server: MockServer) -> None:
    rail = client_of(app, server.url)
    send_transfer(rail)
    ours = rail.client._connection._pool
    rail.client._connection._pid = -1
    assert send_transfer(rail) is PAID and rail.client._connection._pool is not ours


def test_refused_connection_counts_as_not_reached(app: Flask, server: MockServer, journal: Path) -> None:
    rail = client_of(app, server.url, total=3.0, limits=Limits(failures=100))
    rail.start_charge(charge())
    server.refuse()
    assert send_transfer(rail) is UNKNOWN and read_outcome(rail) is UNKNOWN
    assert rail.start_charge(charge()).outcome is Outcome.UNKNOWN
    with pytest.raises(PayrailUnavailable):
        rail.confirm_charge("a-charge", CODE)
    server.accept()
    assert send_transfer(rail) is PAID and len(journal_of(journal)) == 1


def test_rail_that_comes_back_during_a_call_is_reached(app: Flask, server: MockServer, journal: Path) -> None:
    server.refuse(0.25)
    assert send_transfer(client_of(app, server.url, total=3.0)) is PAID
    assert len(journal_of(journal)) == 1


def test_connections_are_reused(app: Flask, server: MockServer) -> None:
    rail = client_of(app, server.url)
    for number in range(20):
        assert send_transfer(rail, reference=f"t-{number}") is PAID
    assert len(rail.client._connection.pool().connections) == 1


def test_64_concurrent_requests_with_one_reference_are_one_transfer(
    app: Flask, server: MockServer, journal: Path
) -> None:
    assert same_at_once(app, server) == {PAID}
    assert len(journal_of(journal)) == 1


@pytest.mark.control
def test_without_its_check_the_mock_would_pay_more_than_once(
    app: Flask, server: MockServer, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "has_transfer", lambda self, reference: False)
    same_at_once(app, server)
    assert len(journal_of(journal)) == 64


def same_at_once(app: Flask, server: MockServer) -> set[TransferOutcome]:
    rail = client_of(app, server.url, total=10, connect=5)

    def send(_: int) -> TransferOutcome:
        with app.app_context():
            return send_transfer(rail)

    return set(run_concurrently(64, send))


def test_other_amount_in_a_response_is_a_mismatch(app: Flask, server: MockServer, journal: Path) -> None:
    rail = client_of(app, server.url)
    send_transfer(rail)
    assert send_transfer(rail, amount_minor=1) is UNKNOWN and send_transfer(rail, ending="9999") is UNKNOWN
    assert len(journal_of(journal)) == 1


def test_call_inside_a_transaction_raises(app: Flask, server: MockServer) -> None:
    with pytest.raises(TransactionOpen), transaction():
        send_transfer(client_of(app, server.url))


def test_restarted_mock_keeps_its_state(app: Flask, journal: Path) -> None:
    for _ in range(2):
        with serving(journal) as server:
            rail = client_of(app, server.url)
            assert send_transfer(rail) is PAID
            rail.start_charge(charge())
            assert rail.confirm_charge("a-charge", CODE).outcome is Outcome.PAID
    assert len(journal_of(journal)) == 1 and len(journal_of(journal, "charge_ended")) == 1
