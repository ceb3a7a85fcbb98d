"""A cache of the responses of frequent public routes and pages, with ETag and 304, in front of Flask.

The key is host, origin, path and query; of a page also the language that its visitor accepts.

    @blp.get("/public/discover", access=PUBLIC, returns=Discovered, cache=CachePolicy(1.0, ("events",)))
    def discover(**query) -> bytes: …

The view returns its data as bytes; that of a page returns a response (`keep_page`). An entry is valid until its time is over or one of its topics changes on this
machine (see app/core/cache_invalidation.py). In an envelope timestamp and requestId are new in each response. Errors are not cached.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from hashlib import blake2b
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, cast

from flask import current_app, request
from werkzeug.wrappers import Response

from app.core import cache_invalidation
from app.core.languages import match_accepted_language
from app.web.cookies import has_session_cookie
from app.web.envelope import REQUEST_ID_KEY, envelope_response, wrap_json
from app.web.middleware import ROUTE_KEY
from app.web.types import View

if TYPE_CHECKING:
    from _typeshed import OptExcInfo
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# Few, so that rarely requested pages do not displace others from the caches of the processor.
MAX_ENTRIES = 512
CACHE_CONTROL = "no-cache"
NEW_ENTRY_KEY = "event_commerce.new_cache_entry"
HEADERS_OF_BODY = ("Content-Type", "Content-Length")
CacheKey = tuple[str, str, str, str, str]
Headers = list[tuple[str, str]]


@dataclass(frozen=True)
class CachePolicy:
    """The lifetime of an entry in seconds, and the topics whose changes end it earlier."""

    seconds: float
    topics: tuple[str, ...]


@dataclass(slots=True)
class CachedResponse:
    """The data of a response, its headers except those of the body, and the monotonic time at which it expires.

    The data is the whole body if it has a content type; else it is sent in an envelope.
    """

    route: str
    data: bytes
    etag: str
    topics: tuple[str, ...]
    version: bytes
    expires_at: float
    content_type: str | None = None
    headers: Headers = field(default_factory=list)

    def matches(self, if_none_match: str | None) -> bool:
        """Whether the client has this response."""
        return if_none_match is not None and (self.etag in if_none_match or if_none_match.strip() == "*")


class ResponseCacheMiddleware:
    """Answers requests from its entries. Flask answers the others, and those of cached routes become entries."""

    def __init__(self, application: "WSGIApplication", folder: Path) -> None:
        self.application, self.folder = application, folder
        self.entries: dict[CacheKey, CachedResponse] = {}

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        key = build_key(environ)
        if key is None:
            return self.application(environ, start_response)
        cached = self.find(key)
        if cached is not None:
            return _respond(cached, environ, start_response)

        def start_response_and_keep(
            status: str, headers: Headers, exc_info: "OptExcInfo | None" = None
        ) -> Callable[[bytes], object]:
            new_entry: CachedResponse | None = environ.get(NEW_ENTRY_KEY)
            if new_entry is not None and not any(header[0] == "Set-Cookie" for header in headers):
                new_entry.headers = [header for header in headers if header[0] not in HEADERS_OF_BODY]
                self.put(key, new_entry)
            return start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

        return self.application(environ, start_response_and_keep)

    def find(self, key: CacheKey) -> CachedResponse | None:
        """Return the valid entry of a key, or None."""
        cached = self.entries.get(key)
        if cached is None or cached.expires_at <= time.monotonic():
            return None
        return cached if cached.version == cache_invalidation.cache_version(self.folder, cached.topics) else None

    def put(self, key: CacheKey, cached: CachedResponse) -> None:
        """Store an entry. A full cache is cleared; frequent requests fill it again immediately."""
        if len(self.entries) >= MAX_ENTRIES:
            self.entries.clear()
        self.entries[key] = cached


def build_key(environ: "WSGIEnvironment") -> CacheKey | None:
    """Return the cache key of a request; None if it is not a GET, or has a token, or is to a page and has a session.

    Callers with a token must read their own writes of any node, and an entry here may be older than those. The session
    of a visitor has the language that they chose. Host and origin are part of the key, because Flask refuses some hosts
    and answers each origin with its headers.
    """
    if environ["REQUEST_METHOD"] != "GET" or "HTTP_AUTHORIZATION" in environ:
        return None
    get, path, language = environ.get, environ["PATH_INFO"], ""
    if not path.startswith("/api/"):
        if has_session_cookie(environ):
            return None
        language = match_accepted_language(get("HTTP_ACCEPT_LANGUAGE", ""))
    return get("HTTP_HOST", ""), get("HTTP_ORIGIN", ""), path, get("QUERY_STRING", ""), language


def _respond(cached: CachedResponse, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    environ[ROUTE_KEY] = cached.route
    if cached.matches(environ.get("HTTP_IF_NONE_MATCH")):
        start_response("304 NOT MODIFIED", [*cached.headers])
        return []
    body = cached.data if cached.content_type else wrap_json(cached.data, environ[REQUEST_ID_KEY])
    content_type = cached.content_type or "application/json"
    start_response("200 OK", [("Content-Type", content_type), ("Content-Length", str(len(body))), *cached.headers])
    return [body]


def with_response_cache(view: View, policy: CachePolicy) -> View:
    """Return a view that responds the bytes of `view`, as an entry for the middleware."""

    @wraps(view)
    def cached_view(**arguments: object) -> Response:
        version = _get_version(policy)
        cached = _keep(cast(bytes, view(**arguments)), policy, version)
        return _build_response(cached, envelope_response)

    return cached_view


def keep_page(policy: CachePolicy) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
    """Return a decorator of the view of a page, which keeps its responses of status 200 for the middleware.

    The page may depend on nothing but the key, the language of the visitor and what the topics stand for.
    """

    def decorate(view: Callable[..., Response]) -> Callable[..., Response]:
        @wraps(view)
        def cached_view(**arguments: object) -> Response:
            version = _get_version(policy)
            response = view(**arguments)
            if response.status_code != HTTPStatus.OK:
                return response
            cached = _keep(response.get_data(), policy, version, response.content_type)
            return _build_response(cached, lambda _: response)

        return cached_view

    return decorate


def _get_version(policy: CachePolicy) -> bytes:
    return cache_invalidation.cache_version(current_app.extensions["settings"].DATA_DIR, policy.topics)


def _keep(data: bytes, policy: CachePolicy, version: bytes, content_type: str | None = None) -> CachedResponse:
    """Hand an entry to the middleware, which adds the headers of the response."""
    etag, expires_at = blake2b(data, digest_size=10).hexdigest(), time.monotonic() + policy.seconds
    cached = CachedResponse(
        request.environ[ROUTE_KEY], data, etag, policy.topics, version, expires_at, content_type=content_type
    )
    request.environ[NEW_ENTRY_KEY] = cached
    return cached


def _build_response(cached: CachedResponse, build: Callable[[bytes], Response]) -> Response:
    """Return the response with the data, or the same without a body if the client has it."""
    response = build(cached.data)
    response.headers["ETag"] = f'"{cached.etag}"'
    response.headers["Cache-Control"] = CACHE_CONTROL
    if cached.matches(request.environ.get("HTTP_IF_NONE_MATCH")):
        response.status_code = HTTPStatus.NOT_MODIFIED
        response.set_data(b"")
    return response
