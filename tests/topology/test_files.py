"""The files in `deploy/` for more than one machine, read by the programs they are for."""

import re
import subprocess
from pathlib import Path

from app.config import load
from app.core.redis import connected
from app.embedded.binaries import find_redis
from app.embedded.os_user import Account
from tests.faults.service import ROOT, free_port
from tests.topology.conftest import needs
from tests.waiting import wait_until

DEPLOY = ROOT / "deploy"


@needs("haproxy")
def test_haproxy_takes_its_file() -> None:
    done = subprocess.run(
        ["haproxy", "-c", "-f", DEPLOY / "haproxy" / "haproxy.cfg"],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/sbin:/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in (done.stderr + done.stdout).lower().replace("0 warning", ""), done.stderr


def test_a_sentinel_takes_its_file(tmp_path: Path) -> None:
    port, file = free_port(), tmp_path / "sentinel.conf"
    shipped = (DEPLOY / "sentinel" / "sentinel.conf").read_text()
    # No such machines are here, and a Sentinel asks for their addresses at once.
    here = {"port 26379": f"port {port}", "dir /var/lib/redis": f"dir {tmp_path}", "redis-1.example": "127.0.0.1"}
    for there, what in here.items():
        assert there in shipped
        shipped = shipped.replace(there, what)
    file.write_text(shipped)
    program = find_redis(Account(), spare=tmp_path)
    assert program, "this test needs a real redis-server"
    process = subprocess.Popen([program, file, "--sentinel"], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: process.poll() is not None or answers(port))
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def answers(port: int) -> bool:
    try:
        return bool(connected(f"redis://:another@127.0.0.1:{port}", seconds=1).ping())
    except Exception:
        return False


def test_the_addresses_that_the_files_name_are_addresses() -> None:
    seen = 0
    for file in (
        DEPLOY / "pgbouncer" / "pgbouncer.ini",
        DEPLOY / "sentinel" / "sentinel.conf",
        DEPLOY / "haproxy" / "haproxy.cfg",
        ROOT / "docs" / "scaling.md",
    ):
        for name, value in re.findall(r"((?:DATABASE|REDIS)(?:_\w+)?_?URL)='([^']+)'", file.read_text()):
            load({name: value})
            seen += 1
    assert seen >= 6


def test_a_backup_finds_the_primary_among_several_hosts() -> None:
    url = "postgresql://shop:p%40ss@/shop?host=one:5432&host=two:5433&target_session_attrs=read-write"
    script = 'source deploy/database.sh && database_environment "$1" && env'
    done = subprocess.run(
        ["bash", "-eu", "-c", script, "bash", url], cwd=ROOT, capture_output=True, text=True, check=True
    )
    told = dict(line.split("=", 1) for line in done.stdout.splitlines() if line.startswith("PG"))
    assert (told["PGHOST"], told["PGPORT"]) == ("one,two", "5432,5433")
    assert (told["PGTARGETSESSIONATTRS"], told["PGPASSWORD"], told["PGDATABASE"]) == ("read-write", "p@ss", "shop")
