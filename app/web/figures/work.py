"""Figures from the database: two statements over indexes of what is unfinished, and none grows with the past."""

from typing import Any

import psycopg

from app.core.apart import apart
from app.core.metrics import Figure
from app.core.metrics.summing import Numbers

MANY = 100_000
ROWS = Figure(
    "commerce_outbox_rows",
    f"Rows of work by state: due, scheduled, leased, uncertain, dead; counted to {MANY:,}.",
    ("state",),
)
OLDEST = Figure("commerce_outbox_oldest_due_seconds", "How long the longest waiting due row has waited; 0: none waits.")
LATE = Figure("commerce_outbox_expired_leases", "Leased rows whose holder is gone; the relay takes them back.")
HEARTBEAT = Figure(
    "commerce_heartbeat_age_seconds", "Since the last sign of life, of the liveliest of its kind.", ("process",)
)
WORKERS = Figure("commerce_workers_alive", "Workers heard of in the last 45 seconds, on all nodes.")
PAYOUTS = Figure("commerce_payouts_processing", "Payouts the rail has been told of and has not said how they ended.")
REVIEWS = Figure("commerce_payout_reviews_open", "Contradictions about money that a person has to settle.")
CONNECTIONS = Figure("commerce_database_connections", "Connections to this database, everybody's.")
UP = Figure("commerce_database_up", "1 when the database answered this question.")

OUTBOX = f"""
    SELECT (SELECT count(*) FROM (SELECT FROM outbox WHERE state = 'ready' AND run_at <= now() LIMIT {MANY}) AS due),
           (SELECT count(*) FROM (SELECT FROM outbox WHERE state = 'ready' AND run_at > now() LIMIT {MANY}) AS later),
           (SELECT count(*) FROM (SELECT FROM outbox WHERE state = 'leased' LIMIT {MANY}) AS leased),
           (SELECT count(*) FROM (SELECT FROM outbox WHERE state = 'uncertain' AND done_at IS NOT NULL
                                   LIMIT {MANY}) AS uncertain),
           (SELECT count(*) FROM (SELECT FROM outbox WHERE state = 'dead' AND done_at IS NOT NULL
                                   LIMIT {MANY}) AS dead),
           (SELECT count(*) FROM outbox WHERE state = 'leased' AND lease_until < now()),
           greatest(0, extract(epoch FROM now() - least(
               (SELECT min(run_at) FROM outbox WHERE state = 'ready' AND critical),
               (SELECT min(run_at) FROM outbox WHERE state = 'ready' AND NOT critical))))
"""
OTHERS = """
    SELECT (SELECT extract(epoch FROM now() - max(at)) FROM heartbeat WHERE name = 'relay'),
           (SELECT extract(epoch FROM now() - max(at)) FROM heartbeat WHERE name LIKE 'worker:%'),
           (SELECT count(*) FROM heartbeat WHERE name LIKE 'worker:%' AND at > now() - interval '45 s'),
           (SELECT count(*) FROM payout WHERE status = 'processing'),
           (SELECT count(*) FROM payout_review WHERE resolved_at IS NULL)
             + (SELECT count(*) FROM stall_payment_review WHERE resolved_at IS NULL),
           (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())
"""


def asked(url: str) -> Numbers:
    """What the database says; when it does not, only that."""
    try:
        with apart(url) as connection:
            outbox = connection.execute(OUTBOX).fetchone()
            others = connection.execute(OTHERS).fetchone()
    except (psycopg.Error, OSError):
        return {UP.name: {(): [0.0]}}
    assert outbox is not None
    assert others is not None
    return {UP.name: {(): [1.0]}, **_of_outbox(outbox), **_of_others(others)}


def _of_outbox(row: tuple[Any, ...]) -> Numbers:
    states = ("due", "scheduled", "leased", "uncertain", "dead")
    return {
        ROWS.name: {(state,): [float(count)] for state, count in zip(states, row, strict=False)},
        LATE.name: {(): [float(row[5])]},
        OLDEST.name: {(): [float(row[6] or 0)]},
    }


def _of_others(row: tuple[Any, ...]) -> Numbers:
    relay, worker, alive, processing, reviews, connections = row
    ages = {("relay",): relay, ("worker",): worker}
    return {
        HEARTBEAT.name: {name: [float(age)] for name, age in ages.items() if age is not None},
        WORKERS.name: {(): [float(alive)]},
        PAYOUTS.name: {(): [float(processing)]},
        REVIEWS.name: {(): [float(reviews)]},
        CONNECTIONS.name: {(): [float(connections)]},
    }
