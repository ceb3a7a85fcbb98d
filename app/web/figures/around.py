"""Figures from around the database: Redis, the payment rail's breaker, the disk, and which version this is."""

import platform
import shutil
from pathlib import Path

from redis.exceptions import RedisError

from app.clients.payrail import rail
from app.config import Settings
from app.core import migrations
from app.core.metrics import Figure
from app.core.metrics.summing import Numbers
from app.core.outbox.bell import bell

BUILD = Figure(
    "commerce_build_info", "Always 1: the migration that this code expects, and the Python.", ("schema", "python")
)
REDIS = Figure("commerce_redis_up", "1 when Redis answered this question.")
BELLS = Figure("commerce_bells_waiting", "Bells that no worker has answered yet; sixteen at most are useful.")
BREAKER = Figure("commerce_rail_breaker_state", "Of the payment rail: 0 closed, 1 trying, 2 open. Live mode only.")
FREE = Figure("commerce_disk_free_bytes", "Free for this service where DATA_DIR is.")
SIZE = Figure("commerce_disk_size_bytes", "The disk on which DATA_DIR is.")
STATES = {"closed": 0.0, "half_open": 1.0, "open": 2.0}


def asked(settings: Settings) -> Numbers:
    """What they say; whoever does not answer is left out."""
    return {
        BUILD.name: {(migrations.head(), platform.python_version()): [1.0]},
        **_redis(),
        **_breaker(),
        **_disk(settings.DATA_DIR),
    }


def _redis() -> Numbers:
    try:
        waiting = bell().queue.count
    except (RedisError, OSError):
        return {REDIS.name: {(): [0.0]}}
    return {REDIS.name: {(): [1.0]}, BELLS.name: {(): [float(waiting)]}}


def _breaker() -> Numbers:
    state = rail().breaker_state()
    return {} if state is None else {BREAKER.name: {(): [STATES[state]]}}


def _disk(folder: Path) -> Numbers:
    try:
        found = shutil.disk_usage(folder)
    except OSError:
        return {}
    return {FREE.name: {(): [float(found.free)]}, SIZE.name: {(): [float(found.total)]}}
