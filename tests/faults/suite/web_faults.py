"""F1, F2, F15: gunicorn killed, reloaded and restarted; clients that trickle."""

import os
import signal
import time

from tests.deploy.slow import slow_clients
from tests.faults.suite.plan import fault
from tests.faults.suite.scenario import Scene
from tests.faults.suite.stack import WEB_WORKERS
from tests.waiting import wait_until

BEFORE = 4.0


@fault("F1")
def kill_web_workers(scene: Scene) -> None:
    """kill -9 of one gunicorn worker every five seconds"""
    stack = scene.stack
    for _ in scene.every(5.0):
        wait_until(lambda: len(stack.web_workers()) == WEB_WORKERS)
        os.kill(scene.dice.choice(stack.web_workers()), signal.SIGKILL)
        scene.killed["web"] += 1
        time.sleep(0.05)
        scene.note("respawn s", scene.seconds_until(lambda: len(stack.web_workers()) == WEB_WORKERS, 10))
    scene.note("unanswered per kill", len(scene.unanswered()) / scene.killed["web"])


@fault("F2")
def reload_and_restart(scene: Scene) -> None:
    """HUP every ten seconds, then TERM and a new start on the same socket"""
    for _ in scene.every(min(10.0, scene.seconds / 2)):
        scene.stack.web.process.send_signal(signal.SIGHUP)
    time.sleep(2)
    began = time.monotonic()
    scene.stack.stop_web()
    scene.note("TERM s", time.monotonic() - began)
    scene.stack.start_web()
    time.sleep(2)
    lost, asked = scene.unanswered(), scene.load.journal.asked
    scene.note("unanswered GET", sum(not item.writes for item in lost))
    writes = sum(item.writes for item in asked)
    scene.note("unanswered writes %", 100 * sum(item.writes for item in lost) / max(1, writes))


@fault("F15")
def slow_ones(scene: Scene) -> None:
    """500 clients that send a byte every five seconds, 200 that read one, and 100 uploads that never end"""
    calm = time.monotonic()
    time.sleep(BEFORE)
    slow = time.monotonic()
    met = slow_clients(scene.stack.site.secure)
    over = time.monotonic()
    scene.note("not cut", sum(item.left for item in met.values()))
    scene.note("cut after s", max(item.most for item in met.values()))
    before, beside = rate(scene, calm, slow), rate(scene, slow, over)
    scene.note("rate lost %", max(0.0, 100 * (1 - beside / max(before, 0.01))))
    scene.note("p99 beside / before", scene.p99(slow, over) / max(scene.p99(calm, slow), 25.0))


def rate(scene: Scene, since: float, until: float) -> float:
    good = sum(since <= item.at < until and 200 <= item.status < 500 for item in list(scene.load.journal.asked))
    return good / (until - since)
