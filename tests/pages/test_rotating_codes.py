"""The rotating code of a stall: a shift begins only for who has scanned it."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.transaction import transaction
from app.crew import rotating_codes
from app.crew.queries import get_stall
from app.crew.rotating_codes import is_valid_stall_code
from tests.factories.crew import create_stall, post_shift, replace_crew
from tests.http import Client, data, read_error
from tests.pages.pages import Visitor
from tests.pages.test_stall_crew_page import CrewPages
from tests.pages.test_team_pages import press


def turn_on(me: Client, path: str) -> dict[str, Any]:
    code: dict[str, Any] = data(me.put(f"{path}/rotating-code", {"rotatingCode": True}))
    return code


def move_clock(monkeypatch: pytest.MonkeyPatch, **span: float) -> None:
    """Codes are checked as if this time had passed."""
    original = rotating_codes._get_step
    monkeypatch.setattr(rotating_codes, "_get_step", lambda now: original(now + timedelta(**span)))


def get_path(code: dict[str, Any]) -> str:
    return "/check-in/" + str(code["url"]).split("/check-in/")[1]


def test_shift_needs_the_code_of_the_stall_while_it_is_on(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    off = {"rotatingCode": False, "stallCode": None, "url": None, "changesAt": None}
    assert data(me.get(f"{path}/rotating-code")) == off
    code = turn_on(me, path)
    assert len(code["stallCode"]) == 8 and turn_on(me, path)["rotatingCode"]
    for wrong in ({}, {"stallCode": "00000000"}, {"stallCode": ""}):
        response = post_shift(me, path, "verify", code=selma["shiftCode"], **wrong)
        assert response.status_code == 422, wrong
    assert data(post_shift(me, path, "verify", code=selma["shiftCode"], stallCode=code["stallCode"]))["name"] == "Selma"
    assert data(me.put(f"{path}/rotating-code", {"rotatingCode": False})) == off
    assert data(post_shift(me, path, "verify", code=selma["shiftCode"]))["name"] == "Selma"


@pytest.mark.parametrize(("steps", "is_valid"), [(-1, False), (0, True), (1, True), (2, True), (3, False)])
def test_code_is_valid_for_its_step_and_two_more(
    client: Client, monkeypatch: pytest.MonkeyPatch, steps: int, is_valid: bool
) -> None:
    me, path = create_stall(client)
    turn_on(me, path)
    stall = get_stall(data(me.get("/api/merchants/me"))["id"], path.split("/")[5])
    totp = rotating_codes._build_totp(stall)
    assert totp is not None
    code = totp.generate_otp(rotating_codes._get_step(stall.now) - steps)
    assert is_valid_stall_code(stall, code) is is_valid


def test_wrong_stall_code_does_not_count_as_a_wrong_shift_code(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    code = turn_on(me, path)
    for _ in range(6):
        assert read_error(post_shift(me, path, "verify", code="000000")) == (422, "STALL_CODE_WRONG")
    known = {"crewMemberId": selma["id"], "stallCode": code["stallCode"]}
    for _ in range(5):
        assert read_error(post_shift(me, path, "verify", code="000000", **known)) == (422, "SHIFT_CODE_WRONG")
    locked = post_shift(me, path, "verify", code=selma["shiftCode"], **known)
    assert read_error(locked) == (429, "SHIFT_CODE_LOCKED")


def test_secret_is_encrypted_for_its_stall(client: Client) -> None:
    (first, first_path), (second, second_path) = create_stall(client), create_stall(client)
    turn_on(first, first_path)
    turn_on(second, second_path)
    with transaction() as session:
        session.execute(
            text("UPDATE participation SET check_in_secret = (SELECT min(check_in_secret) FROM participation)")
        )
    codes = [
        data(me.get(f"{path}/rotating-code"))["rotatingCode"]
        for me, path in ((first, first_path), (second, second_path))
    ]
    assert sorted(codes) == [False, True]


def test_crew_scans_and_begins_the_shift_on_their_own_phone(app: Flask, client: Client) -> None:
    stall = CrewPages(app, client)
    selma, jonas = replace_crew(stall.me, stall.api, {"name": "Selma"}, {"name": "Jonas"})
    stall.visitor.open(f"{stall.pages}/check-in")
    page = press(stall.visitor, "/check-in")
    assert "This page shows the picture now." in page and 'src="data:image/svg+xml' in page
    seconds = re.search(r'<noscript><meta http-equiv="refresh" content="(\d+)">', page)
    assert seconds and 1 <= int(seconds[1]) <= 31
    path = get_path(data(stall.me.get(f"{stall.api}/rotating-code")))
    phone = Visitor(app.test_client())
    page = phone.open(path).text
    assert "Selma" in page and "Jonas" in page and phone.page.headers["Cache-Control"] == "no-store"
    assert "Choose your name." in phone.send(member="", code="").text
    assert "This is not your shift code." in phone.send(member=selma["id"], code=jonas["shiftCode"]).text
    assert "Selma, you are checked in." in phone.send(member=selma["id"], code=selma["shiftCode"]).text
    assert "At work now" in stall.visitor.open("/stall").text


def test_old_code_and_old_pass_are_refused(
    app: Flask, client: Client, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    scanned = get_path(turn_on(me, path))
    visitor.open(scanned)
    with monkeypatch.context() as later:
        move_clock(later, seconds=91)
        old = Visitor(app.test_client()).open(scanned)
        assert old.status_code == 410 and "Scan the code again" in old.text and "Selma" not in old.text
    monkeypatch.setattr(rotating_codes, "PASS_SECONDS", -1)
    page = visitor.send(member=selma["id"], code=selma["shiftCode"])
    assert page.status_code == 410 and "Scan the code again" in page.text


def test_pass_is_refused_after_the_code_was_turned_off(client: Client, visitor: Visitor) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    visitor.open(get_path(turn_on(me, path)))
    data(me.put(f"{path}/rotating-code", {"rotatingCode": False}))
    page = visitor.send(member=selma["id"], code=selma["shiftCode"])
    assert page.status_code == 410 and "Scan the code again" in page.text


def test_who_left_the_crew_meanwhile_is_told(client: Client, visitor: Visitor) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas"})
    visitor.open(get_path(turn_on(me, path)))
    replace_crew(me, path, {"id": jonas["id"], "name": "Jonas"})
    page = visitor.send(member=selma["id"], code=selma["shiftCode"])
    assert page.status_code == 422 and "Choose your name." in page.text


def test_link_of_another_stall_or_a_guess_shows_nothing(client: Client, visitor: Visitor) -> None:
    me, path = create_stall(client)
    replace_crew(me, path, {"name": "Selma"})
    scanned = get_path(turn_on(me, path))
    _, _, stall_token, code = scanned.split("/")
    other, other_path = create_stall(client)
    other_code = turn_on(other, other_path)["stallCode"]
    assert visitor.open(f"/check-in/{stall_token}/{other_code}").status_code == (200 if other_code == code else 410)
    forged = stall_token[:-1] + ("y" if stall_token.endswith("x") else "x")
    assert visitor.open(f"/check-in/{forged}/{code}").status_code == 404
    assert visitor.open("/check-in/x/1").status_code == 404
    statuses = {visitor.open(f"/check-in/{stall_token}/{number:08d}").status_code for number in range(25)}
    assert statuses <= {410, 429} and 429 in statuses


def test_shift_begins_on_the_device_of_the_stall_while_the_picture_is_off(app: Flask, client: Client) -> None:
    stall = CrewPages(app, client)
    (selma,) = replace_crew(stall.me, stall.api, {"name": "Selma"})
    stall.visitor.open(f"{stall.pages}/check-in")
    page = press(stall.visitor, "/check-in/begin", code="000000")
    assert "This is not your shift code." in page
    page = press(stall.visitor, "/check-in/begin", code=selma["shiftCode"])
    assert "The shift of Selma has begun." in page and "At work now" in stall.visitor.open("/stall").text
    turn_on(stall.me, stall.api)
    assert "check-in/begin" not in stall.visitor.open(f"{stall.pages}/check-in").text
    assert "Scan the code again" not in page
