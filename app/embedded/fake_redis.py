"""A stand-in for Redis in memory, as a program: `python -P fake_redis.py <socket>`."""

from __future__ import annotations

import importlib
import itertools
import os
import socket
import sys
from typing import Any


def listening(path: str) -> Any:
    """A server of fakeredis on a Unix socket, which file modes protect, as they would not a TCP port.

    It tells its clients apart by their address, and on such a socket none has one: each gets a number.
    """
    # Imported by name because platforms with a real Redis do not install it.
    server = importlib.import_module("fakeredis").TcpFakeServer(path, bind_and_activate=False)
    server.socket.close()
    server.socket = socket.socket(socket.AF_UNIX)
    numbers = itertools.count(1)
    server.get_request = lambda: (server.socket.accept()[0], ("socket", next(numbers)))
    server.server_bind()
    server.server_activate()
    return server


def main() -> None:
    """Serves until a signal ends the process; its threads would keep a plain exit waiting."""
    os.umask(0o077)
    try:
        listening(sys.argv[1]).serve_forever()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
