"""`flask doctor`."""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict

import click
from flask import Flask, current_app
from flask.cli import with_appcontext

from app.doctor.asking import findings
from app.doctor.findings import FAIL, OK, STATES, WARN, Finding

COLOURS = {OK: "green", WARN: "yellow", FAIL: "red"}
WIDTH = 9


def register(app: Flask) -> None:
    app.cli.add_command(doctor)


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@with_appcontext
def doctor(as_json: bool) -> None:
    """Check this installation and say what to do. The exit code is 1 when anything has failed."""
    sys.exit(told(findings(current_app.extensions["settings"]), as_json=as_json))


def told(found: Iterable[Finding], *, as_json: bool) -> int:
    """Says them as they come; the exit code."""
    seen = []
    for item in found:
        seen.append(item)
        if not as_json:
            _say(item)
    counts = Counter(item.state for item in seen)
    if as_json:
        click.echo(json.dumps({"ok": not counts[FAIL], "findings": [asdict(item) for item in seen]}, indent=2))
    else:
        click.echo(f"\n{', '.join(f'{counts[state]} {state}' for state in STATES)}")
    return 1 if counts[FAIL] else 0


def _say(finding: Finding) -> None:
    click.echo(
        f"{click.style(f'{finding.state:<5}', fg=COLOURS[finding.state])} {finding.about:<{WIDTH}} {finding.says}"
    )
    if finding.do:
        click.echo(f"{'':<6}{'':<{WIDTH}} → {finding.do}")
