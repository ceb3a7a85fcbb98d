"""Who may read `/metrics`: whoever asks from this machine itself, and whoever brings METRICS_TOKEN."""

from hmac import compare_digest
from ipaddress import ip_address

from flask import current_app, request

from app.core.errors import Forbidden

FORWARDED = ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Forwarded", "Via")


class MetricsClosed(Forbidden):
    number, code = 40370, "METRICS_CLOSED"
    message = "Metrics are read from this machine itself, or with METRICS_TOKEN as the Bearer token."


def check() -> None:
    """Lets the request pass. Raises MetricsClosed."""
    if not (_from_here() or _has_token()):
        raise MetricsClosed()


def _from_here() -> bool:
    """Straight from a loopback address or a local socket. What a proxy on this machine passes on is not from here."""
    if any(name in request.headers for name in FORWARDED):
        return False
    given = request.environ.get("werkzeug.proxy_fix.orig", {}).get("REMOTE_ADDR") or request.remote_addr
    try:
        return not given or ip_address(given).is_loopback
    except ValueError:
        return False


def _has_token() -> bool:
    expected: str | None = current_app.extensions["settings"].METRICS_TOKEN
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if not expected or scheme.lower() != "bearer":
        return False
    return compare_digest(given.strip().encode("utf-8", "replace"), expected.encode())
