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
from app.core.engines import direct_url
from app.web.streams.ear import Ear
from app.web.streams.places import Places
from app.web.streams.source import Asked, Source

Post = Callable[[Callable[[], None]], None]
log = structlog.get_logger(__name__)


class Desk:
    """Every method returns at once; `then` gets the answer, or None when there was none."""

    def __init__(self, app: Flask, source: Source, places: Places, post: Post) -> None:
        self.app, self.source, self.places, self.post = app, source, places, post
        self.news, self.looks = ThreadPoolExecutor(1, "stream-news"), ThreadPoolExecutor(1, "stream-looks")

    def listen(self, then: Callable[[Ear | None], None]) -> None:
        # A pooler in transaction mode passes no notifications on.
        url = direct_url(self.app.extensions["settings"])
        self._have(self.news, lambda: Ear(url, self.source.channel), then)

    def tell(self, topic: str, waiting: dict[str, set[Asked]], then: Callable[[Any], None]) -> None:
        self._have(self.news, lambda: self.source.load_updates(topic, waiting), then)

    def look(self, topic: str, asked: Asked, after: str, start: str | None, then: Callable[[Any], None]) -> None:
        """A page of the state, with the position from which it counts."""

        def found() -> tuple[str, bytes, str | None]:
            position = start or self.source.load_position()
            return (position, *self.source.load_snapshot_page(topic, asked, after))

        self._have(self.looks, found, then)

    def check(self, sessions: list[str], then: Callable[[Any], None]) -> None:
        """Who is behind these sessions now; says as well that the places are still taken."""

        def found() -> Any:
            self.places.renew()
            return load_callers(sessions)

        self._have(self.news, found, then)

    def leave(self, place: str) -> None:
        self._have(self.news, lambda: self.places.leave(place), lambda _: None)

    def close(self) -> None:
        for item in (self.news, self.looks):
            item.shutdown(wait=False, cancel_futures=True)

    def _have(self, hands: ThreadPoolExecutor, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        def done() -> None:
            answer = None
            try:
                with self.app.app_context():
                    answer = work()
            except Exception as error:
                log.warning("streams.unanswered", error=type(error).__name__)
            self.post(lambda: then(answer))

        # The interpreter takes no more work when it is about to end.
        with suppress(RuntimeError):
            hands.submit(done)
