"""PgBouncer in transaction mode as `deploy/` has it, before a server of the tests."""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from app.core.connections import connect_arguments
from app.embedded import subprocesses
from app.embedded.os_user import Account
from tests.faults.service import ROOT, free_port
from tests.waiting import wait_until

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
SHIPPED = ROOT / "deploy" / "pgbouncer"


@contextmanager
def pooler(
    folder: Path, database_url: str, *, connections: int = 3, tls: dict[str, Path] | None = None
) -> Iterator[str]:
    """Its address, with a few connections that are handed round: what one leaves behind, the next one finds.

    With `tls`, the files by the names that they have in the shipped one, both sides are encrypted.
    """
    words, port = connect_arguments(database_url), free_port()
    found = (SHIPPED / "pgbouncer.ini").read_text()
    where = " ".join(f"{name}={words[name]}" for name in ("host", "port", "user") if words.get(name))
    changes = {
        r"^event_commerce = .*$": f"{words['dbname']} = {where}",
        r"^listen_port = .*$": f"listen_port = {port}",
        r"^unix_socket_dir = .*$": "unix_socket_dir =",
        r"^auth_type = .*$": "auth_type = any",
        r"^auth_file = .*$": "",
        r"^(logfile|pidfile) = .*$": "",
        r"^default_pool_size = .*$": f"default_pool_size = {connections}\nserver_round_robin = 1",
    }
    for pattern, replacement in changes.items():
        found, times = re.subn(pattern, replacement, found, flags=re.M)
        assert times, pattern
    found = found.replace(";tls ", "") if tls else found
    for name, file in (tls or {}).items():
        found = found.replace(f"/etc/pgbouncer/{name}", str(file))
    (folder / "pgbouncer.ini").write_text(found)
    address = f"postgresql://postgres@127.0.0.1:{port}/{words['dbname']}" + ("?sslmode=require" if tls else "")
    with Path(os.devnull).open() as keep:
        child = subprocesses.spawn(
            "PgBouncer",
            [PROGRAM or "pgbouncer", folder / "pgbouncer.ini"],
            account=Account.for_state(folder),
            stop_signal=signal.SIGINT,
            log=folder / "pgbouncer.log",
            keep=keep.fileno(),
        )
    try:
        wait_until(lambda: answers(address, child))
        yield address
    finally:
        subprocesses.stop([child])


def answers(address: str, child: subprocesses.Child) -> bool:
    child.check()
    try:
        with psycopg.connect(
            **connect_arguments(address), connect_timeout=2, autocommit=True, prepare_threshold=None
        ) as it:
            return it.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False
