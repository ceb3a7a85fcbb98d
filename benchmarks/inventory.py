"""Stock: lists and searches among a thousand and a million items, adjustments, and sheets in and out.

Each size has an event of its own in one table, so the benchmarks stand in the order of its growth.
"""

from __future__ import annotations

import json
import os
import time
import urllib.request
from collections.abc import Callable
from decimal import Decimal
from hashlib import sha256

import psycopg
from sqlalchemy import make_url, text

from app.accounts.models import Account
from app.core.db import db
from app.inventory import queries
from app.inventory.item_fields import ATTRIBUTES
from app.inventory.reports import report_pdf, report_queries
from app.inventory.reports.parameters import build_report_parameters
from app.inventory.stock_import.importer import ImportOptions, import_rows
from app.inventory.stock_import.parser import STAGING_COLUMNS, parse_sheet
from benchmarks import processes
from benchmarks.accounts import tokens
from benchmarks.events import cost_against, share_remembered, tail_against_a_row
from benchmarks.outcome import Outcome, of_rounds
from benchmarks.registry import Benchmark, Load, benchmark
from benchmarks.seed_events import ORGANISER
from benchmarks.seed_inventory import seed_items, sheet, stock_event
from benchmarks.serving import Server
from benchmarks.stage import Stage

THOUSAND, HUNDRED_THOUSAND, MILLION = 1_000, 100_000, 1_000_000
BLOCK = 1024 * 1024
_events: dict[int, str] = {}
_memory: dict[str, float] = {}


def stocked(count: int) -> Callable[[Stage], None]:
    """Seeds an event with so many items."""

    def seed(stage: Stage) -> None:
        if count not in _events:
            with psycopg.connect(_url(stage)) as connection:
                event = stock_event(connection, count)
                seed_items(connection, event, count, first=10 * count)
            _events[count] = event

    return seed


def path(count: int) -> str:
    return f"/api/events/{_events[count]}/inventory"


def bearer() -> dict[str, str]:
    """The header of the organiser whose stock it is."""
    owner = db.session.get_one(Account, ORGANISER)
    found = {"Authorization": f"Bearer {tokens(owner)['access_token']}"}
    db.session.remove()
    return found


def share_of_copy_in(stage: Stage, it: Benchmark) -> Outcome:
    """The rows per second of an import as a share of those of COPY into the same table, indexes and all."""
    content = sheet(HUNDRED_THOUSAND)
    values = []
    for turn in range(max(1, stage.rounds // 2)):
        with psycopg.connect(_url(stage)) as connection:
            plain, measured = (stock_event(connection, 10 * turn + number + 1) for number in (0, 1))
        values.append(_copy_seconds(stage, content, plain) / _import_seconds(content, measured))
    note = f"{_memory['import']:.0f} MB at most, {_memory['rows']:,.0f} rows/s"
    return of_rounds(values, "of COPY", note=note)


def _copy_seconds(stage: Stage, content: bytes, event: str) -> float:
    """What PostgreSQL alone needs for the same rows, ready as they are."""
    rows = parse_sheet(content).spool.read().decode().splitlines()
    ready = "".join(
        f"{at:08x}{sha256(event.encode()).hexdigest()[:16]}\t{event}\t{row.partition(chr(9))[2]}\n"
        for at, row in enumerate(rows)
    ).encode()
    columns = ", ".join(("id", "event_id", *STAGING_COLUMNS[1:]))
    with psycopg.connect(_url(stage)) as connection, connection.cursor() as cursor:
        began = time.monotonic()
        with cursor.copy(f"COPY inventory_item ({columns}) FROM STDIN") as copy:
            copy.write(ready)
        connection.commit()
        return time.monotonic() - began


def _import_seconds(content: bytes, event: str) -> float:
    """An import in a process of its own, as a worker does it; its greatest memory is noted."""
    db.session.remove()
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        db.engine.dispose(close=False)
        found = import_rows(parse_sheet(content), ImportOptions(event, ORGANISER, sha256(content).digest()))
        os._exit(int(found.created != HUNDRED_THOUSAND))
    _, status, used = os.wait4(pid, 0)
    took = time.monotonic() - began
    if status:
        raise RuntimeError("the import failed")
    _memory["import"], _memory["rows"] = used.ru_maxrss / 1024, HUNDRED_THOUSAND / took
    return took


def seconds_on_paper(stage: Stage, it: Benchmark) -> Outcome:
    """How long a report takes in a process of its own, as a worker draws it; its greatest memory is noted."""
    event = queries.find_event_for_report(_events[THOUSAND])
    question = build_report_parameters(event.timezone, type="valuation", since=None, until=None, within_days=90)
    values = []
    for _ in range(stage.rounds):
        db.session.remove()
        began, pid = time.monotonic(), os.fork()
        if pid == 0:
            db.engine.dispose(close=False)
            found = json.loads(report_queries.load_report_json(event, question), parse_float=Decimal)
            os._exit(int(not report_pdf.draw_report(event, question, found).startswith(b"%PDF")))
        _, status, used = os.wait4(pid, 0)
        if status:
            raise RuntimeError("the report failed")
        values.append(time.monotonic() - began)
        _memory["report"] = used.ru_maxrss / 1024
    return of_rounds(values, "s", note=f"{_memory['report']:.0f} MB at most")


def share_of_copy_out(stage: Stage, it: Benchmark) -> Outcome:
    """The rows per second of an export over HTTP as a share of those of COPY TO."""
    values = []
    for _ in range(stage.rounds):
        plain = _copied_out(stage)
        values.append(plain / _exported(stage.service, HUNDRED_THOUSAND))
    return of_rounds(values, "of COPY TO", note=f"{HUNDRED_THOUSAND / plain:,.0f} rows/s by COPY TO")


def _copied_out(stage: Stage) -> float:
    with psycopg.connect(_url(stage), autocommit=True) as connection, connection.cursor() as cursor:
        began = time.monotonic()
        query = f"SELECT {', '.join(ATTRIBUTES)} FROM inventory_item WHERE event_id = '{_events[HUNDRED_THOUSAND]}'"
        with cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT csv)") as copy:
            for _ in copy:
                pass
        return time.monotonic() - began


def _exported(server: Server, count: int) -> float:
    began, lines = time.monotonic(), 0
    asked = urllib.request.Request(f"{server.address}{path(count)}/export.csv", headers=bearer())
    with urllib.request.urlopen(asked, timeout=300) as answer:
        while block := answer.read(BLOCK):
            lines += block.count(b"\n")
    assert lines == count + 1, lines
    return time.monotonic() - began


def export_memory(stage: Stage, it: Benchmark) -> Outcome:
    """What the greatest memory of a worker grows by when it exports a million items after a thousand."""
    with stage.another(WEB_WORKERS="1") as server:
        (worker,) = server.workers
        _exported(server, THOUSAND)
        before = processes.memory_mb(worker, "VmHWM")
        _exported(server, MILLION)
        return of_rounds([processes.memory_mb(worker, "VmHWM") - before], "MB more")


def _url(stage: Stage) -> str:
    url: str = stage.environment["DATABASE_URL"]
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


@benchmark("stock-adjust", goal=0.28, seed=stocked(THOUSAND))
def stock_adjust(stage: Stage) -> Load:
    """`POST adjust` on distinct items: two statements, the caller's and its own."""
    event = _events[THOUSAND]
    ids = db.session.scalars(text("SELECT id FROM inventory_item WHERE event_id = :event"), {"event": event}).all()
    db.session.remove()
    paths = [f"{path(THOUSAND)}/items/{id}/adjust" for id in ids]
    return Load(paths[0], method="POST", headers=bearer(), paths=paths, bodies=[{"delta": 0.001, "reason": "sold"}])


@benchmark("stock-list-1k", goal=0.20, seed=stocked(THOUSAND), measure=share_remembered("stock-list-1k"))
def stock_list_1k(stage: Stage) -> Load:
    """`GET inventory`, 20 of 1,000 items."""
    return Load(path(THOUSAND), headers=bearer())


@benchmark("stock-import", goal=0.2, measure=share_of_copy_in)
def stock_import(stage: Stage) -> Load:
    """A sheet of 100,000 rows, read, checked and written by a worker, under 300 MB."""
    return Load("/")


@benchmark("stock-export", goal=0.5, seed=stocked(HUNDRED_THOUSAND), measure=share_of_copy_out)
def stock_export(stage: Stage) -> Load:
    """`GET export.csv`, 100,000 items."""
    return Load("/")


@benchmark("stock-list-1m", goal=1.2, at_most=True, seed=stocked(MILLION), measure=cost_against("stock-list-1k"))
def stock_list_1m(stage: Stage) -> Load:
    """`GET inventory`, 20 of 1,000,000 items."""
    return Load(path(MILLION), headers=bearer())


@benchmark("stock-filter-1m", seed=stocked(MILLION), goal=1.5, at_most=True, measure=cost_against("stock-list-1k"))
def stock_filter_1m(stage: Stage) -> Load:
    """`GET inventory` by category and supplier, among 1,000,000 items."""
    found = ("category=beer", "supplier=Meatco", "storageLocation=Bar%20west", "batchNumber=B0031", "lowStock=false")
    paths = [f"{path(MILLION)}?{found[n % len(found)]}&limit=20" for n in range(5000)]
    return Load(paths[0], headers=bearer(), paths=paths)


@benchmark("stock-combined-1m", seed=stocked(MILLION), goal=5, at_most=True, measure=cost_against("stock-list-1k"))
def stock_combined_1m(stage: Stage) -> Load:
    """`GET inventory` by several filters at once and in other orders, among 1,000,000 items."""
    found = (
        "category=beer&supplier=Meatco",
        "category=beer&batchNumber=B0031",
        "expiringBefore=2027-02-01",
        "sort=sku&category=beer",
        "sort=-expiryDate&batchNumber=B0031",
        "sort=sku&unit=none",
        "q=lager&unit=case",
        "category=beer&lowStock=true",
        "sku=SKU-10000017",
    )
    paths = [f"{path(MILLION)}?{found[n % len(found)]}&limit=20" for n in range(5000)]
    return Load(paths[0], headers=bearer(), paths=paths)


@benchmark("stock-search-1m", seed=stocked(MILLION), goal=10, at_most=True, measure=tail_against_a_row)
def stock_search_1m(stage: Stage) -> Load:
    """`GET inventory?q=…` among 1,000,000 items: rare words and common ones."""
    words = ("lager", "rare1003", "kapana+meatco", "wristband+blue", "sku-10000017", "brotchen", "rare1071+biltong")
    paths = [f"{path(MILLION)}?q={words[n % len(words)]}&x={n}" for n in range(5000)]
    return Load(paths[0], headers=bearer(), paths=paths)


@benchmark("stock-export-memory", goal=20, at_most=True, measure=export_memory)
def stock_export_memory(stage: Stage) -> Load:
    """What a worker's memory grows by when it exports 1,000,000 items after 1,000."""
    return Load("/")


@benchmark("stock-report", goal=2, at_most=True, seed=stocked(THOUSAND), measure=seconds_on_paper)
def stock_report(stage: Stage) -> Load:
    """A valuation of 1,000 items on paper, drawn by a worker."""
    return Load("/")
