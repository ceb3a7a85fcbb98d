"""The embedded PostgreSQL: its cluster is created once, its server listens on a socket in a private folder."""

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
    """Start a server; with `durable=False` it is faster but may lose data in a power cut."""
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
    """Wait up to `patience` seconds until `database` can be used. Raises EmbeddedError."""
    deadline = time.monotonic() + patience
    while not reach(run, database=database):
        child.check()
        if time.monotonic() > deadline:
            raise EmbeddedError(f"PostgreSQL was not ready in {patience:.0f} s. Its log:\n{tail(child.log)}")
        time.sleep(0.02)


def reach(run: Path, *, database: str) -> bool:
    """Whether the server answers; creates `database` if it is missing."""
    try:
        with psycopg.connect(
            host=str(run), port=PORT, user="postgres", dbname="postgres", connect_timeout=5, autocommit=True
        ) as connection:
            row = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone()
            if row is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
    except (errors.DuplicateDatabase, errors.UniqueViolation):  # Another process has just created it.
        return True
    except psycopg.OperationalError:
        return False
    return True


def _make_cluster(program: Postgres, folders: Folders, *, account: Account, durable: bool, keep: int) -> None:
    """Create the cluster in a temporary folder and rename that, so that an incomplete cluster is never used."""
    new_folder = folders.data / "postgres.new"
    if new_folder.exists():
        shutil.rmtree(new_folder)
    private(new_folder, account)
    initdb = spawn(
        "initdb",
        [
            program.bin / "initdb",
            "-D",
            new_folder,
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
        if initdb.process.wait() != 0:
            initdb.check()
    finally:
        stop([initdb])
    new_folder.rename(folders.data / "postgres")


def _locale(major: int) -> list[str]:
    # The builtin provider sorts the same on every machine; it exists since PostgreSQL 17.
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
    """Delete the pid file and sockets of a killed server: another program may have that pid now and block the start."""
    pid_file = folders.data / "postgres" / "postmaster.pid"
    if pid_file.exists():
        pid = pid_file.read_text().split("\n", 1)[0]
        if pid.isdigit() and str(folders.data) in command_line(int(pid)):
            raise EmbeddedError(f"Process {pid}, started by hand, uses {folders.data}: stop it first.")
        pid_file.unlink()
    for leftover in folders.run.glob(".s.PGSQL.*"):
        leftover.unlink(missing_ok=True)


def _log(folders: Folders) -> Path:
    return folders.state / "log" / "postgres.log"
