"""The slug of an event: made from its name, unique, and chosen by its organiser if they want; and its link to tickets."""

from typing import Any

import pytest
from flask import Flask

from app.events import slugs
from tests.factories.events import (
    build_event_body,
    create_event,
    create_organiser_client,
    create_published_event,
    update_event,
)
from tests.http import Client, data, read_error
from tests.races import repeat_while_busy, run_concurrently

LONG_NAME = "The festival " * 15
CREATORS = 64


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Windhoek Lights", "windhoek-lights"),
        ("  Lüderitz: Ærø & Straße — Fête!  ", "luderitz-aero-strasse-fete"),
        ("ǂNūkhoen 2026", "nukhoen-2026"),
        ("Search", "search-2"),
        (LONG_NAME, "the-festival-the-festival-the-festival-the-festival-the-fest"),
        ("<script>alert(1)</script>", "script-alert-1-script"),
    ],
)
def test_a_slug_is_made_from_the_name(owner: Client, name: str, slug: str) -> None:
    assert create_event(owner, name=name[:200])["slug"] == slug


@pytest.mark.parametrize("name", ["مهرجان الصحراء", "沙漠音乐节", "2026 – 30", "deadbeefdeadbeefdeadbeef"])
def test_a_name_without_latin_letters_or_like_an_id_gives_the_id(owner: Client, name: str) -> None:
    event = create_event(owner, name=name)
    assert event["slug"] == event["id"]


def test_the_same_name_again_gets_the_next_free_number(owner: Client) -> None:
    assert [create_event(owner, name="River Nights")["slug"] for _ in range(3)] == [
        "river-nights",
        "river-nights-2",
        "river-nights-3",
    ]
    assert create_event(owner, name="River Nights 2")["slug"] == "river-nights-2-2"
    create_event(owner, slug="river-nights-4")
    assert create_event(owner, name="RIVER NIGHTS")["slug"] == "river-nights-5"


def test_a_slug_stays_when_the_name_changes(owner: Client, client: Client) -> None:
    event = create_published_event(owner, name="Old name")
    changed = update_event(owner, event, name="New name")
    assert (changed["slug"], changed["version"]) == ("old-name", event["version"] + 1)
    assert data(client.get(f"/api/events/public/{event['id']}"))["slug"] == "old-name"


def test_an_organiser_chooses_a_slug(owner: Client) -> None:
    assert create_event(owner, slug="lights-26")["slug"] == "lights-26"
    event = create_event(owner, name="Dune Nights")
    changed = update_event(owner, event, slug="dunes")
    assert (changed["slug"], changed["version"]) == ("dunes", event["version"] + 1)
    assert update_event(owner, event, slug="dunes")["version"] == changed["version"], "nothing has changed"
    assert create_event(owner, name="Dune Nights")["slug"] == "dune-nights", "the earlier slug is free again"


def test_a_taken_slug_is_refused_and_nothing_changes(owner: Client, client: Client) -> None:
    create_event(create_organiser_client(client), slug="lights")
    event = create_event(owner, name="Dune Nights")
    assert read_error(owner.post("/api/events", build_event_body(slug="lights"))) == (409, "SLUG_TAKEN")
    assert read_error(owner.patch(f"/api/events/{event['id']}", {"slug": "lights", "city": "Rundu"})) == (
        409,
        "SLUG_TAKEN",
    )
    assert data(owner.get(f"/api/events/{event['id']}")) == event


@pytest.mark.parametrize(
    ("slug", "code"),
    [
        ("Lights", "invalid_slug"),
        ("two words", "invalid_slug"),
        ("-lights", "invalid_slug"),
        ("lights--2", "invalid_slug"),
        ("lüderitz", "invalid_slug"),
        ("a/b", "invalid_slug"),
        ("lights.ics", "invalid_slug"),
        ("lights\n", None),
        ("x", "too_short"),
        ("x" * 81, "too_long"),
        ("search", "reserved"),
        ("0" * 24, "reserved"),
        (None, "required"),
        (7, "invalid_type"),
    ],
)
def test_the_format_of_a_slug_is_checked(owner: Client, slug: Any, code: str | None) -> None:
    response = owner.post("/api/events", build_event_body(slug=slug))
    if code is None:
        assert data(response, 201)["slug"] == "lights"
    else:
        (error,) = response.json["data"]["errors"]
        assert (response.status_code, error["path"], error["code"]) == (422, "slug", code)


def create_at_once(app: Flask, owner: Client) -> list[Any]:
    def create(_: int) -> Any:
        own = Client(app.test_client(), owner.headers)
        return repeat_while_busy(lambda: own.post("/api/events", build_event_body(name="Windhoek Lights")))

    return run_concurrently(CREATORS, create)


def test_many_events_of_one_name_at_once_get_different_slugs(app: Flask, owner: Client) -> None:
    created = [data(response, 201)["slug"] for response in create_at_once(app, owner)]
    numbered = {f"windhoek-lights-{number}" for number in range(2, CREATORS + 1)}
    assert sorted(created) == sorted({"windhoek-lights", *numbered})


@pytest.mark.control
def test_without_the_lock_they_meet(app: Flask, owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slugs, "lock_name", lambda session, name: None)
    app.config["PROPAGATE_EXCEPTIONS"] = False
    assert 500 in {response.status_code for response in create_at_once(app, owner)}


def test_one_of_many_gets_a_chosen_slug(app: Flask, owner: Client) -> None:
    events = [create_event(owner) for _ in range(8)]

    def choose(number: int) -> int:
        own = Client(app.test_client(), owner.headers)
        path = f"/api/events/{events[number]['id']}"
        return repeat_while_busy(lambda: own.patch(path, {"slug": "lights"})).status_code

    assert sorted(run_concurrently(8, choose)) == [200] + [409] * 7


def test_the_link_to_the_tickets_is_https(owner: Client, client: Client) -> None:
    event = create_published_event(owner, ticketsUrl="https://tickets.example/lights")
    assert data(client.get(f"/api/events/public/{event['id']}"))["ticketsUrl"] == "https://tickets.example/lights"
    for url in ("http://tickets.example", "javascript:alert(1)", "/tickets", "https://a@b.example", "tickets.example"):
        response = owner.patch(f"/api/events/{event['id']}", {"ticketsUrl": url})
        (error,) = response.json["data"]["errors"]
        assert (response.status_code, error["path"], error["code"]) == (422, "ticketsUrl", "invalid_url")
    assert update_event(owner, event, ticketsUrl=None)["ticketsUrl"] is None
