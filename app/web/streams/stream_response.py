"""The answer that becomes a stream."""

from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Any, TypeVar

from flask import Flask, Response, current_app, request

from app.web.access import get_current_caller
from app.web.rate_limits import get_client_network
from app.web.streams import socket_takeover, sse_format
from app.web.streams.client_connection import ClientConnection, StreamRequest
from app.web.streams.event_loop import StreamServer
from app.web.streams.event_source import EventSource

CONTENT_TYPE = "text/event-stream; charset=utf-8"
# Proxies that keep answers back would keep events back.
STREAM_HEADERS = {"X-Accel-Buffering": "no"}
Result = TypeVar("Result")
_servers_lock = Lock()


def build_event_stream(source: EventSource, *, topic: str, query_filters: Mapping[str, Any]) -> Response:
    """The state of a topic, then its changes as they commit; from `Last-Event-ID` on, only what was missed.

    Where the connection cannot be handed over (a test client, TLS in gunicorn itself) the answer holds the same
    events up to now and ends: the client comes again, and polls. Raises TooManyStreams,
    TooManyStreamsFromNetwork, StreamsFull.
    """
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    if request.method == "HEAD":
        return Response((), content_type=CONTENT_TYPE, headers=STREAM_HEADERS)
    server, caller = get_stream_server(app, source), get_current_caller()
    filters = tuple(sorted((name, value) for name, value in query_filters.items() if value is not None))
    position = request.headers.get("Last-Event-ID") or None
    stream_request = StreamRequest(
        topic, filters, position, caller, server.slots.acquire(caller.id, get_client_network())
    )
    environ = request.environ
    content = (
        _hand_over_socket(server, environ, stream_request)
        if socket_takeover.can_take_socket(environ)
        else _generate_current_events(app, source, stream_request)
    )
    response = Response(content, content_type=CONTENT_TYPE, headers=STREAM_HEADERS)
    response.call_on_close(
        lambda: None if stream_request.is_streaming else server.slots.release(stream_request.slot_name)
    )
    return response


def get_stream_server(app: Flask, source: EventSource) -> StreamServer:
    """The hall of this source in this process."""
    name = f"streams:{source.channel}"
    with _servers_lock:
        if name not in app.extensions:
            app.extensions[name] = StreamServer(app, source)
        server: StreamServer = app.extensions[name]
        return server


def _hand_over_socket(server: StreamServer, environ: dict[str, Any], stream_request: StreamRequest) -> Iterator[bytes]:
    # With the first bytes gunicorn sends the head of the answer; when it asks for more, the connection goes.
    yield sse_format.RETRY_LINE
    server.add_client(
        ClientConnection(
            socket_takeover.take_socket(environ), socket_takeover.uses_chunked_encoding(environ), stream_request
        )
    )


def _generate_current_events(app: Flask, source: EventSource, stream_request: StreamRequest) -> Iterator[bytes]:
    yield sse_format.RETRY_LINE
    topic, filters, position = stream_request.topic, stream_request.filters, stream_request.position
    if position is not None:
        filters_by_position = {position: {filters}}
        current_position, updates_by_position = _call_in_app_context(
            app, lambda: source.load_updates(topic, filters_by_position)
        )
        updates = updates_by_position[position]
        if updates is not None:
            data: bytes | None = updates.get(filters)
            yield (
                sse_format.format_event("changes", data, current_position)
                if data
                else sse_format.format_heartbeat(current_position)
            )
            return
        yield sse_format.RESYNC_EVENT
    snapshot_position, after = _call_in_app_context(app, source.load_position), ""
    while True:
        data, next_key = _call_in_app_context(app, lambda after=after: source.load_snapshot_page(topic, filters, after))  # type: ignore[misc]
        yield sse_format.format_event("snapshot", data, snapshot_position if next_key is None else None)
        if next_key is None:
            return
        after = next_key


def _call_in_app_context(app: Flask, function: Callable[[], Result]) -> Result:
    with app.app_context():
        return function()
