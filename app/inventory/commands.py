"""`flask inventory verify`: each quantity is the sum of its movements, and after a count it is the counted quantity."""

import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

import click
from flask import Flask
from flask.cli import AppGroup

from app.core.commands import show_progress
from app.core.db import fetch_rows

inventory_group = AppGroup("inventory", help="The stock of events.")


def register(app: Flask) -> None:
    """Add the commands to the `flask` command line."""
    app.cli.add_command(inventory_group)


@inventory_group.command("verify")
@click.option("--event", "event_id", metavar="ID", help="One event; all of them when left out.")
def verify_command(event_id: str | None) -> None:
    """Recompute every quantity from its movements. The exit code is 1 when anything differs."""
    mismatches = list(list_differences(event_id))
    for mismatch in mismatches:
        click.echo(
            f"event {mismatch.event_id}, item {mismatch.sku}, {mismatch.quantity_name}: {mismatch.stored_quantity}, the movements add up to {mismatch.movement_total}"
        )
    if mismatches:
        click.echo(f"{len(mismatches)} differences", err=True)
        sys.exit(1)
    click.echo("every quantity is the sum of its movements")


MAX_DIFFERENCES = 1000
MOVEMENT_SUMS_SQL = """
    SELECT i.event_id, i.id, i.sku, bucket.name, bucket.quantity, coalesce(m.total, 0)
      FROM inventory_item i
     CROSS JOIN LATERAL (VALUES ('onHand', i.on_hand), ('reserved', i.reserved), ('damaged', i.damaged),
                                ('onOrder', i.on_order)) AS bucket (name, quantity)
      LEFT JOIN (SELECT item_id, bucket, sum(delta) AS total FROM inventory_movement GROUP BY item_id, bucket) m
        ON m.item_id = i.id AND m.bucket = bucket.name
     WHERE bucket.quantity <> coalesce(m.total, 0) AND (%(event)s::text IS NULL OR i.event_id = %(event)s)
     ORDER BY i.event_id, i.id LIMIT %(most)s
"""
COUNTS_SQL = """
    SELECT b.event_id, b.item_id, i.sku, 'count of ' || b.bucket || ' at ' || b.occurred_at, b.counted, b.total
      FROM (SELECT m.event_id, m.item_id, m.bucket, m.occurred_at, m.counted,
                   sum(m.delta) OVER (PARTITION BY m.item_id, m.bucket ORDER BY m.occurred_at) AS total,
                   row_number() OVER (PARTITION BY m.item_id, m.bucket, m.occurred_at
                                      ORDER BY m.counted IS NULL, m.seq DESC) AS place
              FROM inventory_movement m WHERE %(event)s::text IS NULL OR m.event_id = %(event)s) b
      JOIN inventory_item i ON i.id = b.item_id
     WHERE b.counted IS NOT NULL AND b.place = 1 AND b.counted <> b.total
     ORDER BY b.event_id, b.item_id LIMIT %(most)s
"""


class Difference(NamedTuple):
    """A quantity that differs from the total of its movements."""

    event_id: str
    item_id: str
    sku: str
    quantity_name: str
    stored_quantity: Decimal
    movement_total: Decimal


def list_differences(event_id: str | None = None) -> Iterator[Difference]:
    """Yield the differences of one event or of all events, at most a thousand of each kind."""
    with show_progress("Checking", (MOVEMENT_SUMS_SQL, COUNTS_SQL)) as queries:
        for query in queries:
            for row in fetch_rows(query, {"event": event_id, "most": MAX_DIFFERENCES}):
                yield Difference(*row)
