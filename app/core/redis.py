"""Connections to Redis: to one server, or to whichever server several Sentinels say is the master.

    sentinel://[[user]:password@]host[:26379][,host[:26379]…]/service[/db][?sentinel_user=…&sentinel_password=…&tls=1]

User, password and db are the servers'; the Sentinels have a user and password of their own. A connection asks them
where the master is whenever it is made anew, so after a failover the next try finds the new one. `tls=1` is for both,
and so are the words of rediss:// about certificates: ssl_ca_certs, ssl_certfile, ssl_keyfile, ssl_check_hostname.
"""

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

SENTINELS_PORT, SENTINELS_PATIENCE = 26379, 1.0
CERTIFICATES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname")


def connected(url: str, *, seconds: float | None = None) -> Redis:
    """A client of that Redis. With `seconds` it tries once, and waits no longer for a connection or an answer."""
    options = _hasty(seconds) if seconds is not None else {}
    return _of_sentinels(url, options) if url.startswith("sentinel://") else Redis.from_url(url, **options)


def _of_sentinels(url: str, options: dict[str, Any]) -> Redis:
    parts = urlsplit(url)
    account, _, hosts = parts.netloc.rpartition("@")
    user, _, password = account.partition(":")
    service, _, db = parts.path.strip("/").partition("/")
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    tls = _tls(query)
    asking = {
        **(_hasty(SENTINELS_PATIENCE) | options),
        **_without_empty(username=query.get("sentinel_user"), password=query.get("sentinel_password")),
        **tls,
    }
    serving = {
        **options,
        **_without_empty(username=unquote(user), password=unquote(password)),
        "db": int(db or 0),
        **tls,
    }
    sentinels: Any = Sentinel
    redis: Redis = sentinels([_host(part) for part in hosts.split(",")], sentinel_kwargs=asking).master_for(
        unquote(service), **serving
    )
    return redis


def _tls(query: dict[str, str]) -> dict[str, Any]:
    """What says that both are asked over TLS; nothing where they are not. Anyone who names a certificate means it."""
    words: dict[str, Any] = {name: query[name] for name in CERTIFICATES if name in query}
    if "ssl_check_hostname" in words:
        words["ssl_check_hostname"] = words["ssl_check_hostname"] in ("1", "true")
    return {"ssl": True, **words} if words or query.get("tls") in ("1", "true") else {}


def _hasty(seconds: float) -> dict[str, Any]:
    return {"socket_timeout": seconds, "socket_connect_timeout": seconds, "retry": Retry(NoBackoff(), 0)}


def _without_empty(**words: str | None) -> dict[str, str]:
    return {name: value for name, value in words.items() if value}


def _host(address: str) -> tuple[str, int]:
    """`host`, `host:port`, `[::1]` or `[::1]:port`."""
    host, colon, port = address.rpartition(":")
    if not colon or port.endswith("]"):
        return address.strip("[]"), SENTINELS_PORT
    return host.strip("[]"), int(port)
