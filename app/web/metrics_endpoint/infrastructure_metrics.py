"""Metrics of Redis, the circuit breaker of the payment rail, the disk and the build."""

import platform
import shutil
from pathlib import Path

from redis.exceptions import RedisError

from app.clients.payrail import rail
from app.config import Settings
from app.core import migrations
from app.core.metrics import ComputedGauge
from app.core.metrics.exposition import Numbers
from app.core.outbox.wakeup import get_wakeup_queue

BUILD_INFO = ComputedGauge(
    "commerce_build_info",
    "Always 1. The labels are the migration that the code expects and the version of Python.",
    ("schema", "python"),
)
REDIS_UP = ComputedGauge("commerce_redis_up", "1 if Redis responds, otherwise 0.")
WAKEUPS_WAITING = ComputedGauge(
    "commerce_bells_waiting", "Wakeups that no worker has taken yet; more than sixteen have no use."
)
BREAKER_STATE = ComputedGauge(
    "commerce_rail_breaker_state",
    "The circuit breaker of the payment rail: 0 closed, 1 half open, 2 open.",
)
DISK_FREE = ComputedGauge("commerce_disk_free_bytes", "Bytes that this service may still use on the disk of DATA_DIR.")
DISK_SIZE = ComputedGauge("commerce_disk_size_bytes", "Size of the disk of DATA_DIR.")
BREAKER_STATE_NUMBERS = {"closed": 0.0, "half_open": 1.0, "open": 2.0}


def read_infrastructure_metrics(settings: Settings) -> Numbers:
    """Return these metrics, without those of a service that does not respond."""
    return {
        BUILD_INFO.name: {(migrations.head(), platform.python_version()): 1.0},
        **_read_redis(),
        **_read_breaker(),
        **_read_disk(settings.DATA_DIR),
    }


def _read_redis() -> Numbers:
    try:
        wakeup_count = get_wakeup_queue().queue.count
    except (RedisError, OSError):
        return {REDIS_UP.name: {(): 0.0}}
    return {REDIS_UP.name: {(): 1.0}, WAKEUPS_WAITING.name: {(): float(wakeup_count)}}


def _read_breaker() -> Numbers:
    state = rail().breaker_state()
    return {} if state is None else {BREAKER_STATE.name: {(): BREAKER_STATE_NUMBERS[state]}}


def _read_disk(folder: Path) -> Numbers:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return {}
    return {DISK_FREE.name: {(): float(usage.free)}, DISK_SIZE.name: {(): float(usage.total)}}
