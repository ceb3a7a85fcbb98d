"""Client reports are limited, masked and escaped."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.diagnostics import actions
from tests.factories.accounts import run_jobs
from tests.http import Client, data, list_problems, read_error
from tests.races import run_concurrently

PATH = "/api/diagnostics/logs"


def kept() -> list[dict[str, Any]]:
    with db.engine.connect() as connection:
        rows = connection.execute(text("SELECT * FROM diagnostic_event ORDER BY id")).mappings()
        return [dict(row) for row in rows]


def report(client: Client, *events: Any, **more: Any) -> None:
    assert data(client.post(PATH, {"events": list(events), **more})) == {}


def test_events_are_stored(client: Client) -> None:
    event = {"level": "error", "message": "The map did not load", "at": "2026-12-04T16:00:00Z", "tries": 3, "ok": False}
    response = client.post(PATH, {"client": "gate 2.4", "events": [event, {}]}, headers={"X-Request-Id": "request-01"})
    assert data(response) == {}
    first, second = kept()
    assert (first["client"], first["level"], first["message"]) == ("gate 2.4", "error", "The map did not load")
    assert first["event"] == event and first["request_id"] == "request-01"
    assert (second["level"], second["message"], second["event"]) == ("info", "", {})


def test_secrets_are_masked_everywhere(client: Client) -> None:
    token = "q7Zr0mJ9n2Xw5Lk8Vb3Tc6Yd1Fh4Gs_Pa-Ue0Ri9Ko2"
    report(
        client,
        {
            "password": "canary",
            "message": f"Bearer {token} failed",
            "deep": {"refreshToken": "canary", "list": [token]},
        },
        {"message": "password=canary", "headers": {"Authorization": "canary", "Cookie": "canary"}, "code": "canary"},
    )
    everything = str(kept())
    assert "canary" not in everything and token not in everything and "[masked]" in everything


@pytest.mark.parametrize("character", ["\x00", "\n", "\r", "\x1b", "\x85", "\u202e", "\u2066", "\u200b", "\x7f"])
def test_control_characters_are_escaped(client: Client, character: str) -> None:
    report(client, {"message": f"a{character}b", f"na{character}me": [f"x{character}"]})
    (row,) = kept()
    escape = f"\\u{ord(character):04x}"
    assert row["message"] == f"a{escape}b"
    assert row["event"] == {"message": f"a{escape}b", f"na{escape}me": [f"x{escape}"]}


def test_unusual_values_are_stored(client: Client) -> None:
    deep: Any = "x"
    for _ in range(15):
        deep = {"in": deep}
    report(client, {"level": {"a": 1}, "message": ["b"], "big": 1e300, "deep": deep, "long": "word " * 1000})
    (row,) = kept()
    assert float(row["event"]["big"]) == 1e300 and len(row["event"]["long"]) == 2000
    assert "[deeper]" in str(row["event"]["deep"])


def test_numbers_beyond_64_bits_are_accepted(client: Client) -> None:
    raw = '{"events": [{"n": ' + "9" * 300 + "}]}"
    data(client.open("POST", PATH, data=raw, headers={"Content-Type": "application/json"}))
    assert len(kept()) == 1


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, {"events": "required"}),
        ({"events": []}, {"events": "too_short"}),
        ({"events": [{}] * 101}, {"events": "too_long"}),
        (
            {"events": ["x", 7, None]},
            {"events[0]": "invalid_type", "events[1]": "invalid_type", "events[2]": "required"},
        ),
        ({"events": [{}], "client": "x" * 41}, {"client": "too_long"}),
        ({"events": {}}, {"events": "invalid_type"}),
        ({"event": [{}]}, {"events": "required", "event": "unknown_field"}),
    ],
)
def test_invalid_report_is_422_and_nothing_is_stored(
    client: Client, body: dict[str, Any], expected: dict[str, str]
) -> None:
    assert list_problems(client.post(PATH, body)) == expected and kept() == []


def test_report_has_a_maximum_size(client: Client) -> None:
    assert read_error(client.post(PATH, {"events": [{"m": "x" * 262_144}]})) == (413, "PAYLOAD_TOO_LARGE")
    report(client, {"m": "x" * 250_000})


def test_limit_is_sixty_reports_a_minute(client: Client) -> None:
    for _ in range(60):
        report(client, {})
    assert read_error(client.post(PATH, {"events": [{}]})) == (429, "RATE_LIMITED")
    assert len(kept()) == 60


def test_reports_are_deleted_after_thirty_days(client: Client) -> None:
    report(client, {"message": "old"}, {"message": "new"})
    with transaction() as session:
        session.execute(
            text("UPDATE diagnostic_event SET received_at = now() - interval '30 days 1 minute' WHERE message = 'old'")
        )
        enqueue("diagnostics.sweep")
    run_jobs()
    assert [row["message"] for row in kept()] == ["new"]


def sent(client: Client, size: int, address: str = "192.0.2.7", count: int = 1) -> Any:
    """The response to that many events of about that size from a network."""
    parts = {f"part{number}": "word " * 400 for number in range(size // 2000)}
    return client.post(PATH, {"events": [parts] * count}, environ_base={"REMOTE_ADDR": address})


def test_a_network_may_send_five_mebibytes_a_day(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "BYTES_PER_DAY", replace(actions.BYTES_PER_DAY, count=100_000))
    for _ in range(2):
        assert sent(client, 10_000, count=4).status_code == 200
    refused = sent(client, 10_000, count=4)
    assert read_error(refused) == (429, "DIAGNOSTICS_LIMIT") and 80_000 < int(refused.headers["Retry-After"]) <= 86_400
    assert len(kept()) == 8
    assert 'commerce_diagnostics_dropped_total{reason="network_limit"}' in client.get("/metrics").get_data(as_text=True)
    assert sent(client, 10_000, "198.51.100.9").status_code == 200, "another network"
    with transaction() as session:
        session.execute(text("UPDATE throttle SET ends_at = now()"))
    assert sent(client, 10_000).status_code == 200, "the next day"


def test_stored_bytes_are_counted(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A control character is one byte of a body and six in the table."""
    monkeypatch.setattr(actions, "BYTES_PER_DAY", replace(actions.BYTES_PER_DAY, count=3000))
    event = {f"part{number}": "\x01" * 300 for number in range(2)}
    assert read_error(client.post(PATH, {"events": [event]})) == (429, "DIAGNOSTICS_LIMIT")


def test_counting_beyond_the_limit_does_not_fail(client: Client) -> None:
    sent(client, 2000)
    with transaction() as session:
        session.execute(text("UPDATE throttle SET hits = 2147483647 WHERE key LIKE 'diagnostics-bytes:%'"))
    assert read_error(sent(client, 10_000)) == (429, "DIAGNOSTICS_LIMIT")


def test_table_keeps_the_newest_events(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MAX_EVENTS", 10)
    for number in range(25):
        report(client, {"message": f"{number}"})
    assert [row["message"] for row in kept()] == [f"{number}" for number in range(15, 25)]


def test_table_stays_small_with_many_networks(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MAX_EVENTS", 50)

    def flood(number: int) -> set[int]:
        mine = Client(app.test_client())
        return {sent(mine, 2000, f"198.51.{number}.{item}", 20).status_code for item in range(10)}

    answers = run_concurrently(6, flood)
    assert all(response == {200} for response in answers)
    report(client, {"message": "last"})
    assert len(kept()) <= 50 and kept()[-1]["message"] == "last"


def test_event_has_a_maximum_size(client: Client) -> None:
    assert sent(client, 60_000).status_code == 200
    (row,) = kept()
    assert row["event"] == {"message": "", "truncated": True}
