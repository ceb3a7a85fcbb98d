"""Generates the documentation pages of errors, settings, metrics and state machines from the code."""

from pathlib import Path

import click
from flask import Flask
from flask.cli import AppGroup

from app import config
from app.core.errors import AppError
from app.core.metrics import Metric
from app.web import state_machine_docs

DOCS_DIR = Path(__file__).resolve().parents[2] / "docs"
docs_commands = AppGroup("docs", help="The generated pages of docs/.")

ERRORS_HEADER = """\
# Errors

All errors of the service. Clients branch on `shortMessage` and show `message`. `statusCode` is the HTTP status and two
more digits. `flask docs write` generates this page.

| shortMessage | statusCode | HTTP | message |
|---|---|---|---|
"""
SETTINGS_HEADER = """\
# Settings

Environment variables. The service reads and checks them once at startup, and does not start with an invalid value.
`flask docs write` generates this page.

| variable | default | meaning |
|---|---|---|
"""
METRICS_HEADER = """\
# Metrics

The metrics of `/metrics`; [observability.md](observability.md) explains how to read them. Counters, histograms and gauges
of processes are those of one node: add them up over all nodes. Metrics marked *computed* are the same on every node,
except those of the disk and the build: take their maximum. `flask docs write` generates this page.

| metric | kind | labels | meaning |
|---|---|---|---|
"""


def register_commands(app: Flask) -> None:
    """Add the commands to the application."""
    app.cli.add_command(docs_commands)


def render_errors_page() -> str:
    """Return the page of errors, sorted by number."""
    error_classes = [
        error_class for error_class in AppError.catalogue.values() if error_class.__module__.startswith("app.")
    ]
    sorted_classes = sorted(error_classes, key=lambda error_class: error_class.number)
    return ERRORS_HEADER + "".join(
        _format_table_row(f"`{error.code}`", f"`{error.number}`", str(error.status), error.message)
        for error in sorted_classes
    )


def render_settings_page() -> str:
    """Return the page of settings, in the order in which the code reads them."""
    return SETTINGS_HEADER + "".join(
        _format_table_row(f"`{name}`", default if " " in default or not default else f"`{default}`", meaning)
        for name, default, meaning in config.table()
    )


def render_metrics_page() -> str:
    """Return the page of metrics, sorted by name."""
    return METRICS_HEADER + "".join(
        _format_table_row(
            f"`{metric.name}`",
            metric.kind if metric.stored else "computed",
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
