"""The worker and the relay as a service manager starts and stops them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from flask import Flask
from sqlalchemy import select

from app.core.db import db
from app.core.outbox import Outbox, heartbeat
from app.worker import NICE
from tests.waiting import wait_for_exit, wait_until

RELAY = [sys.executable, "-m", "flask", "--app", "wsgi", "relay"]
WORKER = [sys.executable, "-m", "flask", "--app", "wsgi", "worker"]


def test_relay_and_worker_run_recurring_jobs_and_stop_on_sigterm(app: Flask, tmp_path: Path) -> None:
    settings = app.extensions["settings"]
    environment = {
        **os.environ,
        "DATABASE_URL": settings.DATABASE_URL,
        "REDIS_URL": settings.REDIS_URL,
        "DATA_DIR": str(tmp_path),
        "APP_ENV": "development",
    }
    running = [subprocess.Popen(argv, env=environment) for argv in (RELAY, WORKER)]
    try:
        wait_until(housekeeping_is_done)
        assert (heartbeat.relay_age() or 0) < 30
        assert heartbeat.workers_alive() == 1
        if sys.platform == "linux":
            relay, worker = (os.getpriority(os.PRIO_PROCESS, process.pid) for process in running)
            assert (relay, worker) == (os.getpriority(os.PRIO_PROCESS, 0), NICE)
        for process in running:
            process.send_signal(signal.SIGTERM)
        assert [wait_for_exit(process) for process in running] == [0, 0]
    finally:
        for process in running:
            process.kill()
    db.session.remove()
    assert heartbeat.workers_alive() == 0


def housekeeping_is_done() -> bool:
    db.session.remove()
    done = select(Outbox.id).where(Outbox.kind == "outbox.housekeeping", Outbox.state == "done")
    return db.session.execute(done).first() is not None
