"""A small import is part of a web request: it waits for a lock as long as any other request, and no longer."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.core.db import db, transaction_engine
from app.core.outbox.executor import run_due_jobs
from app.core.transaction import lock_name
from app.events.ticket_import_sql import PATIENCE
from app.inventory.actions import imports
from app.inventory.stock_import import importer
from tests.factories.inventory import Stock, build_csv
from tests.http import Client, data, read_error
from tests.timing import assert_in_time

CANCEL = text("SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
SHEET = build_csv("A,Lager,1,1,1,5,0,0")


@contextmanager
def importing(stock: Stock) -> Iterator[None]:
    """Another import into the same event takes its time."""
    db.session.remove()
    with Session(transaction_engine(db.engine)) as other:
        lock_name(other, f"inventory-import:{stock.event['id']}")
        yield
        other.rollback()


def test_a_small_import_waits_three_seconds_for_another(client: Client) -> None:
    stock = Stock(client)
    for query in ({}, {"dryRun": "true"}):
        with importing(stock):
            started = time.monotonic()
            answer = stock.sheet(SHEET, **query)
            took = time.monotonic() - started
        assert answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0
        assert read_error(answer)[1] == "BUSY"
        assert_in_time(2.5 < took < 6)
    assert data(stock.sheet(SHEET))["created"] == 1


def test_a_small_import_changes_no_limit_of_its_connection(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, str] = {}
    written = importer._plan_and_write

    def look(session, *plan):  # type: ignore[no-untyped-def]
        for name in ("lock_timeout", "statement_timeout"):
            seen[name] = session.scalar(text(f"SHOW {name}"))
        return written(session, *plan)

    monkeypatch.setattr(importer, "_plan_and_write", look)
    stock = Stock(client)
    data(stock.sheet(SHEET))
    assert seen == {"lock_timeout": "3s", "statement_timeout": "10s"}
    monkeypatch.setattr(imports, "MAX_SYNC_ROWS", 0)
    data(stock.sheet(SHEET), 202)
    run_due_jobs(worker="test")
    assert seen == {"lock_timeout": "1min", "statement_timeout": "10min"}


@pytest.mark.control
def test_with_the_limits_of_a_job_a_request_would_wait_longer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    write = imports.import_rows
    monkeypatch.setattr(
        imports, "import_rows", lambda *given, **options: write(*given, **{**options, "limit_statements": PATIENCE})
    )
    stock = Stock(client)
    cancelled: list[int] = []
    with importing(stock), db.engine.connect() as watcher:
        timer = Timer(4.5, lambda: cancelled.extend(watcher.scalars(CANCEL)))
        timer.start()
        assert stock.sheet(SHEET).status_code == 503
        timer.join()
    assert cancelled == [True], "it was still waiting"
