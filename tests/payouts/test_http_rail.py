"""Payouts over the HTTP rail are paid once, whatever the rail does after it has committed."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask

from mock_rail import Fault, MockServer, Pace
from tests.clients.rail import client_of, journal_of, serving
from tests.factories.payouts import (
    advance_time,
    assert_ledger_integrity,
    create_earning_merchant,
    load_balance,
    load_payout,
    request_payout,
    run_all_jobs,
    use_rail,
)
from tests.http import Client


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def server(journal: Path) -> Iterator[MockServer]:
    with serving(journal) as server:
        yield server


@pytest.mark.parametrize("do", ["hang", "fail", "garbage", "other_amount", "not_found"])
def test_transfer_without_usable_response_is_processing_until_the_status_is_known(
    app: Flask, client: Client, server: MockServer, journal: Path, do: str
) -> None:
    server.faults.set([Fault(do=do, on="send", times=1, seconds=1.0 if do == "hang" else None)])
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(client_of(app, server.url, total=0.5)):
        payout = request_payout(me)
        run_all_jobs()
        assert load_payout(me, payout)["status"] == "processing" and load_balance(me) == (4000, 1000)
        advance_time(timedelta(seconds=11))
        assert load_payout(me, payout)["status"] == "paid"
    assert len(journal_of(journal)) == 1
    assert_ledger_integrity()


@pytest.mark.parametrize("do", ["error", "drop"])
def test_transfer_that_never_arrived_is_sent_again(
    app: Flask, client: Client, server: MockServer, journal: Path, do: str
) -> None:
    server.faults.set([Fault(do=do, on="send", times=1)])
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(client_of(app, server.url)):
        payout = request_payout(me)
        run_all_jobs()
        advance_time(timedelta(seconds=11))
        assert load_payout(me, payout)["status"] == "paid"
    assert len(journal_of(journal)) == 1
    assert_ledger_integrity()


def test_declined_and_bounced_transfers_release_the_amount(app: Flask, client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    soon = Pace(bounces_after=0.5)
    with serving(pace=soon) as server, use_rail(client_of(app, server.url)):
        declined = request_payout(me, payrailMsisdn="+264811230001")
        bounced = request_payout(me, payrailMsisdn="+264811230004")
        run_all_jobs()
        assert load_payout(me, declined)["status"] == "failed"
        time.sleep(0.6)
        advance_time(timedelta(minutes=6))
    assert load_payout(me, bounced)["status"] == "returned" and load_balance(me) == (5000, 0)
    assert_ledger_integrity()
