"""Stall payments for tests: callbacks of the rail, open reviews, and time."""

import json
import time
import uuid
from datetime import timedelta
from typing import Any

from app.clients.payrail.signing import callback_signature
from app.core.outbox import maintenance
from mock_rail import MockServer
from tests.clients.rail import SECRET
from tests.factories.payouts import execute_sql, fetch_scalar, run_all_jobs
from tests.http import Client

CALLBACKS = "/api/payrail/callbacks"
FEE = 250000


def send_callback(client: Client, payment_id: str, outcome: str = "paid", secret: str = SECRET, **fields: Any) -> Any:
    """The response to a signed callback about a charge."""
    event = {
        "id": f"evt_{uuid.uuid4().hex}",
        "kind": "charge",
        "reference": payment_id,
        "outcome": outcome,
        "amountMinor": FEE,
        "currency": "NAD",
        "at": "2026-11-21T09:00:00.000Z",
        **fields,
    }
    body, timestamp = json.dumps(event).encode(), str(int(time.time()))
    signature = callback_signature(secret, timestamp=timestamp, body=body)
    headers = {"Payrail-Timestamp": timestamp, "Payrail-Signature": signature}
    return client.post(CALLBACKS, data=body, content_type="application/json", headers=headers)


def capture_charge(server: MockServer, payment_id: str) -> None:
    """Makes the rail capture the charge now."""
    server.operations.end_charge(payment_id, "paid")


def advance_time(seconds: int, server: MockServer | None = None) -> None:
    """Moves the clocks of the rail, payments and jobs forward, and runs due jobs."""
    if server is not None:
        server.clock.ahead += seconds
    span = timedelta(seconds=seconds)
    execute_sql("UPDATE outbox SET run_at = run_at - CAST(:span AS interval) WHERE state = 'ready'", span=span)
    execute_sql(
        "UPDATE stall_payment SET created_at = created_at - CAST(:span AS interval),"
        " expires_at = expires_at - CAST(:span AS interval)",
        span=span,
    )
    run_all_jobs()


def run_recurring(kind: str) -> None:
    """Runs a recurring job now."""
    execute_sql("UPDATE tick SET due = now() WHERE name = :kind", kind=kind)
    maintenance.enqueue_recurring()
    run_all_jobs()


def list_open_reviews() -> list[tuple[str, str]]:
    """Kind and reference of every open review, oldest first."""
    open_reviews = fetch_scalar(
        "SELECT jsonb_agg(jsonb_build_array(kind, reference) ORDER BY id) FROM stall_payment_review"
        " WHERE resolved_at IS NULL"
    )
    return [tuple(item) for item in open_reviews or []]


def load_payment_status(payment_id: str) -> str:
    return str(fetch_scalar("SELECT status FROM stall_payment WHERE id = :id", id=payment_id))
