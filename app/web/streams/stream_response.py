"""The response of a stream: what its topic holds now, then every change."""

import random
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from threading import BoundedSemaphore, Lock
from typing import Any, TypeVar

from flask import Flask, Response, current_app, request

from app.accounts.caller import Caller
from app.core.errors import NotFound
from app.web.access import get_current_caller
from app.web.rate_limits import get_client_network
from app.web.streams import sse_format
from app.web.streams.broadcaster import Broadcaster
from app.web.streams.connection_limits import StreamSlots
from app.web.streams.subscription import Subscription
from app.web.streams.topic_queries import FilterKey, TopicQueries

CONTENT_TYPE = "text/event-stream; charset=utf-8"
# Proxies that keep responses back would keep events back.
STREAM_HEADERS = {"X-Accel-Buffering": "no"}
MAX_STREAM_SECONDS, END_JITTER_SECONDS = 600.0, 60.0
Result = TypeVar("Result")


@dataclass
class ProcessLimits:
    """What the server of this process says (see `keep_streams_open`)."""

    max_streams: int | None = None
    is_stopping: Callable[[], bool] = lambda: False


_limits = ProcessLimits()
_lock = Lock()


def keep_streams_open(max_streams: int, is_stopping: Callable[[], bool]) -> None:
    """Let this process keep so many streams open until `is_stopping` returns true; it is asked four times a second.

    Without this call a stream ends after what its topic holds now, as with a test client.
    """
    _limits.max_streams, _limits.is_stopping = max_streams, is_stopping


class StreamServer:
    """What the streams of one domain share in this process."""

    def __init__(self, app: Flask, queries: TopicQueries) -> None:
        self.app, self.queries = app, queries
        settings = app.extensions["settings"]
        self.slots = StreamSlots(settings.REDIS_URL, _limits.max_streams)
        self.broadcaster = Broadcaster(app, queries, self.slots, _limits.is_stopping)
        # Snapshots leave connections of the pool to the broadcaster and to the requests.
        self.snapshot_semaphore = BoundedSemaphore(max(1, settings.DATABASE_POOL // 2))

    def iterate_events(self, topic: str, filters: FilterKey, position: str | None, caller: Caller) -> Iterator[bytes]:
        ends_at = time.monotonic() + MAX_STREAM_SECONDS - random.uniform(0, END_JITTER_SECONDS)
        yield sse_format.RETRY_LINE
        while True:
            try:
                position = yield from self._iterate_current_events(topic, filters, position)
            except NotFound:
                # The topic was removed after the check of the request; the client's next connection gets a 404.
                return
            if _limits.max_streams is None or _limits.is_stopping():
                return
            subscription = Subscription(topic, filters, caller, position, ends_at)
            self.broadcaster.subscribe(subscription)
            try:
                yield from subscription.iterate_events()
            finally:
                self.broadcaster.unsubscribe(subscription)
            if not subscription.needs_resync:
                return
            position = subscription.position

    def _iterate_current_events(
        self, topic: str, filters: FilterKey, position: str | None
    ) -> Generator[bytes, None, str]:
        """The updates since the position, or a snapshot; returns the position to go on from."""
        queries = self.queries
        if position is not None:
            new_position, updates_by_position = self._load(partial(queries.load_updates, topic, {position: {filters}}))
            updates = updates_by_position[position]
            if updates is not None:
                data = updates.get(filters)
                yield (
                    sse_format.format_event("changes", data, new_position)
                    if data
                    else sse_format.format_heartbeat(new_position)
                )
                return new_position
            yield sse_format.RESYNC_EVENT
        snapshot_position, after = self._load(queries.load_position), ""
        while True:
            data, next_key = self._load(partial(queries.load_snapshot_page, topic, filters, after))
            yield sse_format.format_event("snapshot", data, snapshot_position if next_key is None else None)
            if next_key is None:
                return snapshot_position
            after = next_key

    def _load(self, function: Callable[[], Result]) -> Result:
        with self.snapshot_semaphore, self.app.app_context():
            return function()


def build_event_stream(queries: TopicQueries, *, topic: str, query_filters: Mapping[str, Any]) -> Response:
    """Return the snapshot of a topic and its changes as they commit; with `Last-Event-ID` only what was missed.

    Between events a stream holds a thread (a greenlet with gevent), but no database connection.
    Raises TooManyStreams, TooManyStreamsFromNetwork, StreamsFull.
    """
    if request.method == "HEAD":
        return Response((), content_type=CONTENT_TYPE, headers=STREAM_HEADERS)
    server, caller = _get_server(queries), get_current_caller()
    filters = tuple(sorted((name, value) for name, value in query_filters.items() if value is not None))
    slot_name = server.slots.acquire(caller.client_id, get_client_network())
    events = server.iterate_events(topic, filters, request.headers.get("Last-Event-ID") or None, caller)
    response = Response(events, content_type=CONTENT_TYPE, headers=STREAM_HEADERS)
    response.call_on_close(lambda: server.slots.release(slot_name))
    return response


def _get_server(queries: TopicQueries) -> StreamServer:
    """Return the server of these queries in this process."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    name = f"streams:{queries.channel}"
    with _lock:
        if name not in app.extensions:
            app.extensions[name] = StreamServer(app, queries)
        server: StreamServer = app.extensions[name]
        return server
