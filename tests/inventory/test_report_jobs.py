"""Reports on paper: once for many who ask at once, whole or not at all when a worker dies, and small in memory."""

import os
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core import throttle
from app.core.db import db
from app.core.outbox.executor import run_due_jobs
from app.core.outbox.lease import expire_leases
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction
from tests.factories.inventory import Stock, build_csv
from tests.http import Client, data
from tests.races import run_concurrently
from tests.waiting import wait_for_exit, wait_until

ACTION = import_module("app.inventory.actions.reports")
CALLERS = 64
MEBIBYTES = 300
KILLS = int(os.environ.get("REPORT_KILLS", "2"))
SLOW = """
import time
from app.inventory.reports import report_pdf
drawn = report_pdf.draw_report
report_pdf.draw_report = lambda *arguments, **options: (drawn(*arguments, **options), time.sleep(60))
"""


def number(statement: str) -> int:
    with transaction() as session:
        return int(session.scalar(text(statement)) or 0)


def ask(stock: Stock, kind: str = "valuation") -> dict[str, Any]:
    return data(stock.owner.get(f"{stock.path}/reports?type={kind}&format=pdf"), 202)


def ask_at_once(stock: Stock, app: Flask) -> set[str]:
    def one(_: int) -> str:
        with app.app_context():
            fresh = Client(app.test_client(), stock.owner.headers)
            return str(data(fresh.get(f"{stock.path}/reports?type=valuation&format=pdf"), 202)["jobId"])

    return set(run_concurrently(CALLERS, one))


def test_of_sixty_four_who_ask_the_same_all_get_one_job(client: Client, app: Flask) -> None:
    stock = Stock(client)
    assert len(ask_at_once(stock, app)) == 1
    assert number("SELECT count(*) FROM outbox WHERE kind = 'inventory.report'") == 1


@pytest.mark.control
def test_without_the_counted_row_there_would_be_more(
    client: Client, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "hit", lambda *_: SimpleNamespace(exceeded=False, seconds=1))
    assert len(ask_at_once(Stock(client), app)) > 1


def worker(app: Flask, folder: Path, before: str = "") -> subprocess.Popen[bytes]:
    """A worker's process, with something done to it before it begins."""
    settings = app.extensions["settings"]
    said = f"""
from app import create_app
{before}
from app.core.outbox.executor import run_due_jobs
with create_app().app_context():
    run_due_jobs(worker="killed")
"""
    environment = {
        **os.environ,
        "DATABASE_URL": settings.DATABASE_URL,
        "REDIS_URL": settings.REDIS_URL,
        "DATA_DIR": str(folder),
        "APP_ENV": "development",
    }
    return subprocess.Popen([sys.executable, "-c", said], env=environment)


def progress() -> int:
    """How far the job is that has not ended."""
    db.session.remove()
    return number("SELECT max(progress) FROM inventory_job WHERE status <> 'done'")


@pytest.mark.slow
def test_a_worker_that_is_killed_leaves_no_half_file_and_another_draws_the_same(
    client: Client, app: Flask, tmp_path: Path
) -> None:
    stock = Stock(client)
    data(stock.sheet(build_csv(*(f"S-{n},Item {n},1,1,1,{n % 9},0,0" for n in range(200)))))
    for _ in range(KILLS):
        job = ask(stock)
        process = worker(app, tmp_path, SLOW)
        wait_until(lambda: progress() >= 50)
        process.send_signal(signal.SIGKILL)
        wait_for_exit(process)
        left = data(stock.owner.get(f"{stock.path}/reports?jobId={job['jobId']}"))
        assert left["status"] == "running" and 50 <= left["progress"] < 100 and "downloadUrl" not in left
        assert number("SELECT count(*) FROM inventory_job WHERE file IS NOT NULL AND status <> 'done'") == 0
        with transaction() as session:
            session.execute(text("UPDATE outbox SET lease_until = now() - interval '1 s' WHERE state = 'leased'"))
        assert expire_leases(get_tuning()) == 1
        run_due_jobs(worker="test")
        done = data(stock.owner.get(f"{stock.path}/reports?jobId={job['jobId']}"))
        assert (done["status"], done["result"]) == ("done", {"rows": 200})
        again = ask(stock)
        run_due_jobs(worker="test")
        other = data(stock.owner.get(f"{stock.path}/reports?jobId={again['jobId']}"))
        first, second = (client.get(item["downloadUrl"]).get_data() for item in (done, other))
        assert first == second and first.rstrip().endswith(b"%%EOF")


MEASURED = """
import json, re
from datetime import UTC, datetime
from decimal import Decimal
from app import create_app
from app.inventory import queries
from app.inventory.reports import report_pdf, report_queries
from app.inventory.reports.parameters import build_report_parameters
with create_app().app_context():
    event = queries.find_event_for_report("{event}")
    question = build_report_parameters(event.timezone, type="valuation", since=None, until=None, within_days=90,
                     now=datetime.now(UTC))
    found = json.loads(report_queries.load_report_json(event, question, row_limit=10_000), parse_float=Decimal)
    told = []
    data = report_pdf.draw_report(event, question, found, on_progress=told.append)
    assert len(told) > 10 and told == sorted(told), told
    print(data.count(b"/Type /Page"), re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_ten_thousand_items_on_paper_need_little_memory(client: Client, app: Flask, tmp_path: Path) -> None:
    stock = Stock(client)
    for part in range(10):
        lines = (f"S-{part}-{n},Windhoek Lager 330 ml {n},1,1,1,{n % 9},0,0" for n in range(1000))
        data(stock.sheet(build_csv(*lines)))
    settings = app.extensions["settings"]
    environment = {
        **os.environ,
        "DATABASE_URL": settings.DATABASE_URL,
        "REDIS_URL": settings.REDIS_URL,
        "DATA_DIR": str(tmp_path),
        "APP_ENV": "development",
    }
    said = subprocess.run(
        [sys.executable, "-c", MEASURED.format(event=stock.event["id"])],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr[-2000:]
    found = re.search(r"(\d+) (\d+)$", said.stdout.strip())
    assert found, said.stdout[-500:]
    assert int(found[1]) > 200
    assert int(found[2]) / 1024 < MEBIBYTES
