"""Benchmarks say what they measure and what is good enough. How fast anything is, no test asks."""

from pathlib import Path

import pytest

from benchmarks import registry
from benchmarks.outcome import Outcome, Run, of_rounds
from benchmarks.registry import Benchmark, Load, registered
from benchmarks.table import row, table

FOLDER = Path(registry.__file__).parent
MACHINERY = {
    "__main__",
    "bare",
    "comparing",
    "outcome",
    "pgbench",
    "processes",
    "registry",
    "rush",
    "serving",
    "stage",
    "table",
    "wrk",
}
SEEDS = {"seed_allocations", "seed_campaigns", "seed_events", "seed_inventory"}


@pytest.mark.parametrize("it", registered().values(), ids=list(registered()))
def test_every_benchmark_has_a_goal_and_says_what_it_measures(it: Benchmark) -> None:
    assert it.goal > 0
    assert it.doc.endswith(".") and len(it.doc) < 120


def test_every_area_is_found() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")} - MACHINERY - SEEDS - {"__init__"}
    assert files == set(registry.AREAS)


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
