"""A program that replaces Redis in memory: `python -P fake_redis.py <socket>`."""

from __future__ import annotations

import importlib
import itertools
import os
import socket
import sys
from typing import Any


def create_server(path: str) -> Any:
    """Return a server of fakeredis on a Unix socket, which file modes protect.

    The server needs an address for each client, and clients of a Unix socket have none, so each gets a number.
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
    """Serve until a signal ends the process; `_exit`, because a normal exit waits for the server's threads."""
    os.umask(0o077)
    try:
        create_server(sys.argv[1]).serve_forever()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
