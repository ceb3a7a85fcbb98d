"""Crew, planned shifts and hours of a stall, as a browser without scripts uses them."""

import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.blueprints.pages import stall_crew
from tests.factories.crew import load_crew, post_shift, replace_crew, start_shift
from tests.http import Client, data
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_stall_page import create_stall_owner
from tests.pages.test_stall_payouts_page import find_errors
from tests.pages.test_team_pages import press
from tests.races import run_concurrently


class CrewPages:
    """The signed-in owner of a stall with their client, the path of the pages and that of the API."""

    def __init__(self, app: Flask, client: Client) -> None:
        self.me, account, event_id = create_stall_owner(client)
        self.visitor = sign_in_browser(app, account)
        self.pages, self.api = f"/stall/{event_id}", f"/api/merchants/me/events/{event_id}/crew"

    def post(self, path: str, **values: str) -> TestResponse:
        """The bare response to a form that is sent without opening its page."""
        token = self.visitor.open(f"{self.pages}/crew") and self.visitor.forms[0].fields["csrf_token"]
        return self.visitor.flask.post(f"{self.pages}{path}", data={"csrf_token": token, **values})

    def list_plan(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = data(self.me.get(f"{self.api}/planned-shifts"))["plannedShifts"]
        return rows


@pytest.fixture
def stall(app: Flask, client: Client) -> CrewPages:
    return CrewPages(app, client)


def find_code(page: str) -> str:
    match = re.search(r'id="code">(\d+)<', page)
    assert match
    return match[1]


def test_new_member_gets_a_code_with_a_picture_once(stall: CrewPages) -> None:
    assert "Nobody is in the crew yet." in stall.visitor.open(f"{stall.pages}/crew").text
    page = press(stall.visitor, "/crew", name="Selma Nangolo", role="till", phone="081 123 4567")
    code = find_code(page)
    assert 'src="data:image/svg+xml' in page and len(code) == 6
    assert start_shift(stall.me, stall.api, code)["name"] == "Selma Nangolo"
    page = stall.visitor.open(f"{stall.pages}/crew").text
    assert "Selma Nangolo" in page and "+264811234567" in page and code not in page


def test_same_form_twice_adds_one_person(stall: CrewPages) -> None:
    assert stall.post("/crew", name="Selma").status_code == 200
    again = stall.post("/crew", name="selma")
    assert again.status_code == 422 and "Somebody with this name is in the crew." in again.text
    assert len(load_crew(stall.me, stall.api)) == 1


def test_mistakes_are_shown_at_once(stall: CrewPages) -> None:
    replace_crew(stall.me, stall.api, {"name": "Jonas", "pin": "4029"})
    stall.visitor.open(f"{stall.pages}/crew")
    page = press(stall.visitor, "/crew", name="", phone="x", email="y", pin="12")
    assert find_errors(page) == {"name", "phone", "email", "pin"}
    page = press(stall.visitor, "/crew", name="Selma", phone="", email="", pin="4029")
    assert find_errors(page) == {"pin"} and "Somebody else at this stall has this code." in page
    assert len(load_crew(stall.me, stall.api)) == 1


def test_change_keeps_the_code_and_a_new_code_replaces_it(stall: CrewPages) -> None:
    selma, jonas = replace_crew(stall.me, stall.api, {"name": "Selma", "role": "till"}, {"name": "Jonas"})
    path = f"{stall.pages}/crew/{selma['id']}"
    assert 'value="till"' in stall.visitor.open(path).text
    page = press(stall.visitor, selma["id"], name="Selma N.", role="", email="selma@example.com")
    assert "The details are saved." in page
    row = load_crew(stall.me, stall.api)[0]
    assert (row["name"], row["role"], row["email"]) == ("Selma N.", None, "selma@example.com")
    assert start_shift(stall.me, stall.api, selma["shiftCode"])["name"] == "Selma N."
    stall.visitor.open(path)
    new_code = find_code(press(stall.visitor, "/code"))
    assert new_code != selma["shiftCode"]
    assert post_shift(stall.me, stall.api, "verify", code=selma["shiftCode"]).status_code == 422
    assert start_shift(stall.me, stall.api, new_code)["crewMemberId"] == selma["id"]
    stall.visitor.open(path)
    assert find_code(press(stall.visitor, selma["id"], pin="7391")) == "7391"
    assert start_shift(stall.me, stall.api, jonas["shiftCode"])["name"] == "Jonas", "others keep theirs"


def test_member_is_removed_but_not_with_an_open_shift(stall: CrewPages) -> None:
    (selma,) = replace_crew(stall.me, stall.api, {"name": "Selma"})
    start_shift(stall.me, stall.api, selma["shiftCode"])
    refused = stall.post(f"/crew/{selma['id']}/retire")
    assert refused.status_code == 409 and "Somebody has an open shift. End it first." in refused.text
    data(post_shift(stall.me, stall.api, "checkout", status="checked_out"))
    stall.visitor.open(f"{stall.pages}/crew/{selma['id']}")
    assert "They are no longer in the crew." in press(stall.visitor, "/retire")
    assert load_crew(stall.me, stall.api) == []
    assert stall.post(f"/crew/{selma['id']}/retire").status_code == 303, "sent twice"
    for path in (f"/crew/{selma['id']}/code", f"/crew/{selma['id']}"):
        assert stall.post(path, name="Selma").status_code == 404


def add_at_once(stall: CrewPages, count: int) -> list[int]:
    stall.visitor.open(f"{stall.pages}/crew")
    token = stall.visitor.forms[0].fields["csrf_token"]
    cookies = {name: stall.visitor.flask.get_cookie(name) for name in ("console", "sign-in")}

    def send(number: int) -> int:
        flask = stall.visitor.flask.application.test_client()
        for name, cookie in cookies.items():
            assert cookie is not None
            flask.set_cookie(name, cookie.value)
        body = {"csrf_token": token, "name": f"Person {number}"}
        return flask.post(f"{stall.pages}/crew", data=body).status_code

    return run_concurrently(count, send)


def test_people_who_are_added_at_once_are_all_in_the_crew(stall: CrewPages) -> None:
    statuses = add_at_once(stall, 4)
    assert statuses == [200] * 4
    assert {row["name"] for row in load_crew(stall.me, stall.api)} == {f"Person {number}" for number in range(4)}


@pytest.mark.control
def test_control_without_a_repetition_some_are_refused(stall: CrewPages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall_crew, "MAX_TRIES", 1)
    assert 412 in add_at_once(stall, 4)


def test_shift_is_planned_and_removed(stall: CrewPages) -> None:
    path = f"{stall.pages}/plan"
    assert "First <a" in stall.visitor.open(path).text
    (selma,) = replace_crew(stall.me, stall.api, {"name": "Selma"})
    stall.visitor.open(path)
    values = {"crewMemberId": selma["id"], "day": "2030-06-04", "begins": "18:00", "ends": "02:00", "note": "Till 2"}
    page = press(stall.visitor, "/plan", **values)
    assert "The shift is planned." in page and "Tue 4 June 2030" in page and "Till 2" in page
    (shift,) = stall.list_plan()
    assert (shift["startsAt"], shift["endsAt"]) == ("2030-06-04T16:00:00.000Z", "2030-06-05T00:00:00.000Z")
    page = press(stall.visitor, "/plan", **values)
    assert find_errors(page) == {"begins"} and "another shift at that time" in page
    page = press(stall.visitor, "/plan", **{**values, "day": "x", "begins": "25:00", "ends": "", "crewMemberId": ""})
    assert find_errors(page) == {"crewMemberId", "day", "begins", "ends"}
    page = press(stall.visitor, "/plan", **{**values, "day": "2030-06-07", "ends": "17:00"})
    assert find_errors(page) == {"ends"} and "at most 16 hours" in page
    page = press(stall.visitor, "/plan", **{**values, "crewMemberId": "0" * 24})
    assert "crewMemberId" in find_errors(page) and len(stall.list_plan()) == 1
    stall.visitor.open(path)
    (shift,) = stall.list_plan()
    press(stall.visitor, "/plan", **{**values, "day": "2030-06-08"})
    assert stall.list_plan()[0]["id"] == shift["id"], "a page that was opened before still works"
    assert "The shift is removed." in press(stall.visitor, f"/{shift['id']}/remove")
    assert [row["startsAt"][:10] for row in stall.list_plan()] == ["2030-06-08"]
    assert stall.post(f"/plan/{shift['id']}/remove").status_code == 303, "sent twice"


def test_hours_are_shown_and_downloaded(stall: CrewPages) -> None:
    path = f"{stall.pages}/hours"
    assert "Nobody has worked yet." in stall.visitor.open(path).text
    (selma,) = replace_crew(stall.me, stall.api, {"name": "Selma"})
    start_shift(stall.me, stall.api, selma["shiftCode"])
    page = stall.visitor.open(path).text
    assert "Selma" in page and "0:00" in page and f'href="{path}.csv"' in page and f'href="{path}.pdf"' in page
    csv_file, pdf = stall.visitor.open(f"{path}.csv"), stall.visitor.open(f"{path}.pdf")
    assert '"Selma",""' in csv_file.text and "hours.csv" in csv_file.headers["Content-Disposition"]
    assert pdf.data.startswith(b"%PDF") and pdf.headers["Cache-Control"] == "private, no-store"
