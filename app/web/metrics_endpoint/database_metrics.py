"""Metrics from the database. Two statements read indexes of unfinished rows, so finished rows do not slow them."""

import psycopg
from psycopg.rows import TupleRow

from app.core.connections import dedicated_connection
from app.core.metrics import ComputedGauge
from app.core.metrics.exposition import Numbers

MAX_COUNTED_ROWS = 100_000
OUTBOX_ROWS = ComputedGauge(
    "commerce_outbox_rows",
    f"Jobs by state: due, scheduled, leased, uncertain, dead; {MAX_COUNTED_ROWS:,} at most are counted.",
    ("state",),
)
OLDEST_DUE_SECONDS = ComputedGauge(
    "commerce_outbox_oldest_due_seconds", "Seconds that the oldest due job has waited; 0 if no job is due."
)
EXPIRED_LEASES = ComputedGauge(
    "commerce_outbox_expired_leases", "Leased jobs whose lease has expired; the relay releases them."
)
HEARTBEAT_AGE = ComputedGauge(
    "commerce_heartbeat_age_seconds", "Seconds since the latest heartbeat of a kind of process.", ("process",)
)
WORKERS_ALIVE = ComputedGauge(
    "commerce_workers_alive", "Workers with a heartbeat in the last 45 seconds, on all nodes."
)
PAYOUTS_PROCESSING = ComputedGauge(
    "commerce_payouts_processing", "Payouts that the payment rail has received and not concluded."
)
OPEN_REVIEWS = ComputedGauge("commerce_payout_reviews_open", "Contradictions about money that a person must review.")
DATABASE_CONNECTIONS = ComputedGauge("commerce_database_connections", "Connections to this database, of all clients.")
DATABASE_UP = ComputedGauge("commerce_database_up", "1 if the database responds, otherwise 0.")

OUTBOX_SQL = f"""
    SELECT (SELECT count(*) FROM (SELECT FROM outbox WHERE state = 'ready' AND run_at <= now() LIMIT {MAX_COUNTED_ROWS}) AS due),
           (SELECT count(*) FROM (SELECT FROM outbox WHERE state = 'ready' AND run_at > now() LIMIT {MAX_COUNTED_ROWS}) AS later),
           (SELECT count(*) FROM (SELECT FROM outbox WHERE state = 'leased' LIMIT {MAX_COUNTED_ROWS}) AS leased),
           (SELECT count(*) FROM (SELECT FROM outbox WHERE state = 'uncertain' AND done_at IS NOT NULL
                                   LIMIT {MAX_COUNTED_ROWS}) AS uncertain),
           (SELECT count(*) FROM (SELECT FROM outbox WHERE state = 'dead' AND done_at IS NOT NULL
                                   LIMIT {MAX_COUNTED_ROWS}) AS dead),
           (SELECT count(*) FROM outbox WHERE state = 'leased' AND lease_until < now()),
           greatest(0, extract(epoch FROM now() - least(
               (SELECT min(run_at) FROM outbox WHERE state = 'ready' AND critical),
               (SELECT min(run_at) FROM outbox WHERE state = 'ready' AND NOT critical))))
"""
SERVICE_SQL = """
    SELECT (SELECT extract(epoch FROM now() - max(at)) FROM heartbeat WHERE name = 'relay'),
           (SELECT extract(epoch FROM now() - max(at)) FROM heartbeat WHERE name LIKE 'worker:%'),
           (SELECT count(*) FROM heartbeat WHERE name LIKE 'worker:%' AND at > now() - interval '45 s'),
           (SELECT count(*) FROM payout WHERE status = 'processing'),
           (SELECT count(*) FROM payout_review WHERE resolved_at IS NULL)
             + (SELECT count(*) FROM stall_payment_review WHERE resolved_at IS NULL),
           (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())
"""


def load_database_metrics(url: str) -> Numbers:
    """Return the metrics of the database; only DATABASE_UP = 0 if it does not answer."""
    try:
        with dedicated_connection(url) as connection:
            outbox_row = connection.execute(OUTBOX_SQL).fetchone()
            service_row = connection.execute(SERVICE_SQL).fetchone()
    except (psycopg.Error, OSError):
        return {DATABASE_UP.name: {(): 0.0}}
    assert outbox_row is not None
    assert service_row is not None
    return {DATABASE_UP.name: {(): 1.0}, **_build_outbox_metrics(outbox_row), **_build_service_metrics(service_row)}


def _build_outbox_metrics(row: TupleRow) -> Numbers:
    states = ("due", "scheduled", "leased", "uncertain", "dead")
    return {
        OUTBOX_ROWS.name: {(state,): float(count) for state, count in zip(states, row, strict=False)},
        EXPIRED_LEASES.name: {(): float(row[5])},
        OLDEST_DUE_SECONDS.name: {(): float(row[6] or 0)},
    }


def _build_service_metrics(row: TupleRow) -> Numbers:
    relay_age, worker_age, workers_alive, payouts_processing, open_reviews, connections = row
    ages = {("relay",): relay_age, ("worker",): worker_age}
    return {
        HEARTBEAT_AGE.name: {name: float(age) for name, age in ages.items() if age is not None},
        WORKERS_ALIVE.name: {(): float(workers_alive)},
        PAYOUTS_PROCESSING.name: {(): float(payouts_processing)},
        OPEN_REVIEWS.name: {(): float(open_reviews)},
        DATABASE_CONNECTIONS.name: {(): float(connections)},
    }
