"""The table that a run prints, which is Markdown as well."""

from __future__ import annotations

from benchmarks.outcome import Outcome, Run
from benchmarks.registry import Benchmark

HEAD = (
    "benchmark",
    "requests/s",
    "p50 / p95 / p99 ms",
    "CPU ms: server + PostgreSQL",
    "others",
    "compared",
    "goal",
    "",
)


def row(it: Benchmark, found: Outcome) -> tuple[str, ...]:
    """The cells of one benchmark."""
    served = _served(found.run)
    places = 1 if it.goal >= 10 else 2
    compared = f"{found.value:.{places}f} {found.unit}"
    if found.least != found.most:
        compared += f" ({found.least:.{places}f} to {found.most:.{places}f})"
    if found.note:
        compared += f"; {found.note}"
    goal = f"{'≤' if it.at_most else '≥'} {it.goal:g}"
    return it.name, *served, compared, goal, "met" if it.met(found.value) else "MISSED"


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows under each other, columns aligned."""
    lines = [HEAD, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    shown = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    return "\n".join([shown[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *shown[1:]])


def _served(run: Run | None) -> tuple[str, str, str, str]:
    if run is None:
        return "", "", "", ""
    latency = f"{run.p50:.2f} / {run.p95:.2f} / {run.p99:.2f}"
    cpu = "" if run.server_cpu is None else f"{run.server_cpu:.2f} + {run.database_cpu:.2f}"
    return f"{run.rate:,.0f}", latency, cpu, f"{run.others or 0:.0%}"
