"""A mock rail on loopback, and the client for it."""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask import Flask

from app.clients.payrail.breaker import Breaker, Limits
from app.clients.payrail.http_client import Credentials, RailClient
from app.clients.payrail.http_rail import HttpRail
from app.clients.payrail.interface import Charge, Transfer, TransferOutcome, Wallet
from mock_rail import MockServer, Options, Pace

KEY, SECRET = "key-of-the-tests", "secret-that-rail-and-tests-share"
PACE = Pace(slow_answer=0.3, known_after=0.6, bounces_after=60)


@contextmanager
def serving(journal: Path | None = None, **options: Any) -> Iterator[MockServer]:
    """A mock server whose pace is that of tests."""
    given = {"key": KEY, "secret": SECRET, "journal": journal, "pace": PACE, "hang": 1.5, **options}
    with MockServer(Options(**given)).running() as server:
        yield server


def client_of(app: Flask, url: str, *, limits: Limits | None = None, name: str = "", **account: Any) -> HttpRail:
    """A client with a breaker of its own, unless a name shares one."""
    breaker = Breaker(app.extensions["settings"].REDIS_URL, name or uuid.uuid4().hex, limits)
    given = {"key": KEY, "secret": SECRET, "connect": 0.5, "total": 1.0, **account}
    return HttpRail(RailClient(Credentials(url=url, **given), breaker))


def transfer(reference: str = "a-transfer", *, ending: str = "4567", amount_minor: int = 90000) -> Transfer:
    wallet = Wallet(msisdn=f"+26481123{ending}")
    return Transfer(reference=reference, amount_minor=amount_minor, destination=wallet, description="Payout")


def charge(reference: str = "a-charge", *, ending: str = "4567") -> Charge:
    return Charge(reference=reference, amount_minor=250000, msisdn=f"+26481123{ending}", description="Stall fee")


def send_transfer(rail: HttpRail, **about: Any) -> TransferOutcome:
    return rail.send_transfer(transfer(**about)).outcome


def read_outcome(rail: HttpRail, reference: str = "a-transfer") -> TransferOutcome:
    return rail.transfer_status(reference).outcome


def journal_of(path: Path, event: str = "transfer") -> list[dict[str, Any]]:
    """The lines of a journal about one kind of event."""
    return [fields for line in path.read_text().splitlines() if (fields := json.loads(line))["event"] == event]


def wait(until: Callable[[], Any]) -> None:
    """Returns as soon as that is so."""
    ends = time.monotonic() + 90
    while not until():
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.01)
