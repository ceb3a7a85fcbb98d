"""Redis as a master, its replica, and three Sentinels that watch them; with passwords, as it should be."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from app.embedded.binaries import find_redis
from app.embedded.os_user import Account
from tests.faults.service import ROOT, free_port
from tests.topology.certificates import Authority
from tests.waiting import wait_until

SERVICE, PASSWORD, THEIRS = "event-commerce", "canary-of-redis", "canary-of-sentinels"
SHIPPED = ROOT / "deploy" / "sentinel" / "sentinel.conf"
SENTINEL = """
dir {folder}
requirepass {theirs}
sentinel sentinel-pass {theirs}
sentinel monitor {service} 127.0.0.1 {master} 2
sentinel auth-pass {service} {password}
sentinel down-after-milliseconds {service} 400
sentinel failover-timeout {service} 3000
"""


def with_tls(folder: Path) -> str | None:
    """A redis-server that was built with TLS, as Debian's is; the bundled one was not."""
    link = folder / "redis-server"
    if (same := shutil.which("redis-check-rdb")) and not link.exists():
        # In redis-tools, without a service: the same program, which goes by the name that it is called.
        link.symlink_to(same)
    for program in (shutil.which("redis-server"), shutil.which("valkey-server"), link):
        words = [program or "", "--port", "0", "--tls-port", "1", "--tls-cert-file", "/nonexistent"]
        with suppress(OSError, subprocess.TimeoutExpired):
            told = subprocess.run(words, capture_output=True, text=True, timeout=5)
            if "Failed to configure TLS" in told.stdout:
                return str(program)
    return None


class Sentinels:
    """`url` is what a setting says; `fail_over` kills whichever server is the master. With `tls` they speak TLS."""

    def __init__(self, folder: Path, tls: Authority | None = None) -> None:
        self.folder, self.tls = folder, tls
        program = with_tls(folder) if tls else find_redis(Account(), spare=folder)
        assert program, "these tests need a real redis-server"
        self.program = str(program)
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        self.servers = [self._server(), self._server()]
        self._client(self.servers[1]).replicaof("127.0.0.1", self.servers[0])
        wait_until(lambda: self._client(self.servers[1]).info()["master_link_status"] == "up")
        self.sentinels = [self._sentinel() for _ in range(3)]
        wait_until(self._agree)

    @property
    def url(self) -> str:
        more = f"&ssl_ca_certs={self.tls.file}" if self.tls else ""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.sentinels)
        return f"sentinel://:{PASSWORD}@{hosts}/{SERVICE}/3?sentinel_password={THEIRS}{more}"

    @property
    def master(self) -> int:
        found = self._client(self.sentinels[-1], THEIRS).sentinel_get_master_addr_by_name(SERVICE)
        return int(found[1])

    def fail_over(self) -> None:
        """Returns when another server is the master. One Sentinel goes with the first: they shared a machine."""
        before = self.master
        for port in (before, self.sentinels[0]):
            self.running[port].kill()
            self.running[port].wait()
        wait_until(lambda: all(self._moved(port, before) for port in self.sentinels[1:]))

    def stop(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()

    def _server(self) -> int:
        port = free_port()
        words = [
            f"--{word}" if not number else word for item in self._secured(port) for number, word in enumerate(item)
        ]
        self._start(
            port,
            *words,
            "--requirepass",
            PASSWORD,
            "--masterauth",
            PASSWORD,
            "--save",
            "",
            "--appendonly",
            "no",
            "--repl-diskless-sync-delay",
            "0",
            "--dir",
            str(self.folder),
        )
        wait_until(lambda: self._answers(port, PASSWORD))
        return port

    def _sentinel(self) -> int:
        port = free_port()
        settings = self.folder / f"sentinel-{port}.conf"
        settings.write_text(
            "\n".join(map(" ".join, self._secured(port)))
            + SENTINEL.format(
                folder=self.folder,
                theirs=THEIRS,
                service=SERVICE,
                master=self.servers[0],
                password=PASSWORD,
            )
        )
        self._start(port, str(settings), "--sentinel")
        wait_until(lambda: self._answers(port, THEIRS))
        return port

    def _start(self, port: int, *argv: str) -> None:
        self.running[port] = subprocess.Popen([self.program, *argv], stdout=subprocess.DEVNULL)

    def _agree(self) -> bool:
        """Whether all three know of each other and of the replica."""
        states = [self._client(port, THEIRS).sentinel_masters()[SERVICE] for port in self.sentinels]
        return all(state["num-other-sentinels"] == 2 and state["num-slaves"] == 1 for state in states)

    def _moved(self, sentinel: int, before: int) -> bool:
        told = self._client(sentinel, THEIRS).sentinel_masters()[SERVICE]
        return told["port"] != before and not told["is_sdown"] and self._client(told["port"]).info()["role"] == "master"

    def _answers(self, port: int, password: str) -> bool:
        with suppress(RedisError):
            return bool(self._client(port, password).ping())
        return False

    def _secured(self, port: int) -> list[list[str]]:
        """Where it listens; over TLS as `deploy/` has it."""
        if not self.tls:
            return [["port", str(port)]]
        cert, key = self.tls.signed("redis")
        here = {
            "26379": str(port),
            "authority.pem": str(self.tls.file),
            "server.pem": str(cert),
            "server.key": str(key),
        }
        lines = [
            line.removeprefix("#tls ").split() for line in SHIPPED.read_text().splitlines() if line.startswith("#tls ")
        ]
        return [[name, here.get(value.rpartition("/")[2], value)] for name, value in lines]

    def _client(self, port: int, password: str = PASSWORD) -> Redis:
        secured = {"ssl": True, "ssl_ca_certs": str(self.tls.file)} if self.tls else {}
        return Redis(host="127.0.0.1", port=port, password=password, **secured)  # type: ignore[arg-type]


@contextmanager
def sentinels_in(folder: Path, tls: Authority | None = None) -> Iterator[Sentinels]:
    made = Sentinels(folder, tls)
    try:
        yield made
    finally:
        made.stop()
