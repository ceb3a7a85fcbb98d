"""Wakeups that writes send after their commit."""

from collections.abc import Callable

import pytest
from flask import Flask

from app.core.outbox import wakeup
from app.core.outbox.wakeup import MAX_WAITING, WakeupQueue


@pytest.fixture
def queue(app: Flask) -> WakeupQueue:
    return WakeupQueue(app.extensions["settings"].REDIS_URL)


def send_many(queue: WakeupQueue, count: int) -> None:
    for number in range(count):
        queue.try_notify(number, "core.surely")


def test_a_full_queue_gets_no_more(queue: WakeupQueue) -> None:
    send_many(queue, 3 * MAX_WAITING)
    assert queue.queue.count == MAX_WAITING


def test_another_process_finds_a_full_queue_by_its_first_wakeup(queue: WakeupQueue, app: Flask) -> None:
    send_many(queue, 2 * MAX_WAITING)
    send_many(WakeupQueue(app.extensions["settings"].REDIS_URL), 2 * MAX_WAITING)
    assert queue.queue.count == MAX_WAITING + 1


def test_a_full_queue_is_asked_again_after_a_pause(queue: WakeupQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    send_many(queue, 2 * MAX_WAITING)
    asked: list[bool] = []
    free_slots: Callable[[], int] = queue.free_slots
    monkeypatch.setattr(queue, "free_slots", lambda: asked.append(True) or free_slots())
    send_many(queue, 20)
    assert asked == []
    queue.paused_until = 0.0
    send_many(queue, 20)
    assert asked == [True] and queue.queue.count == MAX_WAITING
    queue.queue.empty()
    queue.paused_until = 0.0
    send_many(queue, 5)
    assert len(asked) == 2 and queue.queue.count == 5


def test_the_pause_is_shorter_than_the_relays_interval() -> None:
    assert wakeup.FULL_PAUSE_SECONDS < 1
