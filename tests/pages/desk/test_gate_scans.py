"""Adding the scans that stayed on a phone, from the file that the phone gives out."""

import json
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.accounts.models import Account
from tests.factories.gate import Gate
from tests.gate.test_batch import list_conflicts, offline_scan
from tests.http import Client
from tests.pages.desk.test_events import EVENTS, open_as
from tests.pages.desk.test_gate import NO_ID, SCANNERS, build_path
from tests.pages.desk.test_gate import gate as gate
from tests.pages.desk.test_stalls import ROLES
from tests.pages.pages import Visitor


def upload(desk: Visitor, gate: Gate, content: bytes, name: str = "scans.json") -> TestResponse:
    desk.open(build_path(gate, "/scans"))
    return desk.send(form=1, file=(BytesIO(content), name))  # type: ignore[arg-type]


def as_file(gate: Gate, *scans: dict[str, Any], event_id: str | None = None) -> bytes:
    """The file of a phone, which has every field of a scan."""
    fields = {"eventId": event_id or gate.event_id, "code": None, "placeId": None, "count": None, "gate": None}
    return json.dumps([{**fields, "direction": "in", **scan} for scan in scans], indent=2).encode()


def test_the_scans_of_an_ended_phone_are_added_once(gate: Gate, desk: Visitor) -> None:
    first, second = gate.sell(name="Otto Brand").secret or "", gate.sell(name="Selma Nel").secret or ""
    file = as_file(
        gate,
        offline_scan(first, 9, gate="South"),
        offline_scan(first, 5, gate="South"),
        offline_scan(second, 60 * 24 * 4, gate="South"),
    )
    page = " ".join(upload(desk, gate, file).text.split())
    assert "Entered</dt><dd>1" in page and "Not added</dt><dd>1" in page and "delete them" not in page
    assert f"South · {second}" in page and "older than three days" in page
    assert len(list_conflicts(gate)) == 1
    page = " ".join(upload(desk, gate, file).text.split())
    assert "Were here already</dt><dd>2" in page and len(list_conflicts(gate)) == 1


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "not a file of scans"),
        (b"{}", "not a file of scans"),
        (b"[]", "not a file of scans"),
        (b"[1]", "not a file of scans"),
        (b'[{"nonce": "\\ud800"}]', "not a file of scans"),
        (b"\xff\xfe[", "not a file of scans"),
        (b"[" * 5000, "not a file of scans"),
        (json.dumps([{"nonce": str(number)} for number in range(3001)]).encode(), "more than 3,000 scans"),
    ],
)
def test_other_files_are_refused(gate: Gate, desk: Visitor, content: bytes, text: str) -> None:
    page = upload(desk, gate, content)
    assert page.status_code == 422 and text in page.text and 'href="#file"' in page.text


def test_the_scans_of_another_event_are_refused(gate: Gate, desk: Visitor) -> None:
    scan = offline_scan(gate.sell().secret or "", 5)
    page = upload(desk, gate, as_file(gate, scan, event_id=NO_ID))
    assert page.status_code == 422 and "of another event" in page.text
    assert "Choose the file that the phone has saved." in upload(desk, gate, b"", name="").text


@pytest.mark.parametrize("role", ROLES)
def test_who_may_scan_may_add_scans(app: Flask, client: Client, owner: Account, gate: Gate, role: str) -> None:
    visitor, path = open_as(app, client, owner, role), build_path(gate, "/scans")
    status = 200 if role in SCANNERS else 403
    assert visitor.open(path).status_code == status
    visitor.open(EVENTS)
    file = (BytesIO(as_file(gate, offline_scan("unknown", 5))), "scans.json")
    body = {"csrf_token": visitor.forms[0].fields["csrf_token"], "file": file}
    assert visitor.flask.post(path, data=body).status_code == status
