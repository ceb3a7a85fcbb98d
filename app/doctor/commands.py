"""`flask doctor`: runs all checks, in the order in which they depend on each other."""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import click
from flask import Flask, current_app
from flask.cli import with_appcontext

from app.config import Settings
from app.doctor import database_checks, external_checks, host_checks, pooler_checks, settings_checks, worker_checks
from app.doctor.results import FAIL, OK, STATES, WARN, Finding, Findings, fail, format_error

COLOURS = {OK: "green", WARN: "yellow", FAIL: "red"}
SUBJECT_WIDTH = 9


def register_commands(app: Flask) -> None:
    app.cli.add_command(doctor)


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@with_appcontext
def doctor(as_json: bool) -> None:
    """Check this installation and say what to do. The exit code is 1 when anything has failed."""
    sys.exit(print_findings(run_all_checks(current_app.extensions["settings"]), as_json=as_json))


def print_findings(findings: Iterable[Finding], *, as_json: bool) -> int:
    """Print the findings and return the exit code: 1 when a check failed."""
    printed_findings = []
    for finding in findings:
        printed_findings.append(finding)
        if not as_json:
            _print_finding(finding)
    counts = Counter(finding.state for finding in printed_findings)
    if as_json:
        click.echo(
            json.dumps(
                {"ok": not counts[FAIL], "findings": [asdict(finding) for finding in printed_findings]}, indent=2
            )
        )
    else:
        click.echo(f"\n{', '.join(f'{counts[state]} {state}' for state in STATES)}")
    return 1 if counts[FAIL] else 0


def _print_finding(finding: Finding) -> None:
    click.echo(
        f"{click.style(f'{finding.state:<5}', fg=COLOURS[finding.state])} {finding.about:<{SUBJECT_WIDTH}} {finding.says}"
    )
    if finding.do:
        advice = finding.do.replace("flask --app wsgi", _get_program())
        click.echo(f"{'':<6}{'':<{SUBJECT_WIDTH}} → {advice}")


def _get_program() -> str:
    """The program that was started: the installed one, or Flask in the source tree."""
    program = Path(sys.argv[0]).name
    return program if program == "event-commerce" else "flask --app wsgi"


CHECK_MODULES = (settings_checks, host_checks, database_checks, pooler_checks, worker_checks, external_checks)


def run_all_checks(app_settings: Settings) -> Findings:
    """Yield the findings of all checks; a check that raises is a finding too. Call it in an application context."""
    for module in CHECK_MODULES:
        try:
            yield from module.run_checks(app_settings)
        except Exception as error:
            yield build_broken_check_finding(module.__name__.rpartition(".")[2], error)


def build_broken_check_finding(about: str, error: Exception) -> Finding:
    return fail(
        about,
        f"The check itself failed: {type(error).__name__}: {format_error(error)}.",
        "Report it with this line.",
    )
