"""Clients of Redis: of one server, or of the master that several Sentinels name.

    sentinel://[[user]:password@]host[:26379][,host[:26379]…]/service[/db][?sentinel_user=…&sentinel_password=…&tls=1]

User, password and db are those of the servers; the Sentinels have their own user and password. Each new connection asks
the Sentinels for the master, so after a failover the next attempt finds the new one. `tls=1` and the certificate
parameters of rediss:// apply to both: ssl_ca_certs, ssl_certfile, ssl_keyfile, ssl_check_hostname.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

SENTINEL_PORT, SENTINEL_TIMEOUT_SECONDS = 26379, 1.0
CERTIFICATE_PARAMETERS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname")
RedisOptions = dict[str, Any]


def connected(url: str, *, seconds: float | None = None) -> Redis:
    """Return a client of that Redis. With `seconds` it tries once and waits that long for a connection or a reply."""
    options = _single_attempt(seconds) if seconds is not None else {}
    return _connect_by_sentinels(url, options) if url.startswith("sentinel://") else Redis.from_url(url, **options)


def _connect_by_sentinels(url: str, options: RedisOptions) -> Redis:
    parts = urlsplit(url)
    account, _, hosts = parts.netloc.rpartition("@")
    user, _, password = account.partition(":")
    service, _, db = parts.path.strip("/").partition("/")
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    tls = _tls_options(query)
    sentinel_options = {
        **(_single_attempt(SENTINEL_TIMEOUT_SECONDS) | options),
        **_without_empty(username=query.get("sentinel_user"), password=query.get("sentinel_password")),
        **tls,
    }
    server_options = {
        **options,
        **_without_empty(username=unquote(user), password=unquote(password)),
        "db": int(db or 0),
        **tls,
    }
    sentinel_class: Any = Sentinel
    sentinel = sentinel_class([_parse_host(part) for part in hosts.split(",")], sentinel_kwargs=sentinel_options)
    redis: Redis = sentinel.master_for(unquote(service), **server_options)
    return redis


def _tls_options(query: Mapping[str, str]) -> RedisOptions:
    """Return the TLS options, empty without TLS. A certificate parameter alone switches TLS on."""
    options: RedisOptions = {name: query[name] for name in CERTIFICATE_PARAMETERS if name in query}
    if "ssl_check_hostname" in options:
        options["ssl_check_hostname"] = options["ssl_check_hostname"] in ("1", "true")
    return {"ssl": True, **options} if options or query.get("tls") in ("1", "true") else {}


def _single_attempt(seconds: float) -> RedisOptions:
    return {"socket_timeout": seconds, "socket_connect_timeout": seconds, "retry": Retry(NoBackoff(), 0)}


def _without_empty(**options: str | None) -> dict[str, str]:
    return {name: option for name, option in options.items() if option}


def _parse_host(address: str) -> tuple[str, int]:
    """Return host and port of `host`, `host:port`, `[::1]` or `[::1]:port`."""
    host, colon, port = address.rpartition(":")
    if not colon or port.endswith("]"):
        return address.strip("[]"), SENTINEL_PORT
    return host.strip("[]"), int(port)
