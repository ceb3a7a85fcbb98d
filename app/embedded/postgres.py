"""PostgreSQL for this machine: a cluster made once, a server that listens on a socket in a private folder."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from pathlib import Path

import psycopg
from psycopg import errors, sql

from app.embedded.binaries import Postgres, find_postgres
from app.embedded.errors import EmbeddedError
from app.embedded.os_user import Account
from app.embedded.state_dir import Folders, private
from app.embedded.subprocesses import Child, command_line, spawn, stop, tail

PORT = 5432
ALWAYS = {
    "port": str(PORT),
    "listen_addresses": "",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "max_connections": "100",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
    "jit": "off",
}
THROWAWAY = {
    "max_connections": "400",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
}


def start(folders: Folders, *, account: Account, spare: Path, durable: bool, keep: int) -> Child:
    """A starting server; `durable=False` trades safety against power loss for speed."""
    data = folders.data / "postgres"
    postgres = find_postgres(account, spare=spare, data_major=_data_major(data))
    if _data_major(data) is None:
        _make_cluster(postgres, folders, account=account, durable=durable, keep=keep)
    _clear_leftovers(folders)
    settings = {**ALWAYS, **({} if durable else THROWAWAY), "unix_socket_directories": str(folders.run)}
    flags = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return spawn(
        "PostgreSQL",
        [postgres.bin / "postgres", "-D", data, *flags],
        account=account,
        stop_signal=signal.SIGINT,
        log=_log(folders),
        keep=keep,
    )


def wait(child: Child, run: Path, *, database: str, patience: float = 60) -> None:
    """Returns once `database` can be used; a recovery after a crash gets `patience` seconds."""
    deadline = time.monotonic() + patience
    while not reach(run, database=database):
        child.check()
        if time.monotonic() > deadline:
            raise EmbeddedError(f"PostgreSQL was not ready in {patience:.0f} s. Its log:\n{tail(child.log)}")
        time.sleep(0.02)


def reach(run: Path, *, database: str) -> bool:
    """Whether the server answers; makes `database` if it is missing."""
    try:
        with psycopg.connect(
            host=str(run), port=PORT, user="postgres", dbname="postgres", connect_timeout=5, autocommit=True
        ) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone()
            if known is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
    except (errors.DuplicateDatabase, errors.UniqueViolation):  # Another process made it in this moment.
        return True
    except psycopg.OperationalError:
        return False
    return True


def _make_cluster(program: Postgres, folders: Folders, *, account: Account, durable: bool, keep: int) -> None:
    """Fills a folder beside the final one and renames it, so that a half-made cluster is never used."""
    fresh = folders.data / "postgres.new"
    if fresh.exists():
        shutil.rmtree(fresh)
    private(fresh, account)
    maker = spawn(
        "initdb",
        [
            program.bin / "initdb",
            "-D",
            fresh,
            "-U",
            "postgres",
            "--auth-local=trust",
            "--auth-host=reject",
            "--encoding=UTF8",
            *_locale(program.major),
            *([] if durable else ["--no-sync"]),
        ],
        account=account,
        stop_signal=signal.SIGTERM,
        log=_log(folders),
        keep=keep,
    )
    try:
        if maker.process.wait() != 0:
            maker.check()
    finally:
        stop([maker])
    fresh.rename(folders.data / "postgres")


def _locale(major: int) -> list[str]:
    # The builtin provider sorts alike on every machine, but came with 17. Before, plain UTF-8 has to do.
    if major >= 17:
        return ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    if sys.platform == "darwin":
        return ["--locale=C", "--lc-ctype=UTF-8"]
    return ["--locale=C.UTF-8"]


def _data_major(data: Path) -> int | None:
    try:
        return int((data / "PG_VERSION").read_text())
    except FileNotFoundError:
        return None


def _clear_leftovers(folders: Folders) -> None:
    """Removes what a killed server left: it names a pid, and a program that has it by now would block us."""
    mark = folders.data / "postgres" / "postmaster.pid"
    if mark.exists():
        first = mark.read_text().split("\n", 1)[0]
        if first.isdigit() and str(folders.data) in command_line(int(first)):
            raise EmbeddedError(f"Process {first}, started by hand, uses {folders.data}: stop it first.")
        mark.unlink()
    for leftover in folders.run.glob(".s.PGSQL.*"):
        leftover.unlink(missing_ok=True)


def _log(folders: Folders) -> Path:
    return folders.state / "log" / "postgres.log"
