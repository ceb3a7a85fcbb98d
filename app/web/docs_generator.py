"""Generates the documentation pages of errors, settings, metrics and state machines from the code."""

from pathlib import Path

import click
from flask import Flask
from flask.cli import AppGroup

from app import config
from app.accounts.permissions import PERMISSIONS, SCOPES, describe_holders
from app.audit.actions import Action
from app.core.errors import AppError
from app.core.metrics import Metric
from app.web.state_machines_page import render_state_machines_page

DOCS_DIR = Path(__file__).resolve().parents[2] / "docs"
docs_commands = AppGroup("docs", help="The generated pages of docs/.")
ERRORS_HEADER = """\
# Errors

All errors of the service. Clients branch on `shortMessage` and show `message`. `statusCode` is the HTTP status and two
more digits; newer conflicts share `40900`. `flask docs write` generates this page.

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
PERMISSIONS_HEADER = """\
# Permissions

Each operation of the API that is not for everybody needs one of these permissions; `/docs` names it. An owner has all of
their team, for all its events; the role of a member may be limited to some events. [Teams](teams.md) explains roles,
devices and keys, and which fields of a response need a permission of their own. `flask docs write` generates this page
from `app/accounts/permissions.py`.

| permission | people | devices | scopes of API keys |
|---|---|---|---|
"""
METRICS_HEADER = """\
# Metrics

The metrics of `/metrics`; [observability.md](observability.md) explains how to read them. Counters, histograms and gauges
of processes are those of one node: add them up over all nodes. Metrics marked *computed* are the same on every node,
except those of the disk and the build: take their maximum. `flask docs write` generates this page.

| metric | kind | labels | meaning |
|---|---|---|---|
"""

AUDIT_HEADER = """\
# Audit trail

Who did what, on what, and from where. Each act of the table below is recorded in the transaction that it is, so there is
no act without its entry and no entry without its act. Downloads are recorded before the data is sent.
`flask docs write` generates this page from `app/audit/actions.py`.

## Reading it

| operation | entries | who |
|---|---|---|
| `GET /api/organisations/me/audit` | of the organisation and all its events, deleted events too | the permission `audit.read` for all events |
| `GET /api/events/{eventId}/audit` | of one event | the permission `audit.read` |
| `GET /api/admin/audit` | all; `organisationId`, `eventId` or `accountId` (who acted, or on whom) | admins of every tier |

Filters: `action`, `area`, `actor` (an account, a session, a device or an API key), `subject`, `from` and `to`. The newest
entry comes first. Each path with `.csv` gives the same entries as a file; that is an entry itself.

## What an entry has

- `at`: when, by the clock of the database.
- `actorKind`: `person`, `device`, `key`, `system` (a job or a command) or `guest` (nobody is signed in: a person with a
  link or a code). `actorId` is the account that acted, or for which a device or key acted, and `sessionId` is the session,
  the device or the key. `actorName` is the present name: entries have no names.
- `organisationId`, `eventId`, `accountId`, `subjectKind`, `subjectId`: what it was done on. They are kept when the thing
  is deleted.
- `network`: the network of the client, truncated to a /24 or a /48. `requestId`: as in the log and in the response.
- `data`: a few values, such as an amount or a count. A change of an event has its `fields`, with the values before (`from`)
  and after (`to`) of those that are short. Never the name or the address of a person, a secret, a promo code or payout
  details.

## Keeping it

The database refuses to change an entry, and to delete one within a year. Entries are erased after
`AUDIT_RETENTION_DAYS` (five years, as for accounts). When an account is deleted its entries stay with ids that name
nobody any longer ([personal data](privacy.md)).

Some things have records of their own and are not repeated here: the refresh of a session, claims of places by guests and
every other step of a place (`allocation_slot_event`), movements of stock, steps of payouts by the payment rail. An event
that `publishAt` publishes has the entry of the change that set the time. The ticket types that an import makes are counted
in its entry.

## Acts

A new act: a line in the table, `record(session, Action.…)` in the action, and a scene in `tests/audit`.

| action | done on | meaning |
|---|---|---|
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


def render_audit_page() -> str:
    """Return the page of the audit trail: the acts that are recorded."""
    return AUDIT_HEADER + "".join(
        _format_table_row(f"`{action.value}`", action.subject_kind, action.meaning) for action in Action
    )


def render_permissions_page() -> str:
    """Return the page of permissions: who has each of them."""
    return PERMISSIONS_HEADER + "".join(
        _format_table_row(
            f"`{name}`",
            describe_holders(name),
            ", ".join(sorted(permission.devices)),
            ", ".join(f"`{scope}`" for scope, permissions in SCOPES.items() if name in permissions),
        )
        for name, permission in PERMISSIONS.items()
    )


PAGE_RENDERERS = {
    "permissions.md": render_permissions_page,
    "audit.md": render_audit_page,
    "errors.md": render_errors_page,
    "settings.md": render_settings_page,
    "metrics.md": render_metrics_page,
    "state-machines.md": render_state_machines_page,
}


@docs_commands.command("write")
def write_pages() -> None:
    """Write the pages of errors, settings, metrics, permissions, acts and state machines."""
    for name, render_page in PAGE_RENDERERS.items():
        (DOCS_DIR / name).write_text(render_page())
        click.echo(f"docs/{name}")


def _format_table_row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"
