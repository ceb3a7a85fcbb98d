"""F5 to F8: Redis and PostgreSQL stopped, emptied, filled, restarted, cut off."""

import os
import signal
import time
from pathlib import Path

import psycopg
from sqlalchemy import text

from app.core.db import db
from tests.faults.suite.plan import fault
from tests.faults.suite.request_log import Mouth, Request
from tests.faults.suite.scenario import Scene
from tests.faults.suite.stack import WEB_THREADS, WEB_WORKERS

BEFORE, DOWN = 4.0, 2.5
OTHERS = 3
"""Threads of a web worker besides those that serve: the main one, the one of /ready, one of streams."""
READY = Request("GET", "/ready")
CODES = """
    SELECT coalesce(max(extract(epoch FROM coalesce(done_at, now()) - created_at)), 0) FROM outbox
     WHERE kind = 'accounts.mail_code' AND created_at > now() - make_interval(secs => :ago)"""
OURS = """
    SELECT pid FROM pg_stat_activity
     WHERE datname = 'app' AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""


@fault("F5")
def redis_away(scene: Scene) -> None:
    """Redis stopped"""
    calm = time.monotonic()
    time.sleep(BEFORE)
    gone = time.monotonic()
    scene.stack.redis.kill()
    time.sleep(scene.long)
    back = time.monotonic()
    with db.engine.connect() as connection:
        scene.note("codes delivered after s", float(connection.execute(text(CODES), {"ago": back - gone}).scalar_one()))
    scene.stack.redis.start()
    scene.note("not ready", sum(look.ready != 200 for look in scene.watch.since(gone)))
    added = scene.p99(gone + 1, back, writes=True) - scene.p99(calm, gone, writes=True)
    scene.note("p99 of writes added ms", max(0.0, added))


@fault("F6")
def redis_loses_all(scene: Scene) -> None:
    """Redis emptied, killed without having kept anything, and full"""
    redis = scene.stack.redis
    for turn in scene.every(max(3.0, scene.seconds / 6)):
        if turn % 3 == 0:
            redis.client.flushall()
        elif turn % 3 == 1:
            redis.kill()
            redis.start()
        else:
            redis.client.config_set("maxmemory", 1)
            time.sleep(2)
            redis.client.config_set("maxmemory", 0)
        scene.killed["redis"] += 1


@fault("F7")
def postgresql_restarts(scene: Scene) -> None:
    """PostgreSQL stopped at once and started again, a backend killed by -9, all connections cut, in turn"""
    mouth = Mouth(scene.stack.site.secure, source="127.0.0.8", seconds=10)
    for turn in scene.every(max(6.0, scene.seconds / 10)):
        if turn % 3 == 0:
            stopped_at_once(scene, mouth)
        elif turn % 3 == 1:
            kill_a_backend(scene)
        else:
            cut_the_pool(scene)
        scene.killed["stack"] += 1
    mouth.close()


def stopped_at_once(scene: Scene, mouth: Mouth) -> None:
    """Away for a moment; how soon that is told, and how soon it is over."""
    scene.stack.database.crash()
    scene.note("told 503 after s", scene.seconds_until(lambda: mouth.send(READY).status == 503, 5))
    time.sleep(DOWN)
    scene.stack.database.start()
    scene.note("ready after accepting s", scene.seconds_until(lambda: mouth.send(READY).status == 200, 30))


def kill_a_backend(scene: Scene) -> None:
    """PostgreSQL itself ends all others then, and recovers."""
    with psycopg.connect(scene.stack.database.plain_url, autocommit=True) as connection:
        pids = [pid for (pid,) in connection.execute(OURS)]
    if pids:
        os.kill(scene.dice.choice(pids), signal.SIGKILL)


def cut_the_pool(scene: Scene) -> None:
    with psycopg.connect(scene.stack.database.plain_url, autocommit=True) as connection:
        connection.execute(f"SELECT pg_terminate_backend(pid) FROM ({OURS}) found")


@fault("F8")
def postgresql_down(scene: Scene) -> None:
    """PostgreSQL down"""
    stack = scene.stack
    mouth = Mouth(stack.site.secure, source="127.0.0.8", seconds=10)
    time.sleep(2)
    # gunicorn makes its threads as they are needed; that is no leak.
    threads = max(threads_of(stack.web_workers()), WEB_WORKERS * (WEB_THREADS + OTHERS))
    stack.database.crash()
    gone = time.monotonic()
    time.sleep(scene.long)
    back = time.monotonic()
    scene.note("threads added", max(0, threads_of(stack.web_workers()) - threads))
    stack.database.start()
    scene.note("ready after accepting s", scene.seconds_until(lambda: mouth.send(READY).status == 200, 30))
    meanwhile = [item for item in list(scene.load.journal.asked) if item.writes and gone + 1 <= item.at <= back - 4]
    scene.note("slowest refusal s", max((item.seconds for item in meanwhile), default=0.0))
    scene.note("writes not refused", sum(item.status != 503 for item in meanwhile))
    scene.note("health not 200", sum(look.health != 200 for look in scene.watch.since(gone)))
    scene.killed["stack"] += 1
    mouth.close()


def threads_of(pids: list[int]) -> int:
    """How many threads these processes have."""
    return sum(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in pids)
