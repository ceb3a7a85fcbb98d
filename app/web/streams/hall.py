"""The thread that writes to all listeners of a process. It never waits for a client, for PostgreSQL or for Redis.

Reading goes by topics: whatever number listens, a change is asked for once and its bytes are made once for each
different question. Whoever has been told shares one position with all others of the topic.
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
from app.web.streams import frames
from app.web.streams.desk import Desk
from app.web.streams.ear import Deaf, Ear
from app.web.streams.listener import Gone, Listener
from app.web.streams.places import Places
from app.web.streams.source import Asked, Source
from app.web.streams.topics import Topics

TICK = 0.25
CHECKED = 10.0
AGAIN = 1.0
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
LISTENERS = Gauge("commerce_stream_listeners", "Streams that are open.")
log = structlog.get_logger(__name__)
_ends: list[Callable[[], bool]] = []


def end_when(stopping: Callable[[], bool]) -> None:
    """Has all streams of this process end as soon as this is true; it is asked four times a second."""
    _ends[:] = [stopping]


class Hall:
    """The listeners of one source in this process. Its thread begins with the first of them, after the fork."""

    def __init__(self, app: Flask, source: Source) -> None:
        self.places = Places(app.extensions["settings"].REDIS_URL)
        self.make_desk = partial(Desk, app, source, self.places, self.post)
        self.metrics: Store = app.extensions["metrics"]
        self.topics, self.listeners = Topics(), set[Listener]()
        self.inbox: deque[Callable[[], None]] = deque()
        self.starting = threading.Lock()
        self.thread: threading.Thread | None = None
        self.ear: Ear | None = None
        self.closing = self.listening = False
        self.listen_at = self.checked_at = self.swept_at = 0.0

    def join(self, listener: Listener) -> None:
        """Serves a listener from now on. Any thread may call."""
        listener.ticket.joined = True
        with self.starting:
            if self.thread is None:
                self._start()
        self.post(partial(self._enter, listener))

    def post(self, act: Callable[[], None]) -> None:
        """Has the thread do something. Any thread may call."""
        self.inbox.append(act)
        try:
            self.bell.send(b"!")
        except OSError:
            """It is ringing already, or the hall is closed."""

    def close(self) -> None:
        """Ends all streams well; returns when they have ended, or after a second."""
        self.closing = True
        self.post(lambda: None)
        if self.thread is not None:
            self.thread.join(1)
        self.places.leave_all()

    def _start(self) -> None:
        self.desk = self.make_desk()
        self.selector = selectors.DefaultSelector()
        self.bell, self.door = socket.socketpair()
        self.bell.setblocking(False)
        self.door.setblocking(False)
        self.selector.register(self.door, READ, self._woken)
        self.thread = threading.Thread(target=self._run, name="streams", daemon=True)
        self.thread.start()
        atexit.register(self.close)

    def _run(self) -> None:
        while not (self.closing and not self.listeners):
            try:
                for key, mask in self.selector.select(self._patience()):
                    key.data(mask)
                while self.inbox:
                    self.inbox.popleft()()
                self._turn()
            except Exception:
                log.exception("streams.error")
                time.sleep(TICK)
        self.desk.close()

    def _patience(self) -> float | None:
        if not self.listeners:
            return None if self.ear is None else TICK
        return min(TICK, self.topics.wait())

    def _turn(self) -> None:
        if self.closing or any(stopping() for stopping in _ends):
            self._end_all()
        self._keep_an_ear()
        for topic in self.topics.due():
            self._ask(topic)
        now = time.monotonic()
        if now - self.swept_at >= AGAIN:
            self.swept_at = now
            for listener in list(self.listeners):
                self._serve(listener, listener.check)
        if self.listeners and now - self.checked_at >= CHECKED:
            self.checked_at = now
            asked = {listener.ticket.caller.session_id for listener in self.listeners}
            self.desk.check(sorted(asked), partial(self._checked, asked))

    def _woken(self, _: int) -> None:
        self.door.recv(4096)

    # Listeners

    def _enter(self, listener: Listener) -> None:
        self.listeners.add(listener)
        self.metrics.add(LISTENERS, ())
        self.selector.register(listener.socket, READ, partial(self._ready, listener))
        if listener.position is not None:
            self.topics.ring(listener.ticket.topic)
        self._serve(listener, listener.flush)

    def _ready(self, listener: Listener, mask: int) -> None:
        if mask & READ:
            self._serve(listener, listener.listen)
        if mask & WRITE and listener in self.listeners:
            self._serve(listener, listener.flush)

    def _serve(self, listener: Listener, act: Callable[[], None]) -> None:
        """Does something for a listener, and whatever follows from it."""
        try:
            act()
            listener.flush()
            if listener.done:
                raise Gone("has been served")
        except Gone as reason:
            self._drop(listener, str(reason))
            return
        self.selector.modify(
            listener.socket, READ | WRITE if listener.outgoing else READ, partial(self._ready, listener)
        )
        if listener.wants_page:
            listener.paging = True
            ticket = listener.ticket
            self.desk.look(
                ticket.topic, ticket.asked, listener.page_after or "", listener.start, partial(self._looked, listener)
            )

    def _drop(self, listener: Listener, reason: str) -> None:
        self.listeners.discard(listener)
        self.metrics.add(LISTENERS, (), -1.0)
        self.selector.unregister(listener.socket)
        listener.socket.close()
        self.desk.leave(listener.ticket.place)
        log.debug("stream.end", reason=reason)

    def _end_all(self) -> None:
        for listener in list(self.listeners):
            self._serve(listener, listener.end)
        for listener in list(self.listeners) if self.closing else ():
            self._drop(listener, "closing")

    # What the desk answers

    def _looked(self, listener: Listener, found: tuple[str, bytes, str | None] | None) -> None:
        listener.paging = False
        if listener not in self.listeners:
            return
        if found is None:
            self._serve(listener, listener.end)
            return
        listener.start, data, listener.page_after = found
        last = listener.start if listener.page_after is None else None
        if last:
            listener.position = last
            self.topics.ring(listener.ticket.topic)
        self._serve(listener, partial(listener.say, frames.event("snapshot", data, last)))

    def _ask(self, topic: str) -> None:
        waiting = self.topics.begin(topic, self.listeners)
        if waiting:
            self.desk.tell(topic, waiting, partial(self._told, topic))

    def _told(self, topic: str, found: Any) -> None:
        self.topics.end(topic, heard=found is not None)
        if found is None:
            return
        here, news = found
        made: dict[tuple[str, Asked], bytes] = {}
        for item in self.topics.live(topic, self.listeners):
            before, asked = str(item.position), item.ticket.asked
            new = news.get(before, {})
            if new is None:
                self._serve(item, partial(self._begin_anew, item, here))
            elif asked in new:
                if (before, asked) not in made:
                    made[before, asked] = frames.event("changes", new[asked], here) if new[asked] else b""
                item.position = here
                self._serve(item, partial(item.say, made[before, asked]) if made[before, asked] else item.flush)

    def _begin_anew(self, listener: Listener, here: str) -> None:
        listener.position, listener.start, listener.page_after = None, here, ""
        listener.say(frames.RESYNC)

    def _checked(self, asked: set[str], callers: dict[str, Caller] | None) -> None:
        """Ends the streams of whoever has signed out or lost a role; who still has another may come again."""
        for listener in list(self.listeners) if callers is not None else ():
            then = listener.ticket.caller
            now = (callers or {}).get(then.session_id)
            if then.session_id in asked and (now is None or (now.roles, now.tier) != (then.roles, then.tier)):
                self._serve(listener, listener.end)

    # The ear

    def _keep_an_ear(self) -> None:
        if not self.listeners:
            self._be_deaf()
        elif self.ear is None and not self.listening and time.monotonic() >= self.listen_at:
            self.listening = True
            self.desk.listen(self._listening)

    def _listening(self, ear: Ear | None) -> None:
        self.listening, self.ear = False, ear
        self.listen_at = time.monotonic() + AGAIN
        if ear is not None:
            self.selector.register(ear.fd, READ, self._heard)
            self.topics.ring(*{listener.ticket.topic for listener in self.listeners})

    def _heard(self, _: int) -> None:
        try:
            self.topics.ring(*(self.ear.heard() if self.ear else ()))
        except Deaf:
            self._be_deaf()

    def _be_deaf(self) -> None:
        if self.ear is not None:
            self.selector.unregister(self.ear.fd)
            self.ear.close()
            self.ear = None
