"""The answer that becomes a stream."""

from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Any, TypeVar

from flask import Flask, Response, current_app, request

from app.web.auth import current_caller
from app.web.limits import client_network
from app.web.streams import frames, handover
from app.web.streams.hall import Hall
from app.web.streams.listener import Listener, Ticket
from app.web.streams.source import Source

CONTENT_TYPE = "text/event-stream; charset=utf-8"
# Proxies that keep answers back would keep events back.
HEADERS = {"X-Accel-Buffering": "no"}
Found = TypeVar("Found")
_opening = Lock()


def event_stream(source: Source, *, topic: str, asked: Mapping[str, Any]) -> Response:
    """The state of a topic, then its changes as they commit; from `Last-Event-ID` on, only what was missed.

    Where the connection cannot be handed over (a test client, TLS in gunicorn itself) the answer holds the same
    events up to now and ends: the client comes again, and polls. Raises TooManyStreams,
    TooManyStreamsFromNetwork, StreamsFull.
    """
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    if request.method == "HEAD":
        return Response((), content_type=CONTENT_TYPE, headers=HEADERS)
    hall, caller = hall_of(app, source), current_caller()
    filters = tuple(sorted((name, value) for name, value in asked.items() if value is not None))
    position = request.headers.get("Last-Event-ID") or None
    ticket = Ticket(topic, filters, position, caller, hall.places.take(caller.id, client_network()))
    environ = request.environ
    content = _handed(hall, environ, ticket) if handover.can_be_taken(environ) else _until_now(app, source, ticket)
    response = Response(content, content_type=CONTENT_TYPE, headers=HEADERS)
    response.call_on_close(lambda: None if ticket.joined else hall.places.leave(ticket.place))
    return response


def hall_of(app: Flask, source: Source) -> Hall:
    """The hall of this source in this process."""
    name = f"streams:{source.channel}"
    with _opening:
        if name not in app.extensions:
            app.extensions[name] = Hall(app, source)
        hall: Hall = app.extensions[name]
        return hall


def _handed(hall: Hall, environ: dict[str, Any], ticket: Ticket) -> Iterator[bytes]:
    # With the first bytes gunicorn sends the head of the answer; when it asks for more, the connection goes.
    yield frames.RETRY
    hall.join(Listener(handover.take(environ), handover.chunked(environ), ticket))


def _until_now(app: Flask, source: Source, ticket: Ticket) -> Iterator[bytes]:
    yield frames.RETRY
    topic, asked, position = ticket.topic, ticket.asked, ticket.position
    if position is not None:
        waiting = {position: {asked}}
        here, news = _inside(app, lambda: source.load_updates(topic, waiting))
        new = news[position]
        if new is not None:
            data: bytes | None = new.get(asked)
            yield frames.event("changes", data, here) if data else frames.heartbeat(here)
            return
        yield frames.RESYNC
    start, after = _inside(app, source.load_position), ""
    while True:
        data, following = _inside(app, lambda after=after: source.load_snapshot_page(topic, asked, after))  # type: ignore[misc]
        yield frames.event("snapshot", data, start if following is None else None)
        if following is None:
            return
        after = following


def _inside(app: Flask, ask: Callable[[], Found]) -> Found:
    with app.app_context():
        return ask()
