"""Heartbeats of the relay and the workers, one row each, so that /ready needs no Redis."""

import os
import socket
from datetime import timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from app.core.db import db
from app.core.outbox.models import Heartbeat
from app.core.transaction import transaction

RELAY = "relay"
INTERVAL_SECONDS = 5.0
FRESH_SECONDS = 45.0


def worker_name() -> str:
    """Return `worker:<host>:<pid>`, the name of this process in heartbeats and attempts."""
    return f"worker:{socket.gethostname()}:{os.getpid()}"


def record_heartbeat(name: str) -> None:
    """Record that the process of this name is alive."""
    with transaction() as session:
        statement = insert(Heartbeat).values(name=name)
        session.execute(statement.on_conflict_do_update(index_elements=[Heartbeat.name], set_={"at": func.now()}))


def stop(name: str) -> None:
    """Delete the heartbeat of a process that ends normally."""
    with transaction() as session:
        session.execute(delete(Heartbeat).where(Heartbeat.name == name))


def relay_age() -> float | None:
    """Return the seconds since a relay's last heartbeat; None when there is none."""
    age = db.session.scalar(select(func.extract("epoch", func.now() - Heartbeat.at)).where(Heartbeat.name == RELAY))
    return None if age is None else float(age)


def workers_alive() -> int:
    """Return how many workers have had a heartbeat in the last 45 s."""
    is_alive = Heartbeat.name.like("worker:%"), Heartbeat.at > func.now() - timedelta(seconds=FRESH_SECONDS)
    return db.session.scalar(select(func.count()).select_from(Heartbeat).where(*is_alive)) or 0
