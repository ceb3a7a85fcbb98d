"""F19, F20: a migration and a backup while people use the service."""

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from alembic.script import ScriptDirectory
from flask import Flask

from app.core.db import db
from app.core.outbox.executor import run_due_jobs
from app.embedded import SPARE
from app.embedded.binaries import find_postgres
from tests import stores
from tests.faults.service import OURS, ROOT
from tests.faults.storm import continued, stopped
from tests.faults.suite.evidence import LAWS, Evidence
from tests.faults.suite.evidence_files import journal_of_rail
from tests.faults.suite.plan import fault
from tests.faults.suite.scenario import Scene
from tests.settings import app_for

OF_A_COPY = (
    "M1 M2 M3 M6 M7 books",
    "M1 insert-only",
    "M2 purses",
    "M6 steps",
    "M8 stall fees",
    "S1 the book",
    "T1 places",
    "T2 admissions",
    "G1 entries",
    "G3 tallies",
    "G4 withdrawn places",
    "A2 codes",
    "A3 one account",
)
EXPAND = '''"""Adds what nobody uses yet: columns, a constraint and an index, to the tables that everybody writes.

One lock at a time: anyone who holds several waits for others who do."""
from alembic import op

revision, down_revision, branch_labels, depends_on = "ffff", "{head}", None, None
TABLES = ("payout", "allocation_slot", "inventory_item", "outbox", "campaign", "account", "event")

def upgrade():
    each("ALTER TABLE {{0}} ADD COLUMN IF NOT EXISTS spare text DEFAULT 'none'")
    each("ALTER TABLE {{0}} DROP CONSTRAINT IF EXISTS {{0}}_spare, "
         "ADD CONSTRAINT {{0}}_spare CHECK (length(spare) < 9) NOT VALID")
    each("CREATE INDEX CONCURRENTLY IF NOT EXISTS {{0}}_spare_index ON {{0}} (spare)")
    each("ALTER TABLE {{0}} VALIDATE CONSTRAINT {{0}}_spare")

def downgrade():
    each("ALTER TABLE {{0}} DROP COLUMN IF EXISTS spare")

def each(statement):
    with op.get_context().autocommit_block():
        for table in TABLES:
            op.execute(statement.format(table))
'''
TRIES, IDLE = 5, 3.0


@fault("F19")
def migrate(scene: Scene) -> None:
    """columns, constraints and indexes added to the busiest tables, and taken away again"""
    folder = scene.stack.folder / "migrations"
    head = expanded(folder)
    failed, tries = 0, 0
    for _ in scene.every(6.0):
        for step in (["upgrade"], ["downgrade", head]):
            done = 1
            for _again in range(TRIES):
                tries += 1
                done = flask_db(scene, folder, *step)
                if done == 0:
                    break
            failed += done != 0
    scene.notes.append(f"{tries} steps tried")
    if failed:
        scene.notes += (scene.stack.folder / "migration.log").read_text().splitlines()[-3:]
    scene.note("migration failed", failed)


def expanded(folder: Path) -> str:
    """Makes a copy of the migrations with one more; the revision before it."""
    shutil.copytree(ROOT / "migrations", folder)
    head = str(ScriptDirectory(str(folder)).get_current_head())
    (folder / "versions" / "ffff_expand.py").write_text(EXPAND.format(head=head))
    return head


def flask_db(scene: Scene, folder: Path, *step: str) -> int:
    settings = scene.stack.app.extensions["settings"]
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    environment |= {
        "DATABASE_URL": settings.DATABASE_URL,
        "REDIS_URL": settings.REDIS_URL,
        "SECRET_KEY": settings.SECRET_KEY,
        "DATA_DIR": str(scene.stack.folder),
    }
    argv = [sys.executable, "-m", "flask", "--app", "wsgi", "db", step[0], "--directory", str(folder), *step[1:]]
    with (scene.stack.folder / "migration.log").open("ab") as log:
        return subprocess.run(argv, cwd=ROOT, env=environment, stdout=log, stderr=log).returncode


@fault("F20")
def back_up(scene: Scene) -> None:
    """a backup at a random moment, restored beside it, where the work that was waiting goes on"""
    time.sleep(scene.dice.uniform(0.3, 0.7) * scene.seconds)
    place, name = scene.stack.folder / "backups", "restored"
    with idle_workers(scene):
        made = script(scene, "backup.sh", place, scene.stack.app.extensions["settings"].DATABASE_URL)
    there = stores.set_database(scene.stack.database.url, name)
    with psycopg.connect(scene.stack.database.plain_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
    files = scene.stack.folder / "files"
    files.mkdir()
    script(scene, "restore.sh", Path(made), there, CONFIRM=name, STORAGE_URL=f"file://{files}")
    rail = {key: value for key, value in scene.stack.variables.items() if key.startswith("PAYRAIL_")}
    settings = {**rail, "STORAGE_URL": f"file://{files}"}
    copy = app_for(
        database_url=there, redis_url=scene.stack.redis.url, data_dir=scene.stack.folder / "copy", **settings
    )
    with copy.app_context():
        broken = laws_of(copy)
        done = work_goes_on()
        broken += laws_of(copy)
        db.session.remove()
        db.engine.dispose()
    scene.notes += [f"{done} pieces of work went on in the copy", *broken[:5]]
    scene.note("broken laws of the copy", len(broken))
    sent = Counter(line["reference"] for line in journal_of_rail(scene.stack) if line["event"] == "transfer")
    scene.note("paid twice", sum(count - 1 for count in sent.values()))


@contextmanager
def idle_workers(scene: Scene) -> Iterator[None]:
    """Workers that stop for a moment, so that there is work in the backup that has not been done."""
    workers = scene.stack.cluster.running("worker")
    stopped(workers)
    try:
        time.sleep(IDLE)
        yield
    finally:
        continued(workers)


def script(scene: Scene, name: str, argument: Path, url: str, **more: str) -> str:
    """What a script of deploy/ prints last."""
    server = scene.stack.database
    found = find_postgres(server.account, spare=SPARE, data_major=None)
    environment = {
        "PATH": f"{found.bin}:{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        "DATABASE_URL": url,
        "STORAGE_URL": f"file://{scene.stack.site.storage}",
        **more,
    }
    ran = subprocess.run(
        [str(ROOT / "deploy" / name), str(argument)],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip().splitlines()[-1]


def laws_of(copy: Flask) -> list[str]:
    found = Evidence()
    return [f"{name}: {sentence}" for name in OF_A_COPY for sentence in LAWS[name](found)]


def work_goes_on() -> int:
    """What was waiting at that moment is done as a relay and a worker would; how many pieces."""
    done = "SELECT count(*) FROM outbox WHERE state = 'done'"
    before = Evidence().rows(done)[0][0]
    while run_due_jobs(worker="restored"):
        pass
    return int(Evidence().rows(done)[0][0] - before)
