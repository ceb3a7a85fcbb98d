"""Answers of hot public routes, kept for a second: same address, same bytes, with an ETag and 304.

    @blp.get("/public/discover", access=PUBLIC, returns=Discovered, cache=Keep(1.0, "events"))
    def discover(**query) -> bytes: …

The view answers its data as bytes. They are kept under path and query until the time is over or a topic has
changed on this machine (see app/core/cache_invalidation.py); timestamp and requestId are always fresh. Errors are not kept.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from hashlib import blake2b
from typing import Any

from flask import Response, request

from app.core import cache_invalidation
from app.web.envelope import envelope_response

View = Callable[..., Any]
# Few, so that pages which nobody asks for twice leave the processor its caches.
MAX_ENTRIES = 256
CACHE_CONTROL = "no-cache"


@dataclass(frozen=True)
class CachePolicy:
    """For how many seconds, and which topics end it earlier."""

    seconds: float
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """Bytes of an answer, and until when they count."""

    data: bytes
    etag: str
    version: bytes
    expires_at: float


class Cache:
    """What one process keeps of one route. Full, it starts over: anyone who is hot is back at once."""

    def __init__(self, policy: CachePolicy) -> None:
        self.policy = policy
        self.entries: dict[str, CachedResponse] = {}

    def find(self, key: str, version: bytes) -> CachedResponse | None:
        """The bytes for an address while they count."""
        cached = self.entries.get(key)
        return cached if cached and cached.expires_at > time.monotonic() and cached.version == version else None

    def build_entry(self, version: bytes, data: bytes) -> CachedResponse:
        return CachedResponse(
            data, blake2b(data, digest_size=10).hexdigest(), version, time.monotonic() + self.policy.seconds
        )

    def put(self, key: str, version: bytes, data: bytes) -> CachedResponse:
        cached = self.build_entry(version, data)
        if len(self.entries) >= MAX_ENTRIES:
            self.entries.clear()
        self.entries[key] = cached
        return cached


def with_response_cache(view: View, policy: CachePolicy) -> tuple[View, Callable[[View], View]]:
    """The view answering a response for its bytes, and a wrapper that answers before anything is parsed."""
    cache = Cache(policy)

    @wraps(view)
    def cached_view(**arguments: Any) -> Response:
        version, key = cache_invalidation.cache_version(*policy.topics), _build_key()
        data = view(**arguments)
        return build_response(cache.build_entry(version, data) if key is None else cache.put(key, version, data))

    def with_cache_lookup(handler: View) -> View:
        @wraps(handler)
        def wrapper(**arguments: Any) -> Any:
            key = _build_key()
            cached = cache.find(key, cache_invalidation.cache_version(*policy.topics)) if key is not None else None
            return handler(**arguments) if cached is None else build_response(cached)

        return wrapper

    return cached_view, with_cache_lookup


def build_response(cached: CachedResponse) -> Response:
    """The bytes in their envelope, or 304 for whom has them."""
    headers = {"ETag": f'"{cached.etag}"', "Cache-Control": CACHE_CONTROL}
    if_none_match = request.environ.get("HTTP_IF_NONE_MATCH")
    if if_none_match is not None and (cached.etag in if_none_match or if_none_match.strip() == "*"):
        return Response(status=304, headers=headers)
    response = envelope_response(cached.data)
    response.headers.update(headers)
    return response


def _build_key() -> str | None:
    """What an answer is kept under; None for anyone who is signed in.

    They read their writes, made on whichever node: what was kept here, for them or for others, may be from before them.
    """
    environ = request.environ
    if "HTTP_AUTHORIZATION" in environ:
        return None
    return f"{environ['PATH_INFO']}?{environ.get('QUERY_STRING', '')}"
