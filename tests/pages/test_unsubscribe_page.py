"""The page on which somebody says no, read as text and looked at in a browser; and what mail programs post to it."""

import io
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from app.core.ids import new_id
from app.subscriptions.message_links import ONE_CLICK_BODY
from tests.counting import count_statements
from tests.factories.accounts import create_account
from tests.factories.subscriptions import build_unsubscribe_path, list_unsubscriptions
from tests.pages.browser import open_view
from tests.pages.pages import Visitor
from tests.races import run_concurrently

EMAIL = "frieda@guest.example"
SERIES = "unsubscribe"
FORM = {"data": ONE_CLICK_BODY, "content_type": "application/x-www-form-urlencoded"}
HALVES = ONE_CLICK_BODY.partition("=")


@pytest.fixture
def lights(app: Flask) -> str:
    return create_account("organiser", name="Windhoek Lights", email="office@lights.example").id


def test_the_page_says_what_ends_and_changes_nothing(lights: str, visitor: Visitor) -> None:
    for _ in range(3):
        page = visitor.open(build_unsubscribe_path(EMAIL, lights))
    assert page.status_code == 200 and list_unsubscriptions() == []
    for words in (
        "Stop messages from <bdi>Windhoek Lights</bdi>",
        "f•••@guest.example",
        "mailto:office@lights.example",
        "Stop messages of all organisers",
        "tickets, receipts",
    ):
        assert words in page.text, words
    assert EMAIL not in page.text
    assert page.headers["Cache-Control"] == "no-store" and page.headers["Referrer-Policy"] == "no-referrer"


def test_looking_with_other_methods_changes_nothing(lights: str, visitor: Visitor) -> None:
    path = build_unsubscribe_path(EMAIL, lights)
    answers = [visitor.flask.open(path, method=method).status_code for method in ("HEAD", "OPTIONS", "PUT", "DELETE")]
    assert answers == [200, 200, 405, 405] and list_unsubscriptions() == []


def test_one_button_ends_it_and_one_begins_it_again(lights: str, visitor: Visitor) -> None:
    visitor.open(build_unsubscribe_path(EMAIL, lights))
    page = visitor.send(form=0, choice="this")
    assert page.status_code == 200 and list_unsubscriptions() == [(EMAIL, lights)]
    assert (
        "No more messages from <bdi>Windhoek Lights</bdi>" in page.text and "already sent may still arrive" in page.text
    )
    page = visitor.send(form=1, choice="again")
    assert list_unsubscriptions() == [] and "Stop messages from <bdi>Windhoek Lights</bdi>" in page.text


def test_all_organisers_can_be_stopped_before_and_after(lights: str, visitor: Visitor) -> None:
    for first in ([], [(0, "this")]):
        visitor.open(build_unsubscribe_path(EMAIL, lights))
        for form, choice in first:
            visitor.send(form=form, choice=choice)
        page = visitor.send(form=0 if first else 1, choice="everything")
        assert (EMAIL, None) in list_unsubscriptions() and "No more messages from <bdi>any organiser</bdi>" in page.text
        assert "all other organisers can write to you again" in page.text, "what the button undoes is said"
        page = visitor.send(choice="again")
        assert list_unsubscriptions() == [] and "Stop these messages" in page.text


def test_a_link_about_all_organisers_is_about_all(app: Flask, visitor: Visitor) -> None:
    visitor.open(build_unsubscribe_path(EMAIL, None))
    page = visitor.send(choice="this")
    assert list_unsubscriptions() == [(EMAIL, None)] and "Get messages again" in page.text
    visitor.send(choice="again")
    assert list_unsubscriptions() == []


def test_a_form_of_somebody_else_ends_nothing(lights: str, visitor: Visitor) -> None:
    visitor.open(build_unsubscribe_path(EMAIL, lights))
    for typed in ({"csrf_token": "", "choice": "this"}, {"csrf_token": "forged", "choice": "everything"}):
        assert visitor.press(**typed).status_code == 400
    visitor.press(choice="nonsense")
    assert list_unsubscriptions() == []


@pytest.mark.parametrize(
    "sent",
    [
        FORM,
        {"data": {HALVES[0]: HALVES[2]}, "content_type": "multipart/form-data"},
        {**FORM, "data": f"{ONE_CLICK_BODY}&extra=1"},
    ],
    ids=["form", "multipart", "more"],
)
def test_a_mail_program_ends_it_with_one_post(lights: str, visitor: Visitor, sent: dict[str, Any]) -> None:
    path = build_unsubscribe_path(EMAIL, lights)
    for _ in range(3):
        answer = visitor.flask.post(path, **sent)
        assert (answer.status_code, answer.headers.get("Location")) == (200, None)
        assert "Set-Cookie" not in answer.headers and answer.headers["Content-Type"].startswith("text/plain")
    assert list_unsubscriptions() == [(EMAIL, lights)]


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"data": "List-Unsubscribe=Two-Clicks"},
        {"data": "x=1"},
        {"data": b"\xff" * 100},
        {"json": {HALVES[0]: HALVES[2]}},
    ],
)
def test_any_other_post_from_elsewhere_ends_nothing(lights: str, visitor: Visitor, sent: dict[str, Any]) -> None:
    options = {"content_type": FORM["content_type"], **sent} if "json" not in sent else sent
    assert visitor.flask.post(build_unsubscribe_path(EMAIL, lights), **options).status_code == 400
    assert list_unsubscriptions() == []


def test_a_post_has_an_end(lights: str, visitor: Visitor) -> None:
    huge = io.BytesIO(ONE_CLICK_BODY.encode() + b"&x=" + b"y" * 200_000)
    answer = visitor.flask.post(build_unsubscribe_path(EMAIL, lights), data=huge, content_type=FORM["content_type"])
    assert answer.status_code == 413 and list_unsubscriptions() == []


def test_many_mail_programs_of_one_network_are_never_throttled(lights: str, app: Flask) -> None:
    """One provider asks for all its customers, from a few addresses."""
    paths = [build_unsubscribe_path(f"guest{number}@mail.example", lights) for number in range(200)]

    def ask(worker: int) -> set[int]:
        flask = app.test_client()
        return {flask.post(path, **FORM).status_code for path in paths[worker::8]}

    assert set().union(*run_concurrently(8, ask)) == {200} and len(list_unsubscriptions()) == 200


def test_a_link_that_is_none_says_so_and_guessing_is_bounded(lights: str, visitor: Visitor) -> None:
    path = build_unsubscribe_path(EMAIL, lights)
    for wrong in (
        path[:-1],
        path + "A",
        "/unsubscribe/x",
        "/unsubscribe/" + "A" * 70,
        build_unsubscribe_path(EMAIL, new_id()),
    ):
        page = visitor.open(wrong)
        assert (page.status_code, "This link is not complete" in page.text) == (404, True), wrong
    assert visitor.flask.post(path[:-1], **FORM).status_code == 404
    answers = [visitor.open("/unsubscribe/nothing").status_code for _ in range(20)]
    assert answers[0] == 404 and answers[-1] == 429
    assert visitor.open(path).status_code == 200 and list_unsubscriptions() == []


def test_no_log_has_the_token(lights: str, visitor: Visitor, capsys: pytest.CaptureFixture[str], caplog: Any) -> None:
    path = build_unsubscribe_path(EMAIL, lights)
    visitor.open(path)
    visitor.flask.post(path, **FORM)
    said = capsys.readouterr()
    assert path.rpartition("/")[2] not in said.out + said.err + caplog.text and EMAIL not in caplog.text


def test_each_takes_few_statements(lights: str, app: Flask) -> None:
    path, flask = build_unsubscribe_path(EMAIL, lights), app.test_client()
    for ask, most in ((lambda: flask.get(path), 2), (lambda: flask.post(path, **FORM), 1)):
        answer, asked = count_statements(ask)
        assert answer.status_code == 200 and len(asked) == most, asked


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_how_it_looks(lights: str, address: str, chromium: Browser, scripts: bool) -> None:
    with open_view(chromium, SERIES, scripts=scripts) as view:
        view.page.goto(address + build_unsubscribe_path(EMAIL, lights))
        view.check("fresh")
        view.page.get_by_role("button", name="Stop these messages").click()
        view.check("done")
        view.page.get_by_role("button", name="Stop messages of all organisers").click()
        view.check("done-all")
        view.page.get_by_role("button", name="Get messages again").click()
        expect(view.page.get_by_role("button", name="Stop these messages")).to_be_visible()
        long = create_account("organiser", name="Gesellschaft-der-Freunde-der-Wüste-und-ihrer-Nachtmärkte مهرجان").id
        view.page.goto(address + build_unsubscribe_path("x" * 60 + "@guest.example", long))
        view.check("long")
        view.page.goto(address + build_unsubscribe_path(EMAIL, None))
        view.check("all")
        view.page.goto(address + build_unsubscribe_path(EMAIL, lights) + "x")
        view.check("unknown")


def test_a_keyboard_finds_the_buttons(lights: str, address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        view.page.goto(address + build_unsubscribe_path(EMAIL, lights))
        order = []
        for _ in range(4):
            view.page.keyboard.press("Tab")
            order.append(view.focused_element)
        assert order == [
            "Skip to the content",
            "Stop these messages",
            "Stop messages of all organisers",
            "office@lights.example",
        ]
