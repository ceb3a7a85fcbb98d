"""A cache of the responses of frequent public routes, with ETag and 304. The key is path and query.

    @blp.get("/public/discover", access=PUBLIC, returns=Discovered, cache=CachePolicy(1.0, ("events",)))
    def discover(**query) -> bytes: …

The view returns its data as bytes. An entry is valid until its time is over or one of its topics changes on this
machine (see app/core/cache_invalidation.py). timestamp and requestId are new in each response. Errors are not cached.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from hashlib import blake2b
from typing import cast

from flask import Response, request

from app.core import cache_invalidation
from app.web.envelope import envelope_response
from app.web.types import View

# Small, so that rarely requested pages do not displace others from the caches of the processor.
MAX_ENTRIES = 256
CACHE_CONTROL = "no-cache"


@dataclass(frozen=True)
class CachePolicy:
    """The lifetime of an entry in seconds, and the topics whose changes end it earlier."""

    seconds: float
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """The data of a response, and the monotonic time at which it expires."""

    data: bytes
    etag: str
    version: bytes
    expires_at: float


class Cache:
    """The entries of one route in one process. A full cache is cleared; frequent requests fill it again immediately."""

    def __init__(self, policy: CachePolicy) -> None:
        self.policy = policy
        self.entries: dict[str, CachedResponse] = {}

    def find(self, key: str, version: bytes) -> CachedResponse | None:
        """Return the valid entry of a key, or None."""
        cached = self.entries.get(key)
        return cached if cached and cached.expires_at > time.monotonic() and cached.version == version else None

    def build_entry(self, version: bytes, data: bytes) -> CachedResponse:
        """Return an entry that is not stored."""
        return CachedResponse(
            data, blake2b(data, digest_size=10).hexdigest(), version, time.monotonic() + self.policy.seconds
        )

    def put(self, key: str, version: bytes, data: bytes) -> CachedResponse:
        """Store an entry and return it."""
        cached = self.build_entry(version, data)
        if len(self.entries) >= MAX_ENTRIES:
            self.entries.clear()
        self.entries[key] = cached
        return cached


def with_response_cache(view: View, policy: CachePolicy) -> tuple[View, Callable[[View], View]]:
    """Return a view that stores and responds the bytes of `view`, and a wrapper that looks up before parsing."""
    cache = Cache(policy)

    @wraps(view)
    def cached_view(**arguments: object) -> Response:
        version, key = cache_invalidation.cache_version(*policy.topics), _build_key()
        data = cast(bytes, view(**arguments))
        return build_response(cache.build_entry(version, data) if key is None else cache.put(key, version, data))

    def with_cache_lookup(handler: View) -> View:
        @wraps(handler)
        def wrapper(**arguments: object) -> object:
            key = _build_key()
            cached = cache.find(key, cache_invalidation.cache_version(*policy.topics)) if key is not None else None
            return handler(**arguments) if cached is None else build_response(cached)

        return wrapper

    return cached_view, with_cache_lookup


def build_response(cached: CachedResponse) -> Response:
    """Return the data in its envelope, or 304 if the client has it."""
    headers = {"ETag": f'"{cached.etag}"', "Cache-Control": CACHE_CONTROL}
    if_none_match = request.environ.get("HTTP_IF_NONE_MATCH")
    if if_none_match is not None and (cached.etag in if_none_match or if_none_match.strip() == "*"):
        return Response(status=304, headers=headers)
    response = envelope_response(cached.data)
    response.headers.update(headers)
    return response


def _build_key() -> str | None:
    """Return the cache key of the request; None for a request with a token.

    Such callers must read their own writes of any node, and an entry here may be older than those.
    """
    environ = request.environ
    if "HTTP_AUTHORIZATION" in environ:
        return None
    return f"{environ['PATH_INFO']}?{environ.get('QUERY_STRING', '')}"
