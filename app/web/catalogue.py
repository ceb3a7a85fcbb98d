"""Pages of the documentation that are made from the code: errors, settings, metrics, state machines."""

from pathlib import Path

import click
from flask import Flask
from flask.cli import AppGroup

from app import config
from app.core.errors import AppError
from app.core.metrics import Metric
from app.web import machines

FOLDER = Path(__file__).resolve().parents[2] / "docs"
docs = AppGroup("docs", help="The pages of docs/ that are made from the code.")

ERRORS = """\
# Errors

Every error the service can answer: branch on `shortMessage`, show `message`, look the rest up here. `statusCode` is
the HTTP status and two more digits. Made from the code by `flask docs write`.

| shortMessage | statusCode | HTTP | what it says |
|---|---|---|---|
"""
SETTINGS = """\
# Settings

Environment variables, read once and checked before anything starts; a wrong one stops the start with a sentence.
Made from the code by `flask docs write`.

| variable | default | meaning |
|---|---|---|
"""
METRICS = """\
# Metrics

What `/metrics` tells; [observability.md](observability.md) says how to read it. Counters, histograms and the gauges of
processes are those of the node that is asked: add them up over nodes. Figures marked *looked up* are the same whichever
node is asked, but for the disk's and the build: take their maximum. Made from the code by `flask docs write`.

| metric | kind | labels | what it tells |
|---|---|---|---|
"""


def register(app: Flask) -> None:
    app.cli.add_command(docs)


def errors_page() -> str:
    """The table of errors, by status and number."""
    ours = [item for item in AppError.catalogue.values() if item.__module__.startswith("app.")]
    entries = sorted(ours, key=lambda item: item.number)
    return ERRORS + "".join(_row(f"`{it.code}`", f"`{it.number}`", str(it.status), it.message) for it in entries)


def settings_page() -> str:
    """The table of settings, in the order in which the code reads them."""
    return SETTINGS + "".join(
        _row(f"`{name}`", default if " " in default or not default else f"`{default}`", meaning)
        for name, default, meaning in config.table()
    )


def metrics_page() -> str:
    """The table of metrics, by name."""
    return METRICS + "".join(
        _row(f"`{it.name}`", it.kind if it.stored else "looked up", ", ".join(map("`{}`".format, it.labels)), it.help)
        for it in sorted(Metric.catalogue.values(), key=lambda item: item.name)
    )


PAGES = {
    "errors.md": errors_page,
    "settings.md": settings_page,
    "metrics.md": metrics_page,
    "state-machines.md": machines.page,
}


@docs.command("write")
def write() -> None:
    """Write docs/errors.md, docs/settings.md, docs/metrics.md and docs/state-machines.md."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())
        click.echo(f"docs/{name}")


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"
