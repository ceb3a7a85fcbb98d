"""`flask retention run [--dry-run]`."""

import click
from flask import Flask, current_app
from flask.cli import AppGroup

from app.applications import drafts, erasure
from app.audit import erasure as audit
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.retention import guest_erasure, orphaned_files

retention_group = AppGroup("retention", help="Personal data that is no longer needed.")


def register(app: Flask) -> None:
    """Adds the commands to the application."""
    app.cli.add_command(retention_group)


@retention_group.command("run")
@click.option("--dry-run", is_flag=True, help="Only count what would be erased.")
def run_command(dry_run: bool) -> None:
    """Erase personal data after its retention period now, as the daily jobs do."""
    if dry_run:
        print_report()
        return
    with transaction():
        enqueue("retention.erase")
        enqueue("retention.sweep_files")
    click.echo("The jobs retention.erase and retention.sweep_files are queued.")


def print_report() -> None:
    """Prints how many rows and files the next run will erase."""
    settings = current_app.extensions["settings"]
    days = settings.DOCUMENT_RETENTION_DAYS
    click.echo(f"{erasure.count_ended_documents(days):>8}  documents of applications that ended {days} days ago")
    click.echo(f"{erasure.count_leftover_wallets():>8}  erased applications whose payment has ended since")
    click.echo(f"{drafts.count_expired_drafts():>8}  drafts of applications that have expired")
    for target in guest_erasure.ERASURE_TARGETS:
        days = settings.GUEST_RETENTION_DAYS
        count = target.count_rows(days) if days else 0
        event_note = f"of events that ended {days} days ago" if days else "(GUEST_RETENTION_DAYS is 0: kept)"
        click.echo(f"{count:>8}  {target.name} {event_note}")
    days = settings.AUDIT_RETENTION_DAYS
    click.echo(f"{audit.count_old_entries(days):>8}  entries of the audit trail that are older than {days} days")
    orphans = list(orphaned_files.list_orphaned_files())
    size = sum(file.size for file in orphans)
    click.echo(f"{len(orphans):>8}  files without a row ({size:,} bytes)")
