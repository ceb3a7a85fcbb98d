"""What the public reads: discovery among a thousand, a hundred thousand and a million events, one event, its tickets.

The area grows one database, so the benchmarks stand in the order of its size.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median

import psycopg
from sqlalchemy import make_url, text

from app.core.db import db
from benchmarks.accounts import login, me
from benchmarks.comparing import kept_during, share_of_bare
from benchmarks.outcome import Outcome, of_rounds
from benchmarks.registry import Benchmark, Load, Measure, benchmark, registered
from benchmarks.seed_events import seed_events, seed_sold
from benchmarks.stage import BARE, Stage

DISCOVER = "/api/events/public/discover"
TICKET_TYPE = "b" * 24
# What a request cost in CPU, as a multiple of the bare application's.
_cost: dict[str, float] = {}


def grown_to(count: int) -> Callable[[Stage], None]:
    """Seeds what is missing to so many events, and ticket types for one of them."""

    def seed(stage: Stage) -> None:
        have = db.session.scalar(text("SELECT count(*) FROM event")) or 0
        db.session.remove()
        with psycopg.connect(_url(stage)) as connection:
            if have < count:
                seed_events(connection, count - have, first=have)
            connection.execute(
                "INSERT INTO ticket_type (id, event_id, position, name, name_key, price_minor, total)"
                " SELECT %s, id, 0, 'Weekend pass', 'weekend pass', 85000, 2000000 FROM event"
                " WHERE visibility = 'published' AND NOT EXISTS (SELECT FROM ticket_type WHERE id = %s)"
                " ORDER BY id LIMIT 1",
                (TICKET_TYPE, TICKET_TYPE),
            )

    return seed


def sold(count: int) -> Callable[[Stage], None]:
    """Sells so many tickets of the one type."""

    def seed(stage: Stage) -> None:
        grown_to(1000)(stage)
        with psycopg.connect(_url(stage)) as connection:
            seed_sold(connection, TICKET_TYPE, count)

    return seed


def cost_against(earlier: str) -> Measure:
    """The CPU of a request as a multiple of an earlier benchmark's, each against bare in its own run.

    The other benchmark runs first where it was not asked for; with the data of this one, so name both for a fair figure.
    """

    def measure(stage: Stage, it: Benchmark) -> Outcome:
        if earlier not in _cost:
            share_remembered(earlier)(stage, registered()[earlier])
        runs = [stage.run(it.prepare(stage)) for _ in range(stage.rounds)]
        bare = median(stage.run(BARE, on=stage.bare).cpu for _ in range(stage.rounds))
        return of_rounds([run.cpu / bare / _cost[earlier] for run in runs], f"× CPU of {earlier}", runs)

    return measure


def share_remembered(name: str) -> Measure:
    """The rate as a share of the bare application's; the cost is remembered for `cost_against`."""

    def measure(stage: Stage, it: Benchmark) -> Outcome:
        found = share_of_bare(stage, it)
        bare = stage.run(BARE, on=stage.bare)
        _cost[name] = found.run.cpu / bare.cpu if found.run else 1.0
        return found

    return measure


def tail_against_a_row(stage: Stage, it: Benchmark) -> Outcome:
    """The p99 as a multiple of that of a request that reads a single row."""
    values, runs = [], []
    for _ in range(stage.rounds):
        row = stage.run(me(stage))
        runs.append(stage.run(it.prepare(stage)))
        values.append(runs[-1].p99 / row.p99)
    return of_rounds(values, "× p99 of me", runs)


@benchmark("discover-1k", goal=0.30, seed=grown_to(1000), measure=share_remembered("discover-1k"))
def discover_1k(stage: Stage) -> Load:
    """`GET discover`, 20 of 1,000 events from random dates on, uncached."""
    return _random_dates()


@benchmark("inventory", goal=0.40, seed=grown_to(1000), measure=share_remembered("inventory"))
def inventory(stage: Stage) -> Load:
    """`GET ticket-inventory`, uncached, nothing sold."""
    return _uncached(f"/api/events/public/{_event()}/ticket-inventory")


@benchmark("inventory-sold", goal=1.2, at_most=True, seed=sold(1_000_000), measure=cost_against("inventory"))
def inventory_sold(stage: Stage) -> Load:
    """`GET ticket-inventory`, uncached, 1,000,000 tickets sold."""
    return inventory(stage)


@benchmark("inventory-hot", seed=grown_to(1000), goal=0.75)
def inventory_hot(stage: Stage) -> Load:
    """`GET ticket-inventory`, kept for a second."""
    return Load(f"/api/events/public/{_event()}/ticket-inventory")


@benchmark("event", seed=grown_to(1000), goal=0.30)
def event(stage: Stage) -> Load:
    """`GET` one public event, uncached."""
    return _uncached(f"/api/events/public/{_event()}")


@benchmark("event-page", seed=grown_to(1000), goal=0.04)
def event_page(stage: Stage) -> Load:
    """`GET` the page of an event, uncached."""
    return _uncached(f"/e/{_event()}")


@benchmark("event-page-hot", seed=grown_to(1000), goal=0.5)
def event_page_hot(stage: Stage) -> Load:
    """`GET` the page of an event, kept for a second."""
    return Load(f"/e/{_event()}")


@benchmark("discover", goal=0.30, seed=grown_to(100_000))
def discover(stage: Stage) -> Load:
    """`GET discover`, 20 of 100,000 events from random dates on, uncached."""
    return _random_dates()


@benchmark("discover-in-flood", goal=0.5, seed=grown_to(1000), measure=kept_during(login))
def discover_in_flood(stage: Stage) -> Load:
    """`GET discover`, uncached, by 4 readers while 8 clients sign in."""
    return _random_dates()


@benchmark("discover-hot", seed=grown_to(1000), goal=0.75)
def discover_hot(stage: Stage) -> Load:
    """`GET discover`, the first page, kept for a second."""
    return Load(DISCOVER)


@benchmark("discover-304", seed=grown_to(1000), goal=0.75)
def discover_304(stage: Stage) -> Load:
    """`GET discover` by a client that has it already."""
    return Load(DISCOVER, headers={"If-None-Match": "*"})


@benchmark("discover-1m", goal=1.2, at_most=True, seed=grown_to(1_000_000), measure=cost_against("discover-1k"))
def discover_1m(stage: Stage) -> Load:
    """`GET discover`, 20 of 1,000,000 events from random dates on, uncached."""
    return _random_dates()


@benchmark("search-1m", goal=5, seed=grown_to(1_000_000), at_most=True, measure=tail_against_a_row)
def search_1m(stage: Stage) -> Load:
    """`GET discover?q=…` among 1,000,000 events, uncached: rare words and common ones."""
    words = ("river", "lights+9", "jazz+wind", "rare3", "gazza", "kalahari+food", "rare71", "sunset", "harvest+fair")
    return Load(DISCOVER, paths=[f"{DISCOVER}?q={words[n % len(words)]}&x={n}" for n in range(5000)])


def _random_dates() -> Load:
    chance, now = random.Random(2026), datetime.now(UTC)
    dates = (now + timedelta(seconds=chance.randrange(900 * 86400)) for _ in range(5000))
    return Load(DISCOVER, paths=[f"{DISCOVER}?from={date_:%Y-%m-%dT%H:%M:%SZ}" for date_ in dates])


def _uncached(path: str) -> Load:
    return Load(path, paths=[f"{path}?x={n}" for n in range(5000)])


def _event() -> str:
    found = db.session.scalar(text("SELECT event_id FROM ticket_type WHERE id = :id"), {"id": TICKET_TYPE})
    db.session.remove()
    return str(found)


def _url(stage: Stage) -> str:
    url: str = stage.environment["DATABASE_URL"]
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
