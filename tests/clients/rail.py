"""A mock rail on loopback, and the client for it."""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from flask import Flask

from app.clients.payrail.breaker import Breaker, Limits
from app.clients.payrail.http_client import Credentials, RailClient
from app.clients.payrail.http_rail import LiveRail
from app.clients.payrail.interface import Charge, Transfer, TransferOutcome, Wallet
from app.clients.payrail.mock_rules import Pace
from app.clients.payrail.mock_server import MockServer, Options

KEY, SECRET = "key-of-the-tests", "secret-that-rail-and-tests-share"
PACE = Pace(late=timedelta(seconds=0.3), known_after=timedelta(seconds=0.6), bounces_after=timedelta(seconds=60))


@contextmanager
def serving(journal: Path | None = None, **options: Any) -> Iterator[MockServer]:
    """A mock server whose pace is that of tests."""
    given = {"key": KEY, "secret": SECRET, "journal": journal, "pace": PACE, "hang": 1.5, **options}
    with MockServer(Options(**given)).running() as server:
        yield server


def client_of(app: Flask, url: str, *, limits: Limits | None = None, name: str = "", **account: Any) -> LiveRail:
    """A live client with a breaker of its own, unless a name shares one."""
    breaker = Breaker(app.extensions["settings"].REDIS_URL, name or uuid.uuid4().hex, limits)
    given = {"key": KEY, "secret": SECRET, "connect": 0.5, "total": 1.0, **account}
    return LiveRail(RailClient(Credentials(url=url, **given), breaker))


def transfer(reference: str = "a-transfer", *, ending: str = "4567", amount_minor: int = 90000) -> Transfer:
    wallet = Wallet(msisdn=f"+26481123{ending}")
    return Transfer(reference=reference, amount_minor=amount_minor, destination=wallet, description="Payout")


def charge(reference: str = "a-charge", *, ending: str = "4567") -> Charge:
    return Charge(reference=reference, amount_minor=250000, msisdn=f"+26481123{ending}", description="Stall fee")


def sent(rail: LiveRail, **about: Any) -> TransferOutcome:
    return rail.send_transfer(transfer(**about)).outcome


def told(rail: LiveRail, reference: str = "a-transfer") -> TransferOutcome:
    return rail.transfer_status(reference).outcome


def journal_of(path: Path, event: str = "transfer") -> list[dict[str, Any]]:
    """The lines of a journal about one kind of event."""
    return [said for line in path.read_text().splitlines() if (said := json.loads(line))["event"] == event]


def wait(until: Callable[[], Any]) -> None:
    """Returns as soon as that is so."""
    ends = time.monotonic() + 90
    while not until():
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.01)
