"""Two hundred listeners of one stock: how soon they are told, and what they cost others while nothing happens."""

from __future__ import annotations

import re
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import httpx
import psycopg
from sqlalchemy import make_url, text

from app.accounts import sessions
from app.accounts.models import Account
from app.core.db import db
from app.core.transaction import transaction
from app.web.access import serialize_sign_in
from benchmarks.comparing import READERS
from benchmarks.outcome import Outcome, of_rounds
from benchmarks.registry import Benchmark, Load, benchmark
from benchmarks.seed_inventory import seed_items, stock_event
from benchmarks.serving import Server, serving
from benchmarks.stage import Stage

LISTENERS, NEWCOMERS, EACH = 200, 40, 5
"""The last places of a server are for accounts and networks that have none."""
ITEMS, CHANGES, NUMBER = 20, 20, 7_000
_stock: dict[str, str] = {}


def stocked(stage: Stage) -> None:
    """Seeds an event with twenty items, and forty admins with a session each."""
    if _stock:
        return
    url = make_url(stage.environment["DATABASE_URL"]).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
        _stock["event"] = stock_event(connection, NUMBER)
        seed_items(connection, _stock["event"], ITEMS, first=10 * NUMBER)
    _stock["path"] = f"/api/events/{_stock['event']}/inventory"


@contextmanager
def listening(stage: Stage) -> Iterator[list[socket.socket]]:
    """Two hundred streams of a unit of their own that have read their snapshot, each account at its own address."""
    accounts = (LISTENERS - NEWCOMERS) // EACH
    tokens = [_token(number) for number in range(accounts + NEWCOMERS)]
    log, configuration = stage.folder / "streams.log", "gunicorn_streams.conf.py"
    with serving("wsgi:app", stage.environment, log=log, probe="/health", configuration=configuration) as unit:
        crowd = [
            _stream(unit, token, f"127.0.1.{1 + number}")
            for number, token in enumerate(tokens)
            for _ in range(EACH if number < accounts else 1)
        ]
        try:
            yield crowd
        finally:
            for item in crowd:
                item.close()


def _token(number: int) -> str:
    with transaction() as session:
        admin = Account(
            email=f"listener{number}-{time.monotonic_ns()}@example.com",
            name="Frieda Amupolo",
            roles=["admin"],
            admin_tier="analyst",
            password_hash="-",
        )
        session.add(admin)
        session.flush()
        admin.email_verified_at = admin.created_at
        begun = sessions.create_session(session, admin)
    return str(serialize_sign_in(begun)["access_token"])


def _stream(unit: Server, token: str, address: str) -> socket.socket:
    host, _, port = unit.address.removeprefix("http://").partition(":")
    made = socket.create_connection((host, int(port)), 10, source_address=(address, 0))
    said = (f"GET {_stock['path']}/stream HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}", "", "")
    made.sendall("\r\n".join(said).encode())
    got = b""
    while b'"more":false}\n\n' not in got:
        piece = made.recv(65536)
        assert piece and re.match(rb"HTTP/1.1 200 ", got or piece), got + piece
        got += piece
    return made


def delivery(stage: Stage, it: Benchmark) -> Outcome:
    """From the answer to a change, which comes after its commit, to the last of the listeners."""
    load, values, middles = it.prepare(stage), [], []
    with listening(stage) as crowd, httpx.Client(base_url=stage.service.address, headers=dict(load.headers)) as writer:
        for _ in range(CHANGES):
            assert writer.post(load.path, json=load.bodies[0]).is_success
            took = _told(crowd)
            values.append(took[-1])
            middles.append(median(took))
            time.sleep(0.2)
    return of_rounds(
        values, "s", note=f"half of them after {1000 * median(middles):.0f} ms; worst of {CHANGES} changes"
    )


def _told(crowd: list[socket.socket]) -> list[float]:
    began, took, waiting = time.monotonic(), [], selectors.DefaultSelector()
    for item in crowd:
        waiting.register(item, selectors.EVENT_READ)
    while waiting.get_map():
        for key, _ in waiting.select(10):
            made: socket.socket = key.fileobj  # type: ignore[assignment]
            if b"event: changes" in made.recv(65536):
                took.append(time.monotonic() - began)
                waiting.unregister(made)
    return took


def tail_with_listeners(stage: Stage, it: Benchmark) -> Outcome:
    """The p99 beside two hundred idle streams, as a multiple of the p99 without them, in turns."""
    values, runs, tails = [], [], []
    for _ in range(stage.rounds):
        alone = stage.run(it.prepare(stage), clients=READERS)
        before = connections()
        with listening(stage):
            runs.append(stage.run(it.prepare(stage), clients=READERS))
            more = connections() - before
        tails.append(alone.p99)
        values.append(runs[-1].p99)
    tails, values = [median(tails)], [value / median(tails) for value in values]
    note = f"{median(tails):.1f} ms without; {more:+d} database connections"
    return of_rounds(values, "× p99 without", runs, note=note)


def connections() -> int:
    """Connections to the database, of all processes."""
    found = int(
        db.session.scalar(text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")) or 0
    )
    db.session.remove()
    return found


@benchmark("stream-delivery", goal=1, at_most=True, seed=stocked, measure=delivery)
def stream_delivery(stage: Stage) -> Load:
    """From a change's commit to the last of 200 listeners."""
    item = db.session.scalar(
        text("SELECT id FROM inventory_item WHERE event_id = :event ORDER BY id LIMIT 1"), {"event": _stock["event"]}
    )
    db.session.remove()
    headers = {"Authorization": f"Bearer {_writer()}"}
    return Load(f"{_stock['path']}/items/{item}/adjust", "POST", headers, [{"delta": 1, "reason": "received"}])


@benchmark("stream-idle", goal=2, at_most=True, seed=stocked, measure=tail_with_listeners)
def stream_idle(stage: Stage) -> Load:
    """`GET /health` beside 200 idle streams; the tail of `me` is too wild by itself to be compared."""
    return Load("/health")


def _writer() -> str:
    with transaction() as session:
        begun = sessions.create_session(session, session.get_one(Account, _owner()))
    return str(serialize_sign_in(begun)["access_token"])


def _owner() -> str:
    return str(db.session.scalar(text("SELECT organiser_id FROM event WHERE id = :id"), {"id": _stock["event"]}))
