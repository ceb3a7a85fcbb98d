"""Download of a provider's published keys, limited in time and size."""

import json
import re
import ssl
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
import jwt

from app.clients.identity.errors import KeysUnavailable

MAX_BYTES = 256 * 1024
ALGORITHMS = {"RSA": "RS256", "EC": "ES256"}
_MAX_AGE = re.compile(r'(?:^|[\s,])max-age\s*=\s*"?(\d{1,9})', re.IGNORECASE)


@dataclass(frozen=True)
class KeySet:
    """Usable keys by key id, and for how many seconds the provider lets them be kept, if it says so."""

    keys: Mapping[str, jwt.PyJWK]
    max_age: int | None


def download(url: str, *, timeout: float) -> KeySet:
    """The keys published at `url`, within `timeout` seconds; raises KeysUnavailable.

    httpx bounds each step, not their sum, and does not bound the name lookup at all. The caller therefore
    waits for a thread, and leaves it behind when the time is up.
    """
    answer: Future[KeySet] = Future()
    try:
        threading.Thread(target=_download_into, args=(answer, url, timeout), daemon=True).start()
        return answer.result(timeout)
    except Exception as error:  # Whatever broke on the way, the caller has no keys and must know only that.
        raise KeysUnavailable(f"{url}: {error!r}") from error


def _download_into(answer: Future[KeySet], url: str, timeout: float) -> None:
    try:
        answer.set_result(_read(url, timeout))
    except Exception as error:
        answer.set_exception(error)


def _read(url: str, timeout: float) -> KeySet:
    give_up_at = time.monotonic() + timeout
    body = bytearray()
    with httpx.stream("GET", url, timeout=timeout, verify=_tls()) as response:
        response.raise_for_status()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > MAX_BYTES or time.monotonic() > give_up_at:
                raise ValueError("the key set is too long, or too slow")
    return KeySet(_usable_keys(json.loads(body)), _max_age(response.headers.get("Cache-Control", "")))


@cache
def _tls() -> ssl.SSLContext:
    """The context with the system's authorities, cached because loading them is slower than the download."""
    return httpx.create_ssl_context()


def _usable_keys(document: Any) -> dict[str, jwt.PyJWK]:
    values = {entry["kid"]: key for entry in document["keys"] if (key := _usable_key(entry))}
    if not values:
        raise ValueError("the key set holds no usable key")
    return values


def _usable_key(entry: Any) -> jwt.PyJWK | None:
    """A public signing key, bound to the one algorithm of its type; None for anything else."""
    if not isinstance(entry, dict) or not isinstance(entry.get("kid"), str):
        return None
    algorithm = ALGORITHMS.get(str(entry.get("kty")))
    if algorithm is None or entry.get("alg", algorithm) != algorithm or entry.get("use", "sig") != "sig":
        return None
    public = {name: value for name, value in entry.items() if name != "d"}
    try:
        key = jwt.PyJWK(public, algorithm)
        too_short = key.Algorithm.check_key_length(key.key)
    except (jwt.PyJWTError, LookupError, TypeError, ValueError, AttributeError):
        return None
    # ES256 belongs to one curve only; PyJWT takes any curve's key when it is told the algorithm.
    if too_short or (algorithm == "ES256" and entry.get("crv") != "P-256"):
        return None
    return key


def _max_age(cache_control: str) -> int | None:
    match = _MAX_AGE.search(cache_control)
    return int(match[1]) if match else None
