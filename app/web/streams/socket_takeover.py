"""Takes a client's connection out of gunicorn's hands, between two writes of an answer.

gunicorn ends an answer that announced no length by shutting the connection down, and a duplicate would die with it.
So the descriptor that gunicorn knows is made to be one end of a pair whose other end is closed: the next thing that
gunicorn writes fails as if the client had gone, and it tidies up after itself as always: the thread is free, and the
connection is counted no more.
"""

import os
import socket
from typing import Any

SEND_BUFFER = 128 * 1024
"""What the kernel keeps for one slow client."""


def can_take_socket(environ: dict[str, Any]) -> bool:
    """Whether this server hands over plain sockets: not when gunicorn itself speaks TLS or HTTP/2."""
    return type(environ.get("gunicorn.socket")) is socket.socket and environ.get("HTTP_VERSION") != "2"


def take_socket(environ: dict[str, Any]) -> socket.socket:
    """The client's connection, which only the caller holds from now on. It does not block."""
    server_socket: socket.socket = environ["gunicorn.socket"]
    client_socket = server_socket.dup()
    dead_socket, peer_socket = socket.socketpair()
    peer_socket.close()
    os.dup2(dead_socket.fileno(), server_socket.fileno(), inheritable=False)
    dead_socket.close()
    client_socket.setblocking(False)
    client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    return client_socket


def uses_chunked_encoding(environ: dict[str, Any]) -> bool:
    """Whether gunicorn announced chunks: to everybody who speaks more than HTTP/1.0."""
    return environ.get("SERVER_PROTOCOL") not in ("HTTP/1.0", "HTTP/0.9")
