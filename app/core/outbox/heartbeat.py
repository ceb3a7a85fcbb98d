"""Who lives: the relay and the workers say so in a row each, so that /ready can tell without Redis."""

import os
import socket

from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction

RELAY = "relay"
EVERY = 5.0
FRESH = 45.0
BEAT = text("""
    INSERT INTO heartbeat (name) VALUES (:name)
    ON CONFLICT (name) DO UPDATE SET at = now()
""")
AGE = text("SELECT extract(epoch FROM now() - at) FROM heartbeat WHERE name = :name")
ALIVE = text("""
    SELECT count(*) FROM heartbeat WHERE name LIKE 'worker:%' AND at > now() - make_interval(secs => :fresh)
""")
STOP = text("DELETE FROM heartbeat WHERE name = :name")


def worker_name() -> str:
    """`worker:<host>:<pid>`: this process, in heartbeats and in the list of attempts."""
    return f"worker:{socket.gethostname()}:{os.getpid()}"


def record_heartbeat(name: str) -> None:
    """This process lives."""
    with transaction() as session:
        session.execute(BEAT, {"name": name})


def stop(name: str) -> None:
    """This process ends as it should; nobody need wonder where it is."""
    with transaction() as session:
        session.execute(STOP, {"name": name})


def relay_age() -> float | None:
    """Seconds since a relay last went round; None when none ever has."""
    age = db.session.execute(AGE, {"name": RELAY}).scalar()
    return None if age is None else float(age)


def workers_alive() -> int:
    """How many workers have been heard of in the last 45 s."""
    return int(db.session.execute(ALIVE, {"fresh": FRESH}).scalar() or 0)
