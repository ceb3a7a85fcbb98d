"""Checks of the settings, each alone and all together."""

import re
from collections.abc import Iterator
from email.utils import parseaddr
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from psycopg import ProgrammingError
from psycopg.conninfo import make_conninfo
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from app.secret_strength import is_guessable

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
SettingsByName = dict[str, Any]
"""The settings as they were read; `app.config.Settings` has the types."""


def find_invalid_settings(read: SettingsByName) -> Iterator[str]:
    """Yield one sentence for each setting that is invalid, alone or together with others."""
    production = read["APP_ENV"] == "production"
    for name in ("DATABASE_URL", "DATABASE_DIRECT_URL", "DATABASE_REPLICA_URL"):
        if read[name] and not _is_database(read[name]):
            yield f"{name}: must be postgresql://…, several hosts as …/name?host=one:5432&host=two:5432."
    if read["REDIS_URL"] and not _is_redis(read["REDIS_URL"]):
        yield "REDIS_URL: must be redis://, rediss://, unix:// or sentinel://host:26379,host:26379/service/0?tls=1."
    if read["SMTP_URL"] and not _has_host(read["SMTP_URL"], "smtp", "smtps"):
        yield "SMTP_URL: must start with smtp:// or smtps:// and name a server."
    if not _is_sender(read["MAIL_FROM"]):
        yield "MAIL_FROM: must be an address like Event Commerce <no-reply@festival.example>."
    for name in ("SMS_URL", "PUSH_URL"):
        yield from _find_wrong_gateway(name, read[name], production)
    if not _is_storage(read["STORAGE_URL"]):
        yield "STORAGE_URL: must start with file:// and name a folder, or start with s3:// and name a bucket."
    yield from _find_wrong_urls(read, production)
    for name in ("APPLE", "GOOGLE"):
        if read[f"{name}_WEB_CLIENT_ID"] and read[f"{name}_WEB_CLIENT_ID"] not in read[f"{name}_CLIENT_IDS"]:
            yield f"{name}_WEB_CLIENT_ID: must be one of {name}_CLIENT_IDS, or tokens for it would be refused."
    if read["METRICS_TOKEN"] and len(read["METRICS_TOKEN"]) < 16 and not production:
        yield "METRICS_TOKEN: needs 16 or more characters."
    for name in ("SENTRY_DSN", "OTEL_EXPORTER_OTLP_ENDPOINT"):
        if read[name] and parse_address(read[name]) is None:
            yield f"{name}: must be an http(s) address."
    if production:
        yield from _find_guessable_secrets(read)
    if production and not read["DATABASE_URL"]:
        yield "DATABASE_URL: production needs a PostgreSQL server; the embedded one is for development."
    if production and not read["REDIS_URL"]:
        yield "REDIS_URL: production needs a Redis server; the embedded one is for development."
    if production and read["PAYRAIL_MODE"] == "mock" and not read["PAYRAIL_ALLOW_MOCK"]:
        yield "PAYRAIL_MODE: mock moves no money; production refuses it unless PAYRAIL_ALLOW_MOCK=1."
    if read["PAYRAIL_MODE"] == "live":
        for name in ("PAYRAIL_URL", "PAYRAIL_KEY", "PAYRAIL_SECRET"):
            if not read[name]:
                yield f"{name}: PAYRAIL_MODE=live needs it."
    if read["PAYRAIL_MODE"] != "disabled":
        yield from _find_wrong_rail_url(read["PAYRAIL_URL"], production and read["PAYRAIL_MODE"] == "live")


def _find_guessable_secrets(read: SettingsByName) -> Iterator[str]:
    if is_guessable(read["SECRET_KEY"], length=32):
        yield "SECRET_KEY: production needs 32 or more random characters, not an example from the documentation."
    if read["BOOTSTRAP_SECRET"] and is_guessable(read["BOOTSTRAP_SECRET"], length=16):
        yield "BOOTSTRAP_SECRET: production needs 16 or more random characters, or none."
    if read["METRICS_TOKEN"] and is_guessable(read["METRICS_TOKEN"], length=16):
        yield "METRICS_TOKEN: production needs 16 or more random characters, or none."


def _find_wrong_urls(read: SettingsByName, production: bool) -> Iterator[str]:
    for name in ("PUBLIC_BASE_URL", "APPLE_JWKS_URL", "GOOGLE_JWKS_URL"):
        parts = parse_address(read[name])
        if parts is None:
            yield f"{name}: must be an absolute http(s) address."
        elif name == "PUBLIC_BASE_URL" and (parts.query or parts.fragment or parts.username is not None):
            yield f"{name}: must have no question mark, no # and no name and password; links are made by appending."
        elif production and parts.scheme != "https" and name != "PUBLIC_BASE_URL":
            yield f"{name}: production needs https://, because sign-ins are trusted by the keys it publishes."
        elif production and parts.scheme != "https" and parts.hostname not in LOOPBACK:
            yield f"{name}: production needs https://, because passwords and links travel there."


def _find_wrong_rail_url(url: str | None, needs_https: bool) -> Iterator[str]:
    if not url:
        return
    parts = parse_address(url)
    if parts is None or parts.query or parts.username:
        yield "PAYRAIL_URL: must be an http(s) address, without a question mark or a name and password."
    elif needs_https and parts.scheme != "https":
        yield "PAYRAIL_URL: production needs https://, because it proves that a response comes from the rail."


def _find_wrong_gateway(name: str, url: str | None, production: bool) -> Iterator[str]:
    if not url:
        return
    parts = parse_address(url)
    if parts is None or parts.query or parts.fragment:
        yield f"{name}: must be an http(s) address, without a question mark."
    elif production and parts.scheme != "https":
        yield f"{name}: production needs https://, because it carries a secret and people's addresses."


def parse_address(url: str) -> SplitResult | None:
    """Return the parts of an http(s) address with a host and a valid port; None for any other text."""
    return urlsplit(url) if _has_host(url, "http", "https") else None


def _has_host(url: str, *schemes: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _is_storage(url: str) -> bool:
    """Whether the address is a local folder, other than the root, or a bucket."""
    if url.startswith("file:///"):
        return bool(unquote(urlsplit(url).path).strip("/"))
    return _has_host(url, "s3")


def _is_database(url: str) -> bool:
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() != "postgresql":
            return False
        # Every connection would fail with a parameter that the driver does not know.
        dialect = parsed.set(drivername="postgresql+psycopg").get_dialect()()
        make_conninfo(**dialect.create_connect_args(parsed)[1])
    except (ArgumentError, ProgrammingError, ValueError):
        return False
    return True


def _is_redis(url: str) -> bool:
    # Unknown parameters are refused: `tls=yes` would be ignored and passwords sent in the clear.
    parameter = (
        r"((sentinel_(user|password)|ssl_(ca_certs|certfile|keyfile))=[^&]*|(tls|ssl_check_hostname)=(0|1|true|false))"
    )
    sentinel = rf"sentinel://([^/?]*@)?[^/?@]+/[^/?]+(/\d+)?(\?{parameter}(&{parameter})*)?$"
    return bool(re.match(rf"(rediss?|unix)://|{sentinel}", url)) and _has_valid_ports(url)


def _has_valid_ports(url: str) -> bool:
    """Whether every host of the address, separated by commas, has a valid port or none."""
    try:
        hosts = urlsplit(url).netloc.rpartition("@")[2].split(",")
        return all(urlsplit(f"//{host}").port != 0 for host in hosts)
    except ValueError:
        return False


def _is_sender(text: str) -> bool:
    """Whether the text is one email address, with or without a name before it."""
    return text.isprintable() and bool(re.fullmatch(r"[^\s<>@]+@[^\s<>@]+", parseaddr(text)[1]))
