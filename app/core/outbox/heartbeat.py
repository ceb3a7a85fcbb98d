"""Heartbeats of the relay and the workers, one row each, so that /ready needs no Redis."""

import os
import socket

from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction

RELAY = "relay"
EVERY = 5.0
FRESH = 45.0
RECORD = text("""
    INSERT INTO heartbeat (name) VALUES (:name)
    ON CONFLICT (name) DO UPDATE SET at = now()
""")
AGE = text("SELECT extract(epoch FROM now() - at) FROM heartbeat WHERE name = :name")
ALIVE = text("""
    SELECT count(*) FROM heartbeat WHERE name LIKE 'worker:%' AND at > now() - make_interval(secs => :fresh)
""")
DELETE = text("DELETE FROM heartbeat WHERE name = :name")


def worker_name() -> str:
    """Return `worker:<host>:<pid>`, the name of this process in heartbeats and attempts."""
    return f"worker:{socket.gethostname()}:{os.getpid()}"


def record_heartbeat(name: str) -> None:
    """Record that the process of this name is alive."""
    with transaction() as session:
        session.execute(RECORD, {"name": name})


def stop(name: str) -> None:
    """Delete the heartbeat of a process that ends normally."""
    with transaction() as session:
        session.execute(DELETE, {"name": name})


def relay_age() -> float | None:
    """Return the seconds since a relay's last heartbeat; None when there is none."""
    age = db.session.execute(AGE, {"name": RELAY}).scalar()
    return None if age is None else float(age)


def workers_alive() -> int:
    """Return how many workers have had a heartbeat in the last 45 s."""
    return int(db.session.execute(ALIVE, {"fresh": FRESH}).scalar() or 0)
