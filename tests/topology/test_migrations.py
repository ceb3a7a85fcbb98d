"""Two nodes that start at once on a database that is not up to date: one of them migrates, the other waits for it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from app.core import migrations
from app.core.connections import connect_arguments
from tests import stores
from tests.faults.service import ROOT
from tests.topology.conftest import needs
from tests.topology.pooler import pooler
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

LOCK = "pg_try_advisory_lock(7161006)"
ONE_MORE = f'''"""One more than the database has; made twice it fails."""
from alembic import op

revision, down_revision, branch_labels, depends_on = "ffff", "{migrations.head()}", None, None

def upgrade():
    op.execute("CREATE TABLE one_more (id int)")

def downgrade():
    op.execute("DROP TABLE one_more")
'''
Answers = list[tuple[int, str]]
Two = Callable[..., Answers]


@pytest.fixture(scope="module")
def launcher() -> Iterator["subprocess.Popen[str]"]:
    argv = [sys.executable, "-m", "tests.topology.migrating"]
    environment = os.environ | {"PGAPPNAME": "migrates"}
    with subprocess.Popen(
        argv, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin
        process.stdin.close()


@pytest.fixture
def two(launcher: "subprocess.Popen[str]", tmp_path: Path, worker: str) -> Two:
    """Lets two processes migrate; the code and the output of each."""

    def run(folder: Path, url: str, **more: str) -> Answers:
        assert launcher.stdin and launcher.stdout
        outputs = [tmp_path / name for name in ("one", "other")]
        settings = {"database_url": url, "redis_url": stores.redis_of(worker), "data_dir": str(tmp_path), **more}
        asked = {"settings": settings, "migrations": str(folder), "outputs": [str(output) for output in outputs]}
        launcher.stdin.write(json.dumps(asked) + "\n")
        launcher.stdin.flush()
        return list(
            zip(json.loads(launcher.stdout.readline()), (output.read_text() for output in outputs), strict=True)
        )

    return run


@pytest.fixture
def blank(worker: str) -> Iterator[str]:
    name = f"blank_{worker}_{os.getpid()}"
    with plain(os.environ[stores.DATABASE]) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield stores.set_database(os.environ[stores.DATABASE], name)
    stores.drop(stores.set_database(os.environ[stores.DATABASE], name))


@pytest.fixture
def behind(worker: str) -> Iterator[str]:
    """A database of before the migration in `folder`."""
    url = stores.database_of(f"{worker}_behind")
    yield url
    stores.drop(url)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The migrations, and one more."""
    shutil.copytree(ROOT / "migrations", tmp_path / "migrations")
    (tmp_path / "migrations/versions/ffff_one_more.py").write_text(ONE_MORE)
    return tmp_path / "migrations"


@contextmanager
def plain(url: str) -> Iterator["psycopg.Connection[Any]"]:
    with psycopg.connect(**connect_arguments(url), autocommit=True, prepare_threshold=None) as connection:
        yield connection


@dataclass(frozen=True)
class Place:
    """Where both can be held up: what holds them, and what tells how many have come to it."""

    hold: str
    come: str


GUARD = Place(
    f"SELECT {LOCK}",
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'migrates' AND datname = current_database()",
)
TABLE = Place(
    "BEGIN; LOCK TABLE alembic_version",
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'alembic_version'::regclass",
)


def held_up(database: str, two: Two, folder: Path, url: str = "", at: Place = GUARD, **more: str) -> Answers:
    """What they come to, when both have been seen at that place before either may go on."""
    with ThreadPoolExecutor(1) as thread, plain(database) as looking:
        with plain(database) as holder:
            holder.execute(at.hold)
            found = thread.submit(two, folder, url or database, **more)
            wait_until(lambda: looking.execute(at.come).fetchone() == (2,))
        return found.result(60)


def one_of_them(answers: Answers, steps: int) -> bool:
    """Whether both ended well, and one did all of the work and the other none."""
    return [code for code, _ in answers] == [0, 0] and sorted(said.count("Running upgrade") for _, said in answers) == [
        0,
        steps,
    ]


def test_an_empty_database_is_made_once(blank: str, two: Two) -> None:
    answers = held_up(blank, two, ROOT / "migrations")
    assert one_of_them(answers, len(migrations.list_revisions())), answers
    with plain(blank) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(migrations.head(),)]


@needs("pgbouncer")
def test_a_database_that_is_behind_is_brought_forward_once_past_a_pooler(
    behind: str, folder: Path, two: Two, open_folder: Path
) -> None:
    with pooler(open_folder, behind) as pooled:
        answers = held_up(behind, two, folder, pooled, DATABASE_DIRECT_URL=behind)
    assert one_of_them(answers, 1), answers


@pytest.mark.control
def test_without_the_lock_one_of_them_would_fail(behind: str, folder: Path, two: Two) -> None:
    environment = folder / "env.py"
    text = environment.read_text()
    assert LOCK in text
    environment.write_text(text.replace(LOCK, "true"))
    answers = held_up(behind, two, folder, at=TABLE)
    assert sorted(code for code, _ in answers) == [0, 1], answers


@needs("pgbouncer")
@pytest.mark.control
def test_through_a_pooler_the_lock_would_be_everybodys(behind: str, open_folder: Path) -> None:
    """The negative control of DATABASE_DIRECT_URL: a lock of a session that is lent to the next one."""
    with pooler(open_folder, behind, connections=1) as pooled:
        assert [locked(pooled), locked(pooled)] == [True, True]
    with plain(behind) as first:
        assert first.execute(f"SELECT {LOCK}").fetchone() == (True,)
        assert locked(behind) is False


def locked(url: str) -> bool:
    with plain(url) as connection:
        return connection.execute(f"SELECT {LOCK}").fetchone() == (True,)
