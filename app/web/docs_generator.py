"""Pages of the documentation that are made from the code: errors, settings, metrics, state machines."""

from pathlib import Path

import click
from flask import Flask
from flask.cli import AppGroup

from app import config
from app.core.errors import AppError
from app.core.metrics import Metric
from app.web import state_machine_docs

DOCS_DIR = Path(__file__).resolve().parents[2] / "docs"
docs_commands = AppGroup("docs", help="The pages of docs/ that are made from the code.")

ERRORS_HEADER = """\
# Errors

Every error the service can answer: branch on `shortMessage`, show `message`, look the rest up here. `statusCode` is
the HTTP status and two more digits. Made from the code by `flask docs write`.

| shortMessage | statusCode | HTTP | what it says |
|---|---|---|---|
"""
SETTINGS_HEADER = """\
# Settings

Environment variables, read once and checked before anything starts; a wrong one stops the start with a sentence.
Made from the code by `flask docs write`.

| variable | default | meaning |
|---|---|---|
"""
METRICS_HEADER = """\
# Metrics

What `/metrics` tells; [observability.md](observability.md) says how to read it. Counters, histograms and the gauges of
processes are those of the node that is asked: add them up over nodes. Figures marked *looked up* are the same whichever
node is asked, but for the disk's and the build: take their maximum. Made from the code by `flask docs write`.

| metric | kind | labels | what it tells |
|---|---|---|---|
"""


def register_commands(app: Flask) -> None:
    app.cli.add_command(docs_commands)


def render_errors_page() -> str:
    """The table of errors, by status and number."""
    error_classes = [
        error_class for error_class in AppError.catalogue.values() if error_class.__module__.startswith("app.")
    ]
    sorted_classes = sorted(error_classes, key=lambda error_class: error_class.number)
    return ERRORS_HEADER + "".join(
        _format_table_row(f"`{error.code}`", f"`{error.number}`", str(error.status), error.message)
        for error in sorted_classes
    )


def render_settings_page() -> str:
    """The table of settings, in the order in which the code reads them."""
    return SETTINGS_HEADER + "".join(
        _format_table_row(f"`{name}`", default if " " in default or not default else f"`{default}`", meaning)
        for name, default, meaning in config.table()
    )


def render_metrics_page() -> str:
    """The table of metrics, by name."""
    return METRICS_HEADER + "".join(
        _format_table_row(
            f"`{metric.name}`",
            metric.kind if metric.stored else "looked up",
            ", ".join(map("`{}`".format, metric.labels)),
            metric.help,
        )
        for metric in sorted(Metric.catalogue.values(), key=lambda registered_metric: registered_metric.name)
    )


PAGE_RENDERERS = {
    "errors.md": render_errors_page,
    "settings.md": render_settings_page,
    "metrics.md": render_metrics_page,
    "state-machines.md": state_machine_docs.render_state_machines_page,
}


@docs_commands.command("write")
def write_pages() -> None:
    """Write docs/errors.md, docs/settings.md, docs/metrics.md and docs/state-machines.md."""
    for name, render_page in PAGE_RENDERERS.items():
        (DOCS_DIR / name).write_text(render_page())
        click.echo(f"docs/{name}")


def _format_table_row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"
