"""The thread that writes to all listeners of a process. It never waits for a client, for PostgreSQL or for Redis.

Reading goes by topics: whatever number listens, a change is asked for once and its bytes are made once for each
different question. Anyone who has been told shares one position with all others of the topic.
"""

import atexit
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import structlog
from flask import Flask

from app.accounts.caller import Caller
from app.core.metrics import Gauge, Store
from app.web.streams import sse_format
from app.web.streams.async_tasks import AsyncTasks
from app.web.streams.client_connection import ClientConnection, ClientGone
from app.web.streams.connection_limits import StreamSlots
from app.web.streams.event_source import EventSource, FilterKey
from app.web.streams.pg_listener import ListenConnectionLost, NotificationListener
from app.web.streams.topics import Topics

TICK_SECONDS = 0.25
SESSION_CHECK_SECONDS = 10.0
RETRY_SECONDS = 1.0
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
OPEN_STREAMS = Gauge("commerce_stream_listeners", "Streams that are open.")
log = structlog.get_logger(__name__)
_stop_conditions: list[Callable[[], bool]] = []


def set_stop_condition(is_stopping: Callable[[], bool]) -> None:
    """Has all streams of this process end as soon as this is true; it is asked four times a second."""
    _stop_conditions[:] = [is_stopping]


class StreamServer:
    """The listeners of one source in this process. Its thread begins with the first of them, after the fork."""

    def __init__(self, app: Flask, source: EventSource) -> None:
        self.slots = StreamSlots(app.extensions["settings"].REDIS_URL)
        self.build_tasks = partial(AsyncTasks, app, source, self.slots, self.call_soon)
        self.metrics: Store = app.extensions["metrics"]
        self.topics, self.clients = Topics(), set[ClientConnection]()
        self.callbacks: deque[Callable[[], None]] = deque()
        self.start_lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self.notification_listener: NotificationListener | None = None
        self.is_closing = self.is_connecting = False
        self.reconnect_at = self.sessions_checked_at = self.clients_checked_at = 0.0

    def add_client(self, client: ClientConnection) -> None:
        """Serves a listener from now on. Any thread may call."""
        client.stream_request.is_streaming = True
        with self.start_lock:
            if self.thread is None:
                self._start()
        self.call_soon(partial(self._register_client, client))

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Has the thread do something. Any thread may call."""
        self.callbacks.append(callback)
        try:
            self.wakeup_writer.send(b"!")
        except OSError:
            """It is ringing already, or the hall is closed."""

    def close(self) -> None:
        """Ends all streams well; returns when they have ended, or after a second."""
        self.is_closing = True
        self.call_soon(lambda: None)
        if self.thread is not None:
            self.thread.join(1)
        self.slots.release_all()

    def _start(self) -> None:
        self.tasks = self.build_tasks()
        self.selector = selectors.DefaultSelector()
        self.wakeup_writer, self.wakeup_reader = socket.socketpair()
        self.wakeup_writer.setblocking(False)
        self.wakeup_reader.setblocking(False)
        self.selector.register(self.wakeup_reader, READ, self._on_wakeup)
        self.thread = threading.Thread(target=self._run, name="streams", daemon=True)
        self.thread.start()
        atexit.register(self.close)

    def _run(self) -> None:
        while not (self.is_closing and not self.clients):
            try:
                for key, mask in self.selector.select(self._poll_timeout()):
                    key.data(mask)
                while self.callbacks:
                    self.callbacks.popleft()()
                self._tick()
            except Exception:
                log.exception("streams.error")
                time.sleep(TICK_SECONDS)
        self.tasks.close()

    def _poll_timeout(self) -> float | None:
        if not self.clients:
            return None if self.notification_listener is None else TICK_SECONDS
        return min(TICK_SECONDS, self.topics.seconds_until_due())

    def _tick(self) -> None:
        if self.is_closing or any(is_stopping() for is_stopping in _stop_conditions):
            self._finish_all_clients()
        self._update_listener()
        for topic in self.topics.list_due():
            self._request_updates(topic)
        now = time.monotonic()
        if now - self.clients_checked_at >= RETRY_SECONDS:
            self.clients_checked_at = now
            for client in list(self.clients):
                self._serve_client(client, client.check_timeouts)
        if self.clients and now - self.sessions_checked_at >= SESSION_CHECK_SECONDS:
            self.sessions_checked_at = now
            session_ids = {client.stream_request.caller.session_id for client in self.clients}
            self.tasks.check_sessions(sorted(session_ids), partial(self._on_sessions_checked, session_ids))

    def _on_wakeup(self, _: int) -> None:
        self.wakeup_reader.recv(4096)

    # Listeners

    def _register_client(self, client: ClientConnection) -> None:
        self.clients.add(client)
        self.metrics.add(OPEN_STREAMS, ())
        self.selector.register(client.socket, READ, partial(self._on_client_ready, client))
        if client.position is not None:
            self.topics.mark_changed(client.stream_request.topic)
        self._serve_client(client, client.flush)

    def _on_client_ready(self, client: ClientConnection, mask: int) -> None:
        if mask & READ:
            self._serve_client(client, client.receive)
        if mask & WRITE and client in self.clients:
            self._serve_client(client, client.flush)

    def _serve_client(self, client: ClientConnection, action: Callable[[], None]) -> None:
        """Does something for a listener, and whatever follows from it."""
        try:
            action()
            client.flush()
            if client.is_done:
                raise ClientGone("has been served")
        except ClientGone as reason:
            self._remove_client(client, str(reason))
            return
        self.selector.modify(
            client.socket, READ | WRITE if client.write_buffers else READ, partial(self._on_client_ready, client)
        )
        if client.needs_page:
            client.is_loading_page = True
            stream_request = client.stream_request
            self.tasks.load_snapshot_page(
                stream_request.topic,
                stream_request.filters,
                client.page_key or "",
                client.snapshot_position,
                partial(self._on_snapshot_page, client),
            )

    def _remove_client(self, client: ClientConnection, reason: str) -> None:
        self.clients.discard(client)
        self.metrics.add(OPEN_STREAMS, (), -1.0)
        self.selector.unregister(client.socket)
        client.socket.close()
        self.tasks.release_slot(client.stream_request.slot_name)
        log.debug("stream.end", reason=reason)

    def _finish_all_clients(self) -> None:
        for client in list(self.clients):
            self._serve_client(client, client.finish)
        for client in list(self.clients) if self.is_closing else ():
            self._remove_client(client, "closing")

    # What the desk answers

    def _on_snapshot_page(self, client: ClientConnection, snapshot_page: tuple[str, bytes, str | None] | None) -> None:
        client.is_loading_page = False
        if client not in self.clients:
            return
        if snapshot_page is None:
            self._serve_client(client, client.finish)
            return
        client.snapshot_position, data, client.page_key = snapshot_page
        final_position = client.snapshot_position if client.page_key is None else None
        if final_position:
            client.position = final_position
            self.topics.mark_changed(client.stream_request.topic)
        self._serve_client(client, partial(client.send, sse_format.format_event("snapshot", data, final_position)))

    def _request_updates(self, topic: str) -> None:
        filters_by_position = self.topics.start_reading(topic, self.clients)
        if filters_by_position:
            self.tasks.load_updates(topic, filters_by_position, partial(self._on_updates, topic))

    def _on_updates(self, topic: str, reading: Any) -> None:
        self.topics.finish_reading(topic, succeeded=reading is not None)
        if reading is None:
            return
        position, updates_by_position = reading
        event_cache: dict[tuple[str, FilterKey], bytes] = {}
        for client in self.topics.iterate_waiting_clients(topic, self.clients):
            old_position, filters = str(client.position), client.stream_request.filters
            updates = updates_by_position.get(old_position, {})
            if updates is None:
                self._serve_client(client, partial(self._restart_snapshot, client, position))
            elif filters in updates:
                if (old_position, filters) not in event_cache:
                    event_cache[old_position, filters] = (
                        sse_format.format_event("changes", updates[filters], position) if updates[filters] else b""
                    )
                client.position = position
                self._serve_client(
                    client,
                    partial(client.send, event_cache[old_position, filters])
                    if event_cache[old_position, filters]
                    else client.flush,
                )

    def _restart_snapshot(self, client: ClientConnection, position: str) -> None:
        client.position, client.snapshot_position, client.page_key = None, position, ""
        client.send(sse_format.RESYNC_EVENT)

    def _on_sessions_checked(self, session_ids: set[str], callers: dict[str, Caller] | None) -> None:
        """Ends the streams of anyone who has signed out or lost a role; who still has another may come again."""
        for client in list(self.clients) if callers is not None else ():
            old_caller = client.stream_request.caller
            new_caller = (callers or {}).get(old_caller.session_id)
            if old_caller.session_id in session_ids and (
                new_caller is None or (new_caller.roles, new_caller.tier) != (old_caller.roles, old_caller.tier)
            ):
                self._serve_client(client, client.finish)

    # The ear

    def _update_listener(self) -> None:
        if not self.clients:
            self._close_listener()
        elif self.notification_listener is None and not self.is_connecting and time.monotonic() >= self.reconnect_at:
            self.is_connecting = True
            self.tasks.connect_listener(self._on_listener_connected)

    def _on_listener_connected(self, notification_listener: NotificationListener | None) -> None:
        self.is_connecting, self.notification_listener = False, notification_listener
        self.reconnect_at = time.monotonic() + RETRY_SECONDS
        if notification_listener is not None:
            self.selector.register(notification_listener.fd, READ, self._on_notification)
            self.topics.mark_changed(*{client.stream_request.topic for client in self.clients})

    def _on_notification(self, _: int) -> None:
        try:
            self.topics.mark_changed(
                *(self.notification_listener.read_payloads() if self.notification_listener else ())
            )
        except ListenConnectionLost:
            self._close_listener()

    def _close_listener(self) -> None:
        if self.notification_listener is not None:
            self.selector.unregister(self.notification_listener.fd)
            self.notification_listener.close()
            self.notification_listener = None
