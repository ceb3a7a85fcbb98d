"""The service behind PgBouncer in transaction mode, with fewer connections than callers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url, text

from app.core import connections
from app.core.connections import connect_arguments, dedicated_connection
from app.core.db import db, fetch_row
from app.core.outbox import Outbox, lease
from app.core.outbox.tuning import get_tuning
from app.core.replica import Replica
from app.doctor import pooler_checks
from app.inventory import sql
from app.web.streams.pg_listener import NotificationListener
from tests import stores
from tests.conftest import empty
from tests.factories.accounts import run_jobs
from tests.factories.events import create_organiser_client, create_published_event, update_event
from tests.factories.inventory import Stock
from tests.faults.service import kept_open
from tests.http import Client, data
from tests.observing.ward import found
from tests.races import run_concurrently
from tests.settings import app_for, settings_for
from tests.topology.conftest import needs
from tests.topology.pooler import SHIPPED, pooler

pytestmark = needs("pgbouncer")


@pytest.fixture(scope="module")
def addresses(worker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The pooler's address and the direct one of a database, which has been told what a pooler does not hand on."""
    direct = stores.database_of(f"{worker}_pooled")
    with psycopg.connect(**connect_arguments(direct), autocommit=True) as connection:
        connection.execute((SHIPPED / "account.sql").read_text())  # type: ignore[call-overload]
    with kept_open() as folder, pooler(folder, direct) as pooled:
        yield pooled, direct
    stores.drop(direct)


@contextmanager
def application(worker: str, pooled: str, direct: str | None, folder: Path) -> Iterator[Flask]:
    more = {"DATABASE_DIRECT_URL": direct} if direct else {}
    app = app_for(database_url=pooled, redis_url=stores.redis_of(worker), data_dir=folder, **more)
    with app.app_context():
        yield app
        db.session.remove()
        db.engine.dispose()


@pytest.fixture
def app(worker: str, addresses: tuple[str, str], tmp_path: Path) -> Iterator[Flask]:
    with application(worker, *addresses, tmp_path) as made:
        empty(made)
        yield made


def test_sixteen_callers_share_three_connections(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner)

    def go(number: int) -> set[int]:
        statuses = set()
        for turn in range(6):
            headers = {"Idempotency-Key": f"pooled-{number}-{turn}"}
            statuses |= {
                owner.get("/api/auth/me").status_code,
                client.get(f"/api/events/public/{made['id']}?n={number}-{turn}").status_code,
                client.get(f"/api/events/public/discover?q=windhoek&n={number}-{turn}").status_code,
                owner.post("/api/events", {**EVENT, "name": f"{number} {turn}"}, headers=headers).status_code,
                owner.get(f"/api/events/{made['id']}/ticket-stats").status_code,
            }
        return statuses

    assert set().union(*run_concurrently(16, go)) == {200, 201}
    assert db.session.execute(text("SELECT count(*) FROM event")).scalar() == 1 + 16 * 6
    with db.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM pg_prepared_statements")).scalar() == 0


EVENT = {
    "name": "Windhoek Lights",
    "startDate": "2027-06-04T18:00:00",
    "endDate": "2027-06-06T23:00:00",
    "venue": "River grounds",
    "city": "Windhoek",
    "country": "NA",
}


@pytest.mark.control
def test_with_prepared_statements_they_would_meet_each_others(
    worker: str, addresses: tuple[str, str], open_folder: Path
) -> None:
    """The negative control: a pooler that nobody has told the program of, and that nobody else uses."""
    with (
        pooler(open_folder, addresses[1]) as pooled,
        application(worker, pooled, None, open_folder) as app,
    ):

        def go(number: int) -> None:
            with app.app_context():
                for turn in range(40):
                    fetch_row(f"SELECT %s::int + {turn % 7}", (number,))

        with pytest.raises(psycopg.Error, match="prepared statement"):
            run_concurrently(8, go)


def test_imports_exports_and_work_go_through_it(app: Flask, client: Client) -> None:
    stock = Stock(client)
    rows = "\n".join(f"S-{n},Item {n},1,1,1,{n},0,0" for n in range(1, 300))
    sheet = f"sku,name,parLevel,minOrderQty,reorderLevel,onHand,reserved,damaged\n{rows}\n"
    assert data(stock.sheet(sheet))["created"] == 299
    exported = stock.owner.get(f"{stock.path}/export.csv").get_data(as_text=True)
    assert exported.count("\n") == 300
    run_jobs()
    lease.expire_leases(get_tuning())
    assert db.session.query(Outbox).filter(Outbox.state == "ready").count() == 0


def test_what_one_borrower_sets_the_next_does_not_find(app: Flask, client: Client) -> None:
    """An export waits ten minutes for its reader; nobody who gets its connection afterwards does."""
    stock = Stock(client)
    for _ in range(6):
        stock.owner.get(f"{stock.path}/export.csv").get_data()
        limits = fetch_row("SELECT current_setting('statement_timeout'), current_setting('timezone')", ())
        assert limits == ("10s", "UTC")


def test_notifications_come_the_direct_way(app: Flask, client: Client, addresses: tuple[str, str]) -> None:
    stock = Stock(client)
    ear = NotificationListener(connections.direct_url(app.extensions["settings"]), sql.CHANNEL)
    deaf = NotificationListener(addresses[0], sql.CHANNEL)
    try:
        stock.item()
        assert {notify.payload for notify in ear.connection.notifies(timeout=3, stop_after=1)} == {stock.event["id"]}
        assert not list(deaf.connection.notifies(timeout=0.5)), (
            "the negative control: through the pooler nothing is heard"
        )
    finally:
        ear.close()
        deaf.close()


def test_migrations_take_the_direct_way(app: Flask, addresses: tuple[str, str]) -> None:
    engine = connections.create_direct_engine(app.extensions["settings"])
    assert engine.url.port == make_url(addresses[1]).port
    assert make_url(addresses[0]).port != engine.url.port


def test_the_doctor_looks_through_the_pooler(app: Flask) -> None:
    assert "have the account's limits" in found(pooler_checks, app.extensions["settings"], "pooler", "ok")


def test_what_is_changed_through_it_shows(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner)
    update_event(owner, made, name="Renamed")
    assert data(client.get(f"/api/events/public/{made['id']}"))["name"] == "Renamed"


def test_what_is_asked_beside_the_pool_prepares_nothing(addresses: tuple[str, str]) -> None:
    with dedicated_connection(addresses[0]) as one, dedicated_connection(addresses[0]) as other:
        for _ in range(20):
            for item in (one, other):
                assert item.execute("SELECT count(*) >= 0 FROM outbox").fetchone() == (True,)


def test_a_replica_is_compared_with_the_primary_itself(addresses: tuple[str, str]) -> None:
    """One connection is kept for it, which a pooler would lend to others between two looks."""
    pooled, direct = addresses
    settings = settings_for(
        database_url=pooled, redis_url="redis://r", DATABASE_DIRECT_URL=direct, DATABASE_REPLICA_URL=direct
    )
    replica = Replica(settings)
    assert (replica.primary_url, replica.url) == (direct, direct)
