"""Answers of hot public routes, kept for a second: same address, same bytes, with an ETag and 304.

    @blp.get("/public/discover", access=PUBLIC, returns=Discovered, kept=Keep(1.0, "events"))
    def discover(**query) -> bytes: …

The view answers its data as bytes. They are kept under path and query until the time is over or a topic has
changed on this machine (see app/core/freshness.py); timestamp and requestId are always fresh. Errors are not kept.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from hashlib import blake2b
from typing import Any

from flask import Response, request

from app.core import freshness
from app.web.envelope import spliced_response

View = Callable[..., Any]
# Few, so that pages which nobody asks for twice leave the processor its caches.
ENTRIES = 256
CACHE_CONTROL = "no-cache"


@dataclass(frozen=True)
class Keep:
    """For how many seconds, and which topics end it earlier."""

    seconds: float
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes of an answer, and until when they count."""

    data: bytes
    tag: str
    mark: bytes
    until: float


class Shelf:
    """What one process keeps of one route. Full, it starts over: whoever is hot is back at once."""

    def __init__(self, keep: Keep) -> None:
        self.keep = keep
        self.entries: dict[str, Kept] = {}

    def find(self, address: str, mark: bytes) -> Kept | None:
        """The bytes for an address while they count."""
        found = self.entries.get(address)
        return found if found and found.until > time.monotonic() and found.mark == mark else None

    def made(self, mark: bytes, data: bytes) -> Kept:
        return Kept(data, blake2b(data, digest_size=10).hexdigest(), mark, time.monotonic() + self.keep.seconds)

    def put(self, address: str, mark: bytes, data: bytes) -> Kept:
        made = self.made(mark, data)
        if len(self.entries) >= ENTRIES:
            self.entries.clear()
        self.entries[address] = made
        return made


def kept(view: View, keep: Keep) -> tuple[View, Callable[[View], View]]:
    """The view answering a response for its bytes, and a wrapper that answers before anything is parsed."""
    shelf = Shelf(keep)

    @wraps(view)
    def made(**arguments: Any) -> Response:
        mark, address = freshness.mark(*keep.topics), _address()
        data = view(**arguments)
        return answer(shelf.made(mark, data) if address is None else shelf.put(address, mark, data))

    def shortcut(handler: View) -> View:
        @wraps(handler)
        def ready(**arguments: Any) -> Any:
            address = _address()
            found = shelf.find(address, freshness.mark(*keep.topics)) if address is not None else None
            return handler(**arguments) if found is None else answer(found)

        return ready

    return made, shortcut


def answer(found: Kept) -> Response:
    """The bytes in their envelope, or 304 for whom has them."""
    headers = {"ETag": f'"{found.tag}"', "Cache-Control": CACHE_CONTROL}
    asked = request.environ.get("HTTP_IF_NONE_MATCH")
    if asked is not None and (found.tag in asked or asked.strip() == "*"):
        return Response(status=304, headers=headers)
    response = spliced_response(found.data)
    response.headers.update(headers)
    return response


def _address() -> str | None:
    """What an answer is kept under; None for whoever is signed in.

    He reads his writes, made on whichever node: what was kept here, for him or for others, may be from before them.
    """
    environ = request.environ
    if "HTTP_AUTHORIZATION" in environ:
        return None
    return f"{environ['PATH_INFO']}?{environ.get('QUERY_STRING', '')}"
