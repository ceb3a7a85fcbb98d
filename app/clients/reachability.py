"""Check whether a server can be reached: a connection and, for TLS schemes, a handshake; no data is sent."""

import socket
import ssl
from urllib.parse import urlsplit

from app.core.transaction import assert_no_transaction


class Unreachable(Exception):
    """The server cannot be reached; the text says why."""


def check_reachable(url: str, seconds: float) -> None:
    """Connect and close. Raises Unreachable."""
    assert_no_transaction()
    parts = urlsplit(url)
    try:
        tls = parts.scheme in ("https", "smtps", "rediss")
        address = (parts.hostname or "", parts.port or (443 if tls else 80))
        with socket.create_connection(address, timeout=seconds) as connection:
            if tls:
                ssl.create_default_context().wrap_socket(connection, server_hostname=parts.hostname).close()
    except ssl.SSLError as error:
        raise Unreachable(f"its certificate is not accepted ({error.reason or 'TLS'})") from error
    except (OSError, ValueError) as error:
        raise Unreachable(getattr(error, "strerror", None) or str(error) or type(error).__name__) from error
