"""A backup of a busy service, restored elsewhere: all laws hold, and work goes on."""

import os
import random
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url, text

from app.clients import storage
from app.core.db import db, transaction_engine
from app.core.outbox import queries
from app.core.outbox.executor import run_due_jobs
from app.embedded.binaries import find_postgres
from app.embedded.os_user import Account
from app.inventory.commands import list_differences
from tests import stores
from tests.allocations.law import assert_books_agree
from tests.factories.allocations import claim_slot, create_block
from tests.factories.inventory import Stock
from tests.factories.payouts import assert_ledger_integrity, create_earning_merchant, request_payout
from tests.faults.service import ROOT
from tests.http import Client
from tests.settings import app_for

SEEDS = range(int(os.environ.get("BACKUP_SEEDS") or 1))
SCRIPTS = ROOT / "deploy"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which pg_dump fits the server of the tests."""
    spare = tmp_path_factory.mktemp("postgres")
    with psycopg.connect(plain(os.environ[stores.DATABASE])) as connection:
        major = connection.info.server_version // 10000
    found = find_postgres(Account.for_state(spare), spare=spare, data_major=major)
    return f"{found.bin}:{os.environ['PATH']}"


@pytest.fixture
def empty_database() -> Iterator[str]:
    name = f"restored_{os.getpid()}"
    with psycopg.connect(plain(os.environ[stores.DATABASE]), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
    url = stores.set_database(os.environ[stores.DATABASE], name)
    yield url
    stores.drop(url)


def plain(url: str) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def script(name: str, argument: Path, path: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": path, "LC_ALL": "C.UTF-8", **settings}
    return subprocess.run(
        [str(SCRIPTS / name), str(argument)], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def busy(app: Flask, stop: threading.Event, *kinds: Callable[[random.Random], object]) -> list[threading.Thread]:
    def go(what: Callable[[random.Random], object], seed: int) -> None:
        dice = random.Random(seed)
        with app.app_context():
            while not stop.is_set():
                what(dice)

    threads = [threading.Thread(target=go, args=(kind, seed)) for seed, kind in enumerate(kinds)]
    for thread in threads:
        thread.start()
    return threads


@pytest.mark.parametrize("seed", SEEDS)
def test_a_backup_taken_at_a_random_moment_is_whole(
    app: Flask, client: Client, tmp_path: Path, programs: str, empty_database: str, seed: int
) -> None:
    with under_load(app, client):
        time.sleep(random.Random(seed).uniform(0.2, 1.2))
        storage_url = f"file://{app.extensions['settings'].DATA_DIR}/storage"
        made = script("backup.sh", tmp_path / "backups", programs, DATABASE_URL=address(app), STORAGE_URL=storage_url)
        time.sleep(0.2)
    assert made.returncode == 0, made.stderr
    later, name = counts(app), str(make_url(empty_database).database)

    files = tmp_path / "files"
    files.mkdir()
    files.chmod(0o2750)
    there = {"DATABASE_URL": empty_database, "STORAGE_URL": f"file://{files}"}
    restored = script("restore.sh", Path(made.stdout.strip()), programs, CONFIRM=name, **there)
    assert restored.returncode == 0, restored.stderr
    other = app_for(
        database_url=empty_database,
        redis_url=os.environ[stores.REDIS],
        data_dir=tmp_path,
        STORAGE_URL=f"file://{files}",
    )
    with other.app_context():
        earlier = counts(other)
        assert all(0 < earlier[name] <= later[name] for name in later), (earlier, later)
        assert earlier["inventory_movement"] < later["inventory_movement"], "the dump was made in the middle"
        whole()
        work_goes_on(other)
        db.engine.dispose()
    assert list((files / "documents").iterdir())
    assert files.stat().st_mode & 0o7777 == 0o2750, "what nginx may read stays so"


@contextmanager
def under_load(app: Flask, client: Client) -> Iterator[None]:
    """Stock, claims, payouts and files move."""
    stock, tickets = Stock(client), create_block(client, quantity=60)
    items, codes = [stock.item() for _ in range(4)], tickets.codes(60)
    merchant, _ = create_earning_merchant(client, 10_000_000)
    stop = threading.Event()
    threads = busy(
        app,
        stop,
        lambda dice: stock.adjust(dice.choice(items), dice.choice([-1, 1, 2])),
        lambda dice: stock.adjust(dice.choice(items), dice.choice([-2, 3])),
        lambda _: claim_slot(client, codes.pop(), name="Nangula") if codes else time.sleep(0.01),
        lambda dice: request_payout(merchant, dice.randint(1000, 5000)),
        lambda dice: storage.put(f"documents/{dice.getrandbits(64):x}", b"%PDF-" * 99, content_type="application/pdf"),
    )
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def address(app: Flask) -> str:
    url: str = app.extensions["settings"].DATABASE_URL
    return url


def counts(app: Flask) -> dict[str, int]:
    names = ("inventory_movement", "allocation_slot", "payout", "ledger_entry", "outbox")
    with app.app_context(), db.engine.connect() as connection:
        return {name: connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in names}


def whole() -> None:
    """Stock, books, payouts, tickets."""
    assert list(list_differences()) == []
    assert_ledger_integrity()
    assert_books_agree()


def work_goes_on(app: Flask) -> None:
    """What was waiting at that moment is done here, as a relay and a worker would."""
    with transaction_engine(db.engine).begin() as connection:
        waiting = connection.execute(text("SELECT count(*) FROM outbox WHERE state = 'ready'")).scalar_one()
        connection.execute(text("UPDATE outbox SET run_at = now() WHERE state = 'ready' AND kind NOT LIKE '%.sweep'"))
    assert waiting > 0
    while run_due_jobs(worker="restored"):
        pass
    states = queries.count_by_state()
    assert states.get("done", 0) >= waiting * 0.9 and states.get("dead", 0) == 0, states


def test_nothing_is_ever_overwritten(
    app: Flask, client: Client, tmp_path: Path, programs: str, empty_database: str
) -> None:
    Stock(client).item()
    settings = {"STORAGE_URL": f"file://{tmp_path}/files"}
    (tmp_path / "files").mkdir()
    made = script("backup.sh", tmp_path / "backups", programs, DATABASE_URL=address(app), **settings)
    folder, name = Path(made.stdout.strip()), str(make_url(empty_database).database)
    to = {"DATABASE_URL": empty_database, **settings}

    full = script("restore.sh", folder, programs, CONFIRM="x", **{**to, "DATABASE_URL": address(app)})
    assert full.returncode == 1 and "Restore into an empty one" in full.stderr
    assert script("restore.sh", folder, programs, **to).returncode == 1, "nobody answered"
    wrong = script("restore.sh", folder, programs, CONFIRM="yes", **to)
    assert wrong.returncode == 1 and "Nothing was done" in wrong.stderr
    (tmp_path / "files/here").write_text("already")
    taken = script("restore.sh", folder, programs, CONFIRM=name, **to)
    assert taken.returncode == 1 and "Restore into an empty folder" in taken.stderr
    (tmp_path / "files/here").unlink()

    dump = folder / "database.dump"
    dump.write_bytes(dump.read_bytes()[:-20] + bytes(20))
    broken = script("restore.sh", folder, programs, CONFIRM=name, **to)
    assert broken.returncode == 1 and "is damaged" in broken.stderr
    with psycopg.connect(plain(empty_database)) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


def test_a_backup_that_fails_leaves_nothing_and_says_so(tmp_path: Path, programs: str, application: Flask) -> None:
    nowhere = stores.set_database(address(application), "no_such_database")
    made = script("backup.sh", tmp_path / "backups", programs, DATABASE_URL=nowhere)
    assert made.returncode != 0 and made.stdout == ""
    assert list((tmp_path / "backups").iterdir()) == []


def test_old_backups_go_and_three_always_stay(app: Flask, tmp_path: Path, programs: str) -> None:
    folder, long_ago = tmp_path / "backups", time.time() - 40 * 86400
    for day in range(1, 6):
        old = folder / f"2026010{day}T000000Z"
        old.mkdir(parents=True)
        os.utime(old, (long_ago, long_ago))
    after = 'echo "went to the other place: $1" >&2; :'
    made = script("backup.sh", folder, programs, DATABASE_URL=address(app), AFTER_BACKUP=after, DATA_DIR=str(tmp_path))
    assert made.returncode == 0, made.stderr
    assert sorted(path.name for path in folder.iterdir())[:2] == ["20260104T000000Z", "20260105T000000Z"]
    assert len(list(folder.iterdir())) == 3
    assert f"went to the other place: {made.stdout.strip()}" in made.stderr


def test_a_password_is_no_argument_of_a_program(tmp_path: Path) -> None:
    """Everybody on a machine sees arguments."""
    (tmp_path / "pg_dump").write_text(
        '#!/bin/sh\necho "$@" >"$SEEN"; echo "$PGPASSWORD $PGHOST $PGPORT $PGDATABASE" >>"$SEEN"; exit 1\n'
    )
    (tmp_path / "pg_dump").chmod(0o755)
    url = "postgresql+psycopg://who:p%40ss@db.internal:5433/event_commerce?sslmode=require"
    script(
        "backup.sh", tmp_path / "b", f"{tmp_path}:{os.environ['PATH']}", DATABASE_URL=url, SEEN=str(tmp_path / "seen")
    )
    arguments, environment = (tmp_path / "seen").read_text().splitlines()
    assert "p@ss" not in arguments and "p%40ss" not in arguments
    assert environment == "p@ss db.internal 5433 event_commerce"
