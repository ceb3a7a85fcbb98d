"""The page of the gate without script, and what its script gets: the shell, the session and the workers."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask

from tests.factories.gate import Gate
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data
from tests.pages.pages import Visitor

SAME_SITE = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def gate(client: Client) -> Gate:
    return Gate(client)


def pair(gate: Gate, visitor: Visitor, kind: str = "gate") -> dict[str, Any]:
    """Pair the browser with a new device of the event, and open the gate."""
    body = {"kind": kind, "name": "Gate A, phone 1"}
    device: dict[str, Any] = data(gate.owner.post(f"/api/events/{gate.event_id}/devices", body), 201)
    visitor.open(f"/pair/{device['pairingCode']}")
    visitor.send()
    visitor.open("/gate")
    return device


def read_verdict(page: str) -> tuple[str, str]:
    """The result and the text of the verdict."""
    verdict = page[page.index("<dialog") : page.index("</dialog>")]
    result = re.search(r'data-result="(\w+)"', verdict)
    assert result
    return result[1], " ".join(re.sub(r"<[^>]+>", " ", verdict).split())


def test_a_form_scans_a_code_once(gate: Gate, visitor: Visitor) -> None:
    code = gate.claim("María Nangolo")["code"]
    pair(gate, visitor)
    form = visitor.forms[0]
    result, text = read_verdict(visitor.send(code=code.lower(), gate="North").text)
    assert result == "yes" and "Come in María Nangolo" in text
    assert fetch_scalar("SELECT gate FROM admission") == "North"
    repeated = visitor.flask.post(form.action, data={**form.fields, "code": code, "gate": "North"})
    assert read_verdict(repeated.text)[0] == "yes", "the same form sent twice is one scan"
    visitor.open("/gate")
    assert visitor.elements["gate"]["value"] == "North"
    page = visitor.send(code=code)
    result, text = read_verdict(page.text)
    assert page.status_code == 409 and result == "no"
    assert "Already in" in text and "North · Gate A, phone 1" in text
    assert fetch_scalar("SELECT count(*) FROM admission") == 1


def test_the_form_checks_without_admitting(gate: Gate, visitor: Visitor) -> None:
    code = gate.claim("María Nangolo")["code"]
    pair(gate, visitor)
    for _ in range(2):
        page = visitor.press(code=code, training="true")
        result, text = read_verdict(page.text)
        assert result == "yes" and "Come in María Nangolo" in text and "Training: nothing is counted" in text
        assert "Undo" not in page.text
    page = visitor.press(code="UNKNOWN", training="true")
    assert page.status_code == 404 and "Training" in page.text
    counts = fetch_scalar("SELECT (SELECT count(*) FROM admission) + (SELECT count(*) FROM refused_scan)")
    assert counts == 0
    assert "Training" not in visitor.press(code=code).text


def test_a_ticket_number_that_is_typed_as_a_code_leads_to_its_guest(gate: Gate, visitor: Visitor) -> None:
    gate.sell(reference="WLN-4711", name="María Nangolo")
    pair(gate, visitor)
    page = visitor.send(code="WLN-4711")
    assert page.status_code == 404 and "Search the guests for it" in page.text
    assert "María Nangolo" in visitor.open("/gate?form=1&q=WLN-4711").text


def test_the_form_says_that_the_event_begins_later(gate: Gate, visitor: Visitor) -> None:
    note, code = "<p>This event begins on", gate.claim()["code"]
    execute_sql("UPDATE event SET starts_at = now() + interval '25 hours', ends_at = now() + interval '50 hours'")
    pair(gate, visitor)
    assert note in visitor.page.text
    assert read_verdict(visitor.send(code=code).text)[0] == "yes", "the note does not change a scan"
    execute_sql("UPDATE event SET starts_at = now() + interval '23 hours'")
    assert note not in visitor.open("/gate").text


def test_a_refusal_has_the_time_of_the_event(gate: Gate, visitor: Visitor) -> None:
    execute_sql("UPDATE event SET timezone = 'Asia/Tokyo'")
    code, day = gate.claim()["code"], gate.sell(valid_from=datetime(2099, 5, 1, 15, tzinfo=UTC))
    data(gate.scan(code))
    pair(gate, visitor)
    assert "(Tokyo)" in read_verdict(visitor.send(code=code).text)[1]
    visitor.open("/gate")
    assert "Valid from Sat 2 May 2099, 00:00 (Tokyo)" in read_verdict(visitor.send(code=day.secret).text)[1]


def test_a_form_admits_a_party_and_undoes(gate: Gate, visitor: Visitor) -> None:
    codes = gate.claim_party(3)
    pair(gate, visitor)
    result, text = read_verdict(visitor.send(code=codes[0], count="2").text)
    assert result == "yes" and "2 people" in text and "Of this party still outside: 1" in text
    assert "The scan is undone." in visitor.send().text
    visitor.open("/gate")
    result, text = read_verdict(visitor.send(code=codes[0], count="4").text)
    assert (result, "Of this party still outside: 3" in text) == ("look", True)


def test_a_guest_is_found_by_name_without_script(gate: Gate, visitor: Visitor) -> None:
    gate.claim("María Nangolo")
    gate.sell(name="Mario Nangolo")
    pair(gate, visitor)
    page = visitor.open("/gate?q=maria+nang&form=1").text
    assert "María Nangolo" in page and "Mario" not in page
    assert re.search(r"Weekend pass · .+ · …\w{4} · \w•••@", page), "what tells guests of one name apart"
    form = next(index for index, form in enumerate(visitor.forms) if form.fields.get("placeId"))
    assert visitor.press(form=form, placeId="nonsense").status_code == 422
    assert read_verdict(visitor.send(form=form).text)[0] == "yes"
    page = visitor.open("/gate?q=zzz").text
    assert "Nobody on the list has this name or number. Invited guests who have not taken their ticket" in page


@pytest.mark.parametrize(
    "typed", [{"code": ""}, {"code": "x" * 300}, {"code": "A", "count": "0"}, {"code": "A", "count": "x"}]
)
def test_a_form_that_is_wrong_says_so(gate: Gate, visitor: Visitor, typed: dict[str, str]) -> None:
    pair(gate, visitor)
    page = visitor.send(**typed)
    assert page.status_code == 422 and 'id="summary"' in page.text
    assert fetch_scalar("SELECT count(*) FROM admission") == 0


def test_an_unknown_code_and_a_revoked_ticket_are_refused(gate: Gate, visitor: Visitor) -> None:
    pair(gate, visitor)
    page = visitor.send(code="nonsense")
    assert page.status_code == 404 and read_verdict(page.text)[0] == "no"
    for status in ("cancelled", "refunded"):
        ticket = gate.sell(status=status)
        visitor.open("/gate")
        assert f"This ticket was {status}." in read_verdict(visitor.send(code=ticket.secret).text)[1]


def test_only_a_phone_of_a_gate_gets_the_page(gate: Gate, visitor: Visitor, app: Flask) -> None:
    assert "not paired with a gate" in visitor.open("/gate").text
    pair(gate, visitor, kind="stock")
    assert "not paired with a gate" in visitor.page.text
    device = pair(gate, visitor)
    assert "not paired with a gate" not in visitor.page.text and visitor.forms
    assert gate.owner.delete(f"/api/events/{gate.event_id}/devices/{device['id']}").status_code == 200
    page = visitor.press(code="A")
    assert page.status_code == 401 and "not paired with a gate" in page.text


def test_the_session_is_for_the_script_of_this_site(gate: Gate, visitor: Visitor) -> None:
    assert visitor.flask.get("/gate/session", headers=SAME_SITE).status_code == 401
    device = pair(gate, visitor)
    for headers in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none"}):
        assert visitor.flask.get("/gate/session", headers=headers).status_code == 403
    answer = visitor.flask.get("/gate/session", headers=SAME_SITE)
    session = answer.json and answer.json["data"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert (session["event"]["id"], session["device"]["id"]) == (gate.event_id, device["id"])
    assert gate.owner.as_(session["token"]).get(f"/api/events/{gate.event_id}/allocations/will-call").status_code == 200
    cookie = next(cookie for cookie in visitor.flask._cookies.values() if cookie.key == "paired")
    assert cookie.value == session["token"] and cookie.http_only and cookie.same_site == "Strict"
    gate.owner.delete(f"/api/events/{gate.event_id}/devices/{device['id']}")
    assert visitor.flask.get("/gate/session", headers=SAME_SITE).status_code == 401


def test_the_shell_has_nothing_of_a_phone(gate: Gate, visitor: Visitor) -> None:
    bare = visitor.open("/gate/shell").text
    pair(gate, visitor)
    assert visitor.open("/gate/shell").text == bare and "csrf_token" not in bare
    assert "Kamera starten" in visitor.flask.get("/gate/shell", headers={"Accept-Language": "de"}).text


def test_the_camera_is_for_the_gate_alone_and_webassembly_for_the_decoder(gate: Gate, visitor: Visitor) -> None:
    pair(gate, visitor)
    policy = visitor.page.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy and "unsafe" not in policy
    assert visitor.page.headers["Permissions-Policy"].startswith("camera=(self)")
    assert visitor.open("/pair").headers["Permissions-Policy"].startswith("camera=()")
    decoder = visitor.open("/gate/decoder.js").headers["Content-Security-Policy"]
    assert "script-src 'self' 'wasm-unsafe-eval'" in decoder and "'unsafe-" not in decoder
    worker = visitor.open("/gate/service-worker.js")
    assert (
        worker.headers["Service-Worker-Allowed"] == "/gate"
        and "script-src" not in worker.headers["Content-Security-Policy"]
    )
    for path in re.findall(r'"(/[^"]+)"', worker.text.partition("\n")[0]):
        assert visitor.open(path).status_code == 200, path
