"""What notifies the streams of gates. A NOTIFY makes the commits of all gates wait for each other, so scans do without."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url

from app.events.ticket_import_sql import GATE_CHANNEL
from app.gate import stream_queries
from tests.factories.gate import Gate
from tests.http import Client, data


@pytest.fixture
def listener(app: Flask) -> Iterator[psycopg.Connection[Any]]:
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as opened:
        opened.execute(f"LISTEN {GATE_CHANNEL}")
        yield opened


def read_notifications(listener: psycopg.Connection[Any]) -> list[str]:
    """The events that were notified since the last call. Everything that was sent before has arrived by then."""
    listener.execute("SELECT 1")
    return [notification.payload for notification in listener.notifies(timeout=0)]


def test_scans_and_claims_notify_nobody(client: Client, listener: psycopg.Connection[Any]) -> None:
    gate = Gate(client)
    code, ticket = gate.claim()["code"], gate.sell()
    data(gate.scan(code))
    data(gate.scan(ticket.secret))
    data(gate.block.admit(gate.claim()["slotId"], nonce="by name"))
    assert read_notifications(listener) == []
    assert stream_queries.max_gap_seconds <= 1, "the streams read what nobody notified"


def test_places_that_are_taken_back_notify_the_gates(client: Client, listener: psycopg.Connection[Any]) -> None:
    gate = Gate(client)
    place, guest = gate.claim(), gate.claim()
    admission = data(gate.scan(guest["code"]))["admissionId"]
    assert read_notifications(listener) == []
    data(gate.block.revoke(place["slotId"]))
    assert set(read_notifications(listener)) == {gate.event_id}
    data(gate.undo(admission))
    assert set(read_notifications(listener)) == {gate.event_id}
