"""Transfers are carried out once under any faults, and a refused retry hides nothing."""

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest
from flask import Flask

from app.clients.payrail import Outcome, Rail, TransferOutcome
from app.clients.payrail.breaker import Limits
from app.clients.payrail.errors import PayrailUnavailable
from mock_rail import CODE, Fault, MockServer
from mock_rail.rules import find_transfer_outcome
from tests.clients.rail import charge, client_of, journal_of, send_transfer, serving, transfer
from tests.races import run_concurrently

SEEDS = int(os.environ.get("PAYRAIL_SEEDS", "3"))
FAULTS = ("hang", "fail", "error", "busy", "drop", "garbage", "other_amount", "other_reference", "not_found", "late")
TRANSFERS = ("accept", "decline", "bounce")
OPEN = (TransferOutcome.UNKNOWN, TransferOutcome.ACCEPTED, TransferOutcome.NOT_FOUND)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_reference_is_carried_out_once_under_any_faults(app: Flask, tmp_path: Path, seed: int) -> None:
    chance, journal = random.Random(seed), tmp_path / "journal"
    with serving(journal) as server:
        server.faults.set(
            [
                Fault(do=chance.choice(FAULTS), times=1, seconds=0.12, on=chance.choice(("send", "status")))
                for _ in range(60)
            ]
            + [Fault(do=chance.choice(TRANSFERS), seconds=0.3, reference=f"t-{chance.randrange(24)}") for _ in range(9)]
        )
        rail = client_of(app, server.url, total=0.4, limits=Limits(failures=8, open_for=0.1, trial=0.5))

        def settled(number: int) -> TransferOutcome:
            with app.app_context():
                return until_known(rail, f"t-{number}")

        found = run_concurrently(24, settled)
        truth = [find_truth(server, f"t-{number}") for number in range(24)]
    carried_out = Counter(line["reference"] for line in journal_of(journal))
    assert carried_out == {f"t-{number}": 1 for number in range(24)}
    later = {(TransferOutcome.PAID, TransferOutcome.RETURNED)}
    assert [pair for pair in zip(found, truth, strict=True) if pair[0] != pair[1] and pair not in later] == []


def find_truth(server: MockServer, reference: str) -> str:
    """The outcome of a transfer as the rail has stored it."""
    stored = server.store.find_transfer(reference)
    assert stored is not None
    return find_transfer_outcome(stored, server.clock.now())[0]


def until_known(rail: Rail, reference: str) -> TransferOutcome:
    """Sends, asks, and sends the same again, until there is an end."""
    ends, outcome = time.monotonic() + 90, TransferOutcome.UNKNOWN
    while outcome in OPEN:
        assert time.monotonic() < ends, "no end"
        outcome = rail.send_transfer(transfer(reference)).outcome
        if outcome in OPEN:
            time.sleep(0.03)
            outcome = rail.transfer_status(reference).outcome
    return outcome


def test_refused_retry_does_not_hide_an_earlier_try_that_may_have_arrived(app: Flask) -> None:
    with serving() as server:
        rail = client_of(app, server.url, total=3.0, limits=Limits(failures=1))
        rail.start_charge(charge())
        server.faults.set([Fault(do="busy", on="confirm", times=1, seconds=0, status=503)])
        assert rail.confirm_charge("a-charge", CODE).outcome is Outcome.UNKNOWN, "then the breaker was open"
        with pytest.raises(PayrailUnavailable):
            rail.confirm_charge("a-charge", CODE)
        assert send_transfer(rail) is TransferOutcome.UNKNOWN
