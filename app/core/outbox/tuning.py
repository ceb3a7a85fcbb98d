"""Intervals and limits of the outbox. The service uses the defaults; fault tests use shorter ones."""

from dataclasses import dataclass

from flask import current_app

EXTENSION = "outbox_tuning"


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Seconds, except the counts. `time_limit` is far below `lease`, so a running job ends before its lease does."""

    lease: float = 60
    time_limit: float = 20
    wakeup_interval: float = 1
    expiry_interval: float = 15
    takeover_delay: float = 10
    backoff: float = 10
    backoff_cap: float = 3600
    batch: int = 25
    batch_seconds: float = 10
    max_lost: int = 5


def get_tuning() -> Tuning:
    """Return the tuning of this application."""
    tuning: Tuning | None = current_app.extensions.get(EXTENSION)
    return tuning or Tuning()
