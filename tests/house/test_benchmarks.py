"""Benchmarks say what they measure and what is good enough, and their requests succeed. No test asks how fast."""

from pathlib import Path

import pytest
from flask import Flask

from benchmarks import layers, registry
from benchmarks.outcome import Outcome, Run, of_rounds
from benchmarks.registry import Benchmark, Load, registered
from benchmarks.serving import Server
from benchmarks.stage import Stage
from benchmarks.table import row, table
from tests.http import Client

FOLDER = Path(registry.__file__).parent
MACHINERY = {
    "__main__",
    "bare",
    "calls",
    "comparing",
    "layers",
    "migrations",
    "neighbour",
    "outcome",
    "pgbench",
    "processes",
    "registry",
    "rush",
    "sampling",
    "serving",
    "stage",
    "table",
    "wrk",
}
SEEDS = {"seed_allocations", "seed_campaigns", "seed_events", "seed_inventory"}
QUICK = (
    *("me", "refresh", "admit", "claim-storm", "discover-1k", "inventory", "inventory-hot", "event", "discover-hot"),
    *("discover-304", "stock-adjust", "payouts", "availability", "broadcast"),
)


@pytest.mark.parametrize("it", registered().values(), ids=list(registered()))
def test_every_benchmark_has_a_goal_and_says_what_it_measures(it: Benchmark) -> None:
    assert it.goal > 0
    assert it.doc.endswith(".") and len(it.doc) < 120


def test_every_area_is_found() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")} - MACHINERY - SEEDS - {"__init__"}
    assert files == set(registry.AREAS)


def test_a_sample_counts_for_the_innermost_layer_of_its_stack() -> None:
    gunicorn, flask = "handle (/venv/gunicorn/workers/gthread.py:1)", "wsgi_app (/venv/flask/app.py:1)"
    query = ["authorise (/x/app/web/access.py:1)", "find_caller (/x/app/accounts/queries.py:1)"]
    driver = ["fetch_row (/x/app/core/db.py:1)", "execute (/venv/psycopg/cursor.py:1)"]
    counted = layers.count_layers(
        [
            ";".join([gunicorn, flask, *query, *driver]) + " 7",
            ";".join([gunicorn, flask, *query[:1]]) + " 2",
            f"{gunicorn} 4",
            "main (/venv/bin/other.py:1) 1",
        ]
    )
    assert counted == {"session query": 7, "token": 2, "gunicorn": 4, "other": 1}
    table = layers.format_table({"me": {"gunicorn": 200.4, "token": 30.0, "parse": 0.2}})
    assert "| token | 30 |\n" in table and "parse" not in table and table.endswith("| **together** | 231 |")


def test_two_benchmarks_cannot_share_a_name() -> None:
    with pytest.raises(ValueError, match="health"):
        registry.benchmark("health", goal=1)(lambda stage: Load("/"))


def test_the_table_tells_which_goals_are_missed() -> None:
    it = registered()["health"]
    run = Run(rate=4000, p50=1.5, p95=3, p99=5, server_cpu=0.3, database_cpu=0, others=0.02)
    rows = [row(it, of_rounds([0.9, 0.95, 0.5], "of bare", [run])), row(it, Outcome(0.2, 0.2, 0.2, "of bare"))]
    shown = table(rows).splitlines()
    assert "0.90 of bare (0.50 to 0.95)" in shown[2] and "| met " in shown[2]
    assert "MISSED" in shown[3]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_the_first_request_of_a_benchmark_succeeds(app: Flask, client: Client, tmp_path: Path, name: str) -> None:
    """Each alone, on an empty database."""
    environment = {"DATABASE_URL": app.extensions["settings"].DATABASE_URL}
    nobody = Server("http://127.0.0.1:9", 0, 0)
    stage = Stage(app, environment, tmp_path, nobody, nobody, None, 0, 1, 1, 1, 0)
    it = registered()[name]
    if it.seed:
        it.seed(stage)
    load = it.prepare(stage)
    token = {"Authorization": f"Bearer {load.tokens[0]}"} if load.tokens else {}
    response = client.flask.open(
        load.paths[0] if load.paths else load.path,
        method=load.method,
        headers={**load.headers, **token},
        json=load.bodies[0] if load.bodies else None,
    )
    assert response.status_code < 400, response.text
