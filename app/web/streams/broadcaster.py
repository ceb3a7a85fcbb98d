"""The thread of a process that reads the changes once and adds them to the subscriptions of all its clients."""

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread

import psycopg
import structlog
from flask import Flask

from app.accounts.queries import reload_callers
from app.core.connections import direct_url
from app.core.metrics import Gauge
from app.web.streams import sse_format
from app.web.streams.connection_limits import StreamSlots
from app.web.streams.pg_listener import NotificationListener
from app.web.streams.subscription import Subscription
from app.web.streams.topic_queries import FilterKey, TopicQueries

WAIT_SECONDS = 0.25
MIN_GAP_SECONDS, RETRY_SECONDS = 0.1, 1.0
SESSION_CHECK_SECONDS = 10.0
MAX_POSITIONS_PER_READ = 20
OPEN_STREAMS = Gauge("commerce_stream_listeners", "Streams that are open.")
log = structlog.get_logger(__name__)


class Broadcaster:
    """Its thread and its connection exist while there are subscriptions."""

    def __init__(self, app: Flask, queries: TopicQueries, slots: StreamSlots, is_stopping: Callable[[], bool]) -> None:
        self.app, self.queries, self.slots, self.is_stopping = app, queries, slots, is_stopping
        # A pooler in transaction mode passes no notifications on.
        self.listen_url = direct_url(app.extensions["settings"])
        self.lock = Lock()
        self.thread: Thread | None = None
        self.subscriptions: dict[Subscription, None] = {}
        self.changed_topics: set[str] = set()
        self.listener: NotificationListener | None = None
        self.read_all_at = self.check_sessions_at = 0.0

    def subscribe(self, subscription: Subscription) -> None:
        with self.lock:
            self.subscriptions[subscription] = None
            self.changed_topics.add(subscription.topic)
            if self.thread is None:
                self.check_sessions_at = time.monotonic() + SESSION_CHECK_SECONDS
                self.thread = Thread(target=self._run, name="streams", daemon=True)
                self.thread.start()
        OPEN_STREAMS.add(1.0)

    def unsubscribe(self, subscription: Subscription) -> None:
        with self.lock:
            del self.subscriptions[subscription]
        OPEN_STREAMS.add(-1.0)

    def _run(self) -> None:
        while self._has_subscriptions():
            try:
                self._wait_for_changes()
                if self.is_stopping():
                    self._end_all()
                with self.app.app_context():
                    self._read_changed_topics()
                    self._check_sessions()
            except Exception as error:
                log.warning("streams.retry", error=type(error).__name__)
                time.sleep(RETRY_SECONDS)
            else:
                time.sleep(MIN_GAP_SECONDS)

    def _has_subscriptions(self) -> bool:
        with self.lock:
            if not self.subscriptions:
                self._close_listener()
                self.thread = None
            return bool(self.subscriptions)

    def _wait_for_changes(self) -> None:
        """Note the topics that changed; all of them after a new connection and now and then."""
        if self.listener is None:
            self.read_all_at = 0.0
            with suppress(psycopg.Error):
                self.listener = NotificationListener(self.listen_url, self.queries.channel)
        wait_seconds = 0.0 if self.changed_topics or not self.read_all_at else WAIT_SECONDS
        try:
            payloads = self.listener.wait_for_payloads(wait_seconds) if self.listener else set[str]()
        except psycopg.Error:
            self._close_listener()
            return
        with self.lock:
            self.changed_topics |= payloads
            if time.monotonic() >= self.read_all_at:
                self.read_all_at = time.monotonic() + self.queries.max_gap_seconds
                self.changed_topics |= {subscription.topic for subscription in self.subscriptions}

    def _read_changed_topics(self) -> None:
        with self.lock:
            changed_topics, self.changed_topics = self.changed_topics, set()
            subscriptions_by_topic: dict[str, list[Subscription]] = defaultdict(list)
            for subscription in self.subscriptions:
                if subscription.topic in changed_topics and not subscription.is_ended:
                    subscriptions_by_topic[subscription.topic].append(subscription)
        try:
            for topic, subscriptions in subscriptions_by_topic.items():
                if not self._read_topic(topic, subscriptions):
                    self._mark_changed({topic})
        except BaseException:
            self._mark_changed(changed_topics)
            raise

    def _mark_changed(self, topics: set[str]) -> None:
        with self.lock:
            self.changed_topics |= topics

    def _read_topic(self, topic: str, subscriptions: list[Subscription]) -> bool:
        """Whether all subscriptions got what is new; one reading takes a bounded number of positions."""
        filters_by_position: dict[str, set[FilterKey]] = {}
        for subscription in subscriptions:
            if subscription.position in filters_by_position or len(filters_by_position) < MAX_POSITIONS_PER_READ:
                filters_by_position.setdefault(subscription.position, set()).add(subscription.filters)
        new_position, updates_by_position = self.queries.load_updates(topic, filters_by_position)
        events = {
            (position, filters): sse_format.format_event("changes", data, new_position) if data else b""
            for position, updates in updates_by_position.items()
            if updates is not None
            for filters, data in updates.items()
        }
        is_complete = True
        for subscription in subscriptions:
            position = subscription.position
            if position not in updates_by_position:
                is_complete = False
            elif updates_by_position[position] is None:
                subscription.end(needs_resync=True)
            else:
                subscription.add(new_position, events[position, subscription.filters])
        return is_complete

    def _check_sessions(self) -> None:
        """End the streams of sessions that ended or whose account has other permissions; renew the places of the others."""
        if time.monotonic() < self.check_sessions_at:
            return
        self.check_sessions_at = time.monotonic() + SESSION_CHECK_SECONDS
        self.slots.renew_all()
        with self.lock:
            subscriptions = list(self.subscriptions)
        callers = reload_callers([subscription.caller for subscription in subscriptions])
        for subscription, new in zip(subscriptions, callers, strict=True):
            old = subscription.caller
            if new is None or (new.tier, new.grant) != (old.tier, old.grant):
                subscription.end()

    def _end_all(self) -> None:
        with self.lock:
            for subscription in self.subscriptions:
                subscription.end()

    def _close_listener(self) -> None:
        if self.listener is not None:
            self.listener.close()
            self.listener = None
