"""What the hall has others do, because it may take time: questions to PostgreSQL and to Redis.

News have a thread of their own, so that nobody waits for them behind somebody's first look at a large stock. Answers
come back through `post`, which lets the hall's thread take them.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import structlog
from flask import Flask

from app.accounts.queries import load_callers
from app.core.connections import direct_url
from app.web.streams.connection_limits import StreamSlots
from app.web.streams.event_source import EventSource, FilterKey
from app.web.streams.pg_listener import NotificationListener

CallSoon = Callable[[Callable[[], None]], None]
log = structlog.get_logger(__name__)


class AsyncTasks:
    """Every method returns at once; `then` gets the answer, or None when there was none."""

    def __init__(self, app: Flask, source: EventSource, slots: StreamSlots, call_soon: CallSoon) -> None:
        self.app, self.source, self.slots, self.call_soon = app, source, slots, call_soon
        self.update_executor, self.snapshot_executor = (
            ThreadPoolExecutor(1, "stream-news"),
            ThreadPoolExecutor(1, "stream-looks"),
        )

    def connect_listener(self, callback: Callable[[NotificationListener | None], None]) -> None:
        # A pooler in transaction mode passes no notifications on.
        url = direct_url(self.app.extensions["settings"])
        self._submit(self.update_executor, lambda: NotificationListener(url, self.source.channel), callback)

    def load_updates(
        self, topic: str, filters_by_position: dict[str, set[FilterKey]], callback: Callable[[Any], None]
    ) -> None:
        self._submit(self.update_executor, lambda: self.source.load_updates(topic, filters_by_position), callback)

    def load_snapshot_page(
        self, topic: str, filters: FilterKey, after: str, snapshot_position: str | None, callback: Callable[[Any], None]
    ) -> None:
        """A page of the state, with the position from which it counts."""

        def load_page() -> tuple[str, bytes, str | None]:
            position = snapshot_position or self.source.load_position()
            return (position, *self.source.load_snapshot_page(topic, filters, after))

        self._submit(self.snapshot_executor, load_page, callback)

    def check_sessions(self, session_ids: list[str], callback: Callable[[Any], None]) -> None:
        """Who is behind these sessions now; says as well that the places are still taken."""

        def load_session_callers() -> Any:
            self.slots.renew_all()
            return load_callers(session_ids)

        self._submit(self.update_executor, load_session_callers, callback)

    def release_slot(self, slot_name: str) -> None:
        self._submit(self.update_executor, lambda: self.slots.release(slot_name), lambda _: None)

    def close(self) -> None:
        for executor in (self.update_executor, self.snapshot_executor):
            executor.shutdown(wait=False, cancel_futures=True)

    def _submit(
        self, executor: ThreadPoolExecutor, function: Callable[[], Any], callback: Callable[[Any], None]
    ) -> None:
        def run() -> None:
            result = None
            try:
                with self.app.app_context():
                    result = function()
            except Exception as error:
                log.warning("streams.unanswered", error=type(error).__name__)
            self.call_soon(lambda: callback(result))

        # The interpreter takes no more work when it is about to end.
        with suppress(RuntimeError):
            executor.submit(run)
