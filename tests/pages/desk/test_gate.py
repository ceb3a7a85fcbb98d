"""The gate of an event at the desk: figures, phones, the log with undo, conflicts, and coming back in."""

from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from app.blueprints.pages.desk.gate_log import UNDO_REASONS
from tests.counting import count_statements
from tests.factories.accounts import create_signed_in_client
from tests.factories.events import update_event
from tests.factories.gate import Gate
from tests.factories.payouts import execute_sql
from tests.gate.test_batch import offline_scan, send
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS, open_as
from tests.pages.desk.test_stalls import ROLES
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner

READERS, SCANNERS, MANAGERS = ("owner", "manager", "door", "viewer"), ("owner", "manager", "door"), ("owner", "manager")
NO_ID = "f" * 24


@pytest.fixture
def gate(client: Client, owner: Account) -> Gate:
    return Gate(client, owner=create_signed_in_client(client, owner))


def build_path(gate: Gate, rest: str = "") -> str:
    return f"{EVENTS}/{gate.event_id}/gate{rest}"


def admit_twice(gate: Gate) -> dict[str, Any]:
    """Two offline phones let in guests with one ticket; the one at the South came first, and arrived last."""
    ticket = gate.sell(name="Otto Brand")
    north, south = (
        offline_scan(ticket.secret or "", 5, gate="North"),
        offline_scan(ticket.secret or "", 9, gate="South"),
    )
    ((first,), (second,)) = send(gate, north), send(gate, south)
    return {"north": first["admissionId"], "south": second["admissionId"]}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_and_does_what_it_may(app: Flask, client: Client, owner: Account, gate: Gate, role: str) -> None:
    admission = data(gate.scan(gate.claim()["code"]))["admissionId"]
    phone = data(gate.owner.post(f"/api/events/{gate.event_id}/devices", {"kind": "gate", "name": "Gate A"}), 201)
    visitor = open_as(app, client, owner, role)
    answer = visitor.open(build_path(gate))
    assert answer.status_code == (200 if role in READERS else 403)
    if role in READERS:
        for text, roles in (('/gate/log"', SCANNERS), ("Phones</a>", MANAGERS), ("/gate/reentry", MANAGERS)):
            assert (text in answer.text) == (role in roles), text
        assert ("You scan with a phone that is paired" in answer.text) == (role == "door")
    pages = {
        "/log": SCANNERS,
        "/conflicts": SCANNERS,
        "/phones": MANAGERS,
        f"/phones/{phone['id']}": MANAGERS,
    }
    acts = {
        f"/log/{admission}/undo": SCANNERS,
        "/phones/new": MANAGERS,
        f"/phones/{phone['id']}/end": MANAGERS,
        "/reentry": MANAGERS,
    }
    for path, roles in {**pages, **acts}.items():
        assert visitor.open(build_path(gate, path)).status_code == (200 if role in roles else 403), path
    visitor.open(EVENTS)
    token = visitor.forms[0].fields["csrf_token"]
    for path, roles in acts.items():
        if role not in roles:
            body = {"csrf_token": token, "reason": "x", "name": "x", "kind": "gate", "reentry": "free", "version": "1"}
            assert visitor.flask.post(build_path(gate, path), data=body).status_code == 403, path


def test_the_gate_of_others_is_not_there(app: Flask, client: Client, owner: Account, gate: Gate) -> None:
    admission = data(gate.scan(gate.claim()["code"]))["admissionId"]
    phone = data(gate.owner.post(f"/api/events/{gate.event_id}/devices", {"kind": "gate", "name": "Gate A"}), 201)["id"]
    other = Gate(client, owner=gate.owner)
    stranger, desk = sign_in_browser(app, create_owner("Other")), sign_in_browser(app, owner)
    paths = (f"/log/{admission}/undo", f"/phones/{phone}", f"/phones/{phone}/end")
    for path in ("", "/log", "/conflicts", "/phones", "/phones/new", "/reentry", *paths):
        assert stranger.open(build_path(gate, path)).status_code == 404, path
    for path in (*paths, f"/log/{NO_ID}/undo", f"/phones/{NO_ID}", "/log/x/undo"):
        assert desk.open(build_path(other, path)).status_code == 404, path
    token = stranger.forms[0].fields["csrf_token"] if stranger.forms else ""
    for path in paths[::2]:
        answer = stranger.flask.post(build_path(gate, path), data={"csrf_token": token, "reason": "x"})
        assert answer.status_code in (400, 403, 404), path
    assert len(data(gate.owner.get(f"/api/events/{gate.event_id}/devices"))["devices"]) == 1


def test_the_figures_are_those_of_the_api(gate: Gate, desk: Visitor) -> None:
    assert "The numbers appear here as soon as there are some." in desk.open(build_path(gate)).text
    data(gate.scan(gate.claim()["code"], gate="North"))
    gate.sell()
    execute_sql("UPDATE event SET reentry = 'counted'")
    page = desk.open(build_path(gate)).text
    total = data(gate.owner.get(f"{gate.path}/stats"))["total"]
    assert (total["admitted"], total["expected"], total["sold"], total["inside"]) == (1, 2, 1, 1)
    for text in ("of 2 expected", "Inside now", "Most inside", "North", "Entries each quarter of an hour since"):
        assert text in page, text
    assert 'id="figures" data-refresh-seconds="10"' in page and "to look at" not in page


def test_an_event_of_several_days_has_figures_by_day(gate: Gate, desk: Visitor) -> None:
    data(gate.scan(gate.claim()["code"]))
    execute_sql("UPDATE event SET starts_at = now() - interval '1 second', ends_at = now() + interval '1 second'")
    assert "By day" not in desk.open(build_path(gate)).text
    execute_sql("UPDATE event SET starts_at = now() - interval '24 hours', ends_at = now() + interval '24 hours'")
    page = desk.open(build_path(gate)).text
    assert "By day" in page and "Entries today" in page and page.count("of 1 expected") == 2
    execute_sql("UPDATE admission_tally SET quarter = quarter - interval '2 days'")
    execute_sql("UPDATE event SET starts_at = now() - interval '300 days'")
    assert "Entries today" in desk.open(build_path(gate)).text, "before the first scan of the day too"
    assert desk.open(build_path(gate)).text.count('data-label="Day"') == 1, "of a long event the days with entries"


def test_the_page_says_that_the_event_begins_later(gate: Gate, desk: Visitor) -> None:
    execute_sql("UPDATE event SET starts_at = now() + interval '25 hours', ends_at = now() + interval '50 hours'")
    assert "Scans before that count too" in desk.open(build_path(gate)).text
    execute_sql("UPDATE event SET starts_at = now() + interval '23 hours'")
    assert "Scans before that count too" not in desk.open(build_path(gate)).text


def test_the_pages_take_few_statements(gate: Gate, desk: Visitor) -> None:
    for _ in range(3):
        admit_twice(gate)
    most = {"": 11, "/log": 10, "/conflicts": 10, "/phones": 9}
    for path, count in most.items():
        _, statements = count_statements(lambda path=path: desk.flask.get(build_path(gate, path)))  # type: ignore[misc]
        assert len(statements) <= count, (path, statements)


def test_the_log_is_searched_and_downloaded(gate: Gate, desk: Visitor) -> None:
    assert "Scans appear here" in desk.open(build_path(gate, "/log")).text
    maria, otto = gate.claim("María Nangolo"), gate.sell(name="Otto Brand")
    data(gate.scan(maria["code"], gate="North"))
    data(gate.undo(data(gate.scan(otto.secret, gate="South"))["admissionId"], reason="=a wrong ticket"))
    for query, name, other in (
        ("q=maria+nang", "María Nangolo", "Otto Brand"),
        ("q=otto", "Otto Brand", "María Nangolo"),
        ("gate=North", "María Nangolo", "Otto Brand"),
        ("result=undone", "Otto Brand", "María Nangolo"),
        ("result=entered", "María Nangolo", "Otto Brand"),
    ):
        page = desk.open(build_path(gate, f"/log?{query}")).text
        assert "1 scan " in page and name in page and other not in page, query
    assert "Nothing matches" in desk.open(build_path(gate, "/log?q=%27%5C+%26")).text
    for query in ("q=%00", "result=x", f"q={'x' * 121}"):
        assert desk.open(build_path(gate, f"/log?{query}")).status_code == 422, query
    assert gate.scan(maria["code"], gate="South").status_code == 409 and gate.scan("UNKNOWN-1").status_code == 404
    page = desk.open(build_path(gate, "/log?result=refused")).text
    assert "<h1>Refused scans</h1>" in page and ">Refused scans</a>" in desk.open(build_path(gate, "/log")).text
    assert "2 refused scans" in page and "Somebody had entered with this ticket." in page and "UNKN…" in page
    assert "Undo<span" not in page and "No ticket of this event has this code." in page
    page = desk.open(build_path(gate, "/log?result=refused&q=maria&gate=South")).text
    assert "1 refused scan " in page and "UNKN" not in page
    file = desk.open(build_path(gate, "/log?result=refused&format=csv")).text
    assert file.count("\n") == 3 and "María Nangolo" in file
    file = desk.open(build_path(gate, "/log?format=csv")).text
    assert otto.reference in file and f"…{maria['code'][-4:]}" in file and maria["code"] not in file
    assert "María Nangolo" in file and "Undone" in file and "'=a wrong ticket" in file
    rows = data(gate.owner.get(gate.path, query_string={"q": "otto", "result": "undone"}))["admissions"]
    assert [(row["name"], row["result"], row["ticketNumber"]) for row in rows] == [
        ("Otto Brand", "undone", otto.reference)
    ]


def test_a_scan_is_undone_with_a_reason(app: Flask, client: Client, owner: Account, gate: Gate, desk: Visitor) -> None:
    codes = gate.claim_party(3)
    admission = data(gate.scan(codes[0], count=3, gate="North"))["admissionId"]
    path = build_path(gate, f"/log/{admission}/undo")
    assert "All 3 people" in desk.open(path).text
    page = desk.send(form=1, reason="")
    assert page.status_code == 422 and "Enter a reason." in page.text
    desk.open(path)
    assert "The scan is undone." in desk.send(form=1, reason="The wrong party").text
    desk.open(path)
    assert "The scan is undone." in desk.send(form=1, reason="Sent twice").text, "a second undo changes nothing"
    (reasons,) = ({row["undoReason"] for row in data(gate.owner.get(gate.path))["admissions"]},)
    assert reasons == {"The wrong party"}
    assert f"{admission}/undo" not in desk.open(build_path(gate, "/log")).text


def test_door_staff_undo_for_ten_minutes(app: Flask, client: Client, owner: Account, gate: Gate) -> None:
    admission = data(gate.scan(gate.claim()["code"]))["admissionId"]
    door, path = open_as(app, client, owner, "door"), build_path(gate, f"/log/{admission}/undo")
    assert f"{admission}/undo" in door.open(build_path(gate, "/log")).text
    door.open(path)
    execute_sql("UPDATE admission SET recorded_at = now() - interval '11 minutes'")
    page = door.send(form=1, reason="The wrong ticket")
    assert page.status_code == 409 and "owner or a manager" in page.text and "The wrong ticket" in page.text
    assert f"{admission}/undo" not in door.open(build_path(gate, "/log")).text
    page = door.open(path)
    assert page.status_code == 409 and "owner or a manager" in page.text and 'name="reason"' not in page.text
    manager = open_as(app, client, owner, "manager")
    assert f"{admission}/undo" in manager.open(build_path(gate, "/log")).text
    manager.open(path)
    assert "The scan is undone." in manager.send(form=1, reason="The wrong ticket").text


def test_a_conflict_shows_both_entries_and_who_came_first(gate: Gate, desk: Visitor) -> None:
    assert "There are no conflicts." in desk.open(build_path(gate, "/conflicts")).text
    ids = admit_twice(gate)
    home = desk.open("/desk").text
    assert "1 conflict at the gate" in home and build_path(gate, "/conflicts") in home
    assert "1 conflict to look at." in desk.open(build_path(gate)).text
    page = desk.open(build_path(gate, "/conflicts")).text
    assert page.index("South") < page.index("First scan") < page.index("North")
    assert "Otto Brand" in page and "Somebody had entered with this ticket." in page
    assert page.count("Undo this scan") == 2
    entries = desk.open(build_path(gate, "/log?sort=occurredAt")).text
    first, again = entries.index("First scan, in a conflict"), entries.rindex("Entered again")
    assert entries.index("South") < again and first < entries.rindex("North") and first < again
    assert "First scan, in a conflict" in desk.open(build_path(gate, "/log?result=conflict")).text
    assert "Otto Brand" in desk.open(build_path(gate, "/conflicts?format=csv")).text
    desk.open(build_path(gate, f"/log/{ids['north']}/undo"))
    desk.send(form=1, reason="A copy of the ticket")
    assert "There are no conflicts." in desk.open(build_path(gate, "/conflicts")).text
    assert "1 conflict" not in desk.open("/desk").text


def test_the_reason_of_an_undo_at_the_gate_is_translated_and_other_reasons_stay(
    gate: Gate, desk: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for reason in ("Undone at the gate", "Undone at the gate by Otto"):
        data(gate.undo(data(gate.scan(gate.claim()["code"]))["admissionId"], reason=reason))
    monkeypatch.setitem(UNDO_REASONS, "Undone at the gate", "Am Einlass zurückgenommen")
    page = desk.open(build_path(gate, "/log")).text
    assert "Am Einlass zurückgenommen" in page and "Undone at the gate by Otto" in page


def test_a_scan_that_arrives_late_stands_where_it_belongs(gate: Gate, desk: Visitor) -> None:
    for name, minutes_ago in (("Selma Nel", 5), ("Otto Brand", 20), ("Frieda Beukes", 10)):
        send(gate, offline_scan(gate.sell(name=name).secret or "", minutes_ago))
    page = desk.open(build_path(gate, "/log")).text
    assert page.index("Selma Nel") < page.index("Frieda Beukes") < page.index("Otto Brand")
    page = desk.open(build_path(gate, "/log?sort=occurredAt")).text
    assert page.index("Otto Brand") < page.index("Frieda Beukes") < page.index("Selma Nel")


def test_the_list_says_how_many_people_are_too_many(gate: Gate, desk: Visitor) -> None:
    codes = gate.claim_party(2)
    data(gate.scan(codes[0], count=2, gate="North"))
    for _ in range(2):
        send(gate, offline_scan(code=codes[0], count=1, gate="South"))
    send(gate, offline_scan(code=codes[1], count=3, gate="East"))
    page = desk.open(build_path(gate, "/conflicts"))
    text = " ".join(page.text.split())
    assert text.count("<article") == 2 and "2 people too many." in text and "3 people too many." in text
    assert text.count("East") == 1 and ", 3 people" in text, "a scan is one entry, of all its people"
    assert "undo?back=conflicts" in text


def test_an_undo_returns_to_the_list_of_conflicts(gate: Gate, desk: Visitor) -> None:
    ids = admit_twice(gate)
    desk.open(build_path(gate, f"/log/{ids['north']}/undo?back=conflicts"))
    page = desk.send(form=1, reason="A copy of the ticket").text
    assert "The scan is undone." in page and "There are no conflicts." in page


def test_a_phone_is_added_and_ended(client: Client, gate: Gate, desk: Visitor) -> None:
    path = build_path(gate, "/phones")
    assert "Phones appear here when you add one." in desk.open(path).text
    desk.open(f"{path}/new")
    page = desk.send(form=1, name=" ", kind="x")
    assert page.status_code == 422 and "Enter a name." in page.text and 'href="#kind"' in page.text
    page = desk.send(form=1, name="Gate A, phone 1", kind="gate")
    code = page.text.split('id="code">')[1].split("<")[0]
    (phone,) = data(gate.owner.get(f"/api/events/{gate.event_id}/devices"))["devices"]
    state = f"{path}/{phone['id']}"
    assert (
        f'data-refresh-url="{state}"' in page.text
        and "Press <strong>Pair this phone</strong> on the phone" in page.text
    )
    page = desk.open(state).text
    assert "Waiting for the phone." in page and code not in page and "data-refresh-seconds" in page
    data(client.post("/api/devices/pair", {"code": code}))
    page = desk.open(state).text
    assert "Gate A, phone 1 is paired." in page and "data-refresh-seconds" not in page
    assert "Last seen" in desk.open(path).text
    assert "deletes its list of guests" in desk.open(f"{state}/end").text
    assert "The phone is ended." in desk.send(form=1).text
    assert desk.open(state).status_code == 404


def test_coming_back_in_is_set(client: Client, gate: Gate, desk: Visitor) -> None:
    assert "Each ticket admits once." in desk.open(build_path(gate)).text
    desk.open(build_path(gate, "/reentry"))
    page = desk.send(form=1, reentry="x")
    assert page.status_code == 422 and 'href="#reentry"' in page.text
    desk.open(build_path(gate, "/reentry"))
    assert "The gate counts who is inside" in desk.send(form=1, reentry="counted").text
    assert data(gate.owner.get(f"/api/events/{gate.event_id}"))["reentry"] == "counted"
    desk.open(build_path(gate, "/reentry"))
    update_event(gate.owner, {"id": gate.event_id}, city="Swakopmund")
    page = desk.send(form=1, reentry="free")
    assert page.status_code == 412 and "Open the page again" in page.text
