"""More fields of an event at the desk: times of publishing and sales, cover picture, line-up, promo codes."""

import io
from typing import Any

import pytest
from flask import Flask
from PIL import Image

from app.accounts.models import Account
from app.media.actions import get_picture
from tests.factories.accounts import create_signed_in_client
from tests.factories.campaigns import CampaignEvent
from tests.factories.events import create_event, create_published_event, update_event
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS, open_as
from tests.pages.pages import Visitor
from tests.pages.test_team_pages import create_owner

PATHS = ("cover", "lists/lineup", "lists/promo-codes")


@pytest.fixture
def event(organiser: Client) -> dict[str, Any]:
    return create_event(organiser, startDate="2027-06-04T18:00", endDate="2027-06-06T23:00", capacity=100)


def read(organiser: Client, event: dict[str, Any]) -> dict[str, Any]:
    return data(organiser.get(f"/api/events/{event['id']}"))


def open_page(desk: Visitor, event: dict[str, Any], page: str) -> str:
    return desk.open(f"{EVENTS}/{event['id']}/{page}").text


def draw_stripes(width: int, height: int) -> io.BytesIO:
    """A picture whose left third or upper third is red, the rest blue."""
    picture = Image.new("RGB", (width, height), "blue")
    picture.paste("red", (0, 0, width // 3, height) if width > height else (0, 0, width, height // 3))
    file = io.BytesIO()
    picture.save(file, "PNG")
    file.seek(0)
    return file


def load_cover(url: str) -> Image.Image:
    return Image.open(io.BytesIO(get_picture(url.rpartition("/")[2]))).convert("RGB")


@pytest.mark.parametrize("role", ["finance", "door", "stock", "messages", "viewer", "manager"])
def test_only_writers_open_and_change_them(
    app: Flask, client: Client, owner: Account, event: dict[str, Any], role: str
) -> None:
    visitor = open_as(app, client, owner, role)
    visitor.open("/desk")
    token = visitor.forms[0].fields["csrf_token"]
    for name in PATHS:
        path = f"{EVENTS}/{event['id']}/{name}"
        status = visitor.open(path).status_code
        answer = visitor.flask.post(path, data={"csrf_token": token})
        assert (status, answer.status_code) == ((200, 422) if role == "manager" else (403, 403)), path


def test_events_of_others_are_not_there(client: Client, desk: Visitor) -> None:
    other = create_event(create_signed_in_client(client, create_owner("Other")))
    for name in (*PATHS, "lists/nothing"):
        assert desk.open(f"{EVENTS}/{other['id']}/{name}").status_code == 404


def test_the_times_and_other_facts_are_saved_and_cleared(
    desk: Visitor, organiser: Client, event: dict[str, Any]
) -> None:
    open_page(desk, event, "edit")
    typed = {
        "publishAt": "2027-05-01T08:00",
        "salesEndAt": "2027-06-04T12:00",
        "ticketsUrl": "https://tickets.example/lights",
        "keywords": "reggae, river ,",
        "latitude": "-22.5609",
        "longitude": "17.0658",
        "isCashless": "true",
        "country": "NA",
        "timezone": "Africa/Windhoek",
    }
    page = desk.send(form=1, **typed)
    assert "The facts are saved." in page.text and "Sales end" in page.text
    saved = read(organiser, event)
    assert saved["publishAt"] == "2027-05-01T06:00:00.000Z" and saved["salesEndAt"] == "2027-06-04T10:00:00.000Z"
    assert (saved["ticketsUrl"], saved["keywords"]) == ("https://tickets.example/lights", ["reggae", "river"])
    assert (saved["latitude"], saved["longitude"]) == (-22.5609, 17.0658)
    assert saved["isCashless"] is True
    open_page(desk, event, "edit")
    cleared = dict.fromkeys(("publishAt", "salesEndAt", "ticketsUrl", "keywords", "latitude", "longitude"), "")
    desk.send(form=1, **{**typed, **cleared, "isCashless": ""})
    saved = read(organiser, event)
    assert [saved[name] for name in ("publishAt", "salesEndAt", "ticketsUrl", "latitude")] == [None] * 4
    assert saved["keywords"] == [] and saved["isCashless"] is False


def test_wrong_facts_are_named_all_at_once(desk: Visitor, organiser: Client, event: dict[str, Any]) -> None:
    open_page(desk, event, "edit")
    wrong = {"ticketsUrl": "http://tickets.example", "latitude": "91", "salesEndAt": "yesterday"}
    page = desk.send(form=1, **wrong, country="NA", timezone="Africa/Windhoek")
    assert page.status_code == 422
    for name in wrong:
        assert f'href="#{name}"' in page.text, name
    assert "http://tickets.example" in page.text
    open_page(desk, event, "edit")
    typed = {"country": "NA", "timezone": "Africa/Windhoek"}
    page = desk.send(form=1, **typed, publishAt="2020-01-01T08:00", salesEndAt="2027-06-07T08:00")
    assert page.status_code == 422 and "Choose a time in the future." in page.text
    assert "Sales must end no later than the event." in page.text
    assert read(organiser, event)["publishAt"] is None


@pytest.mark.parametrize(
    ("size", "part", "colour"),
    [
        ((3000, 900), "left", (255, 0, 0)),
        ((3000, 900), "right", (0, 0, 255)),
        ((900, 3000), "top", (255, 0, 0)),
        ((900, 3000), "centre", (0, 0, 255)),
    ],
)
def test_the_chosen_part_of_a_picture_is_the_cover(
    desk: Visitor, organiser: Client, event: dict[str, Any], size: tuple[int, int], part: str, colour: tuple[int, ...]
) -> None:
    open_page(desk, event, "cover")
    answer = desk.press(form=1, part=part, picture=(draw_stripes(*size), "cover.png"))
    assert answer.status_code == 303
    cover = load_cover(read(organiser, event)["coverImageUrl"])
    assert abs(cover.width / cover.height - 1200 / 630) < 0.01 and cover.width <= 1200
    assert cover.getpixel((5, 5)) == colour
    assert "Remove the picture" in open_page(desk, event, "cover")
    desk.send(form=1, removed="true", part="centre")
    assert read(organiser, event)["coverImageUrl"] is None


def test_a_file_that_is_no_picture_and_no_file_change_nothing(
    desk: Visitor, organiser: Client, event: dict[str, Any]
) -> None:
    open_page(desk, event, "cover")
    answer = desk.press(form=1, part="centre", picture=(io.BytesIO(b"%PDF-1.7"), "cover.png"))
    assert answer.status_code == 415 and 'href="#picture"' in answer.text
    page = desk.send(form=1, part="centre")
    assert page.status_code == 422 and "Choose a picture." in page.text
    assert desk.send(form=1, part="corner").status_code == 422
    page = desk.send(form=1, part="centre", picture=(io.BytesIO(b"0" * 6_000_000), "cover.png"))  # type: ignore[arg-type]
    assert page.status_code == 413 and "this page takes at most 5 MB" in page.text


def test_a_change_by_somebody_else_is_an_error(desk: Visitor, organiser: Client, event: dict[str, Any]) -> None:
    for name in ("lists/lineup", "cover"):
        open_page(desk, event, name)
        update_event(organiser, event, description=name)
        page = desk.send(form=1, lineup="Elemotho", removed="true", part="centre")
        assert page.status_code == 412 and "Somebody else has changed this" in page.text
    assert read(organiser, event)["lineup"] == []


def test_the_line_up_is_edited_as_text(desk: Visitor, organiser: Client) -> None:
    lineup = [{"name": "Ees", "imageUrl": "https://media.example.com/ees.jpg"}]
    event = create_published_event(organiser, startDate="2027-06-04", endDate="2027-06-06", lineup=lineup)
    assert ">Ees</textarea>" in open_page(desk, event, "lists/lineup")
    text = "Elemotho | River stage | 2027-06-04 20:00 | 2027-06-04 21:30\r\n\r\nEes | | 2027-06-05 20:00\r\n"
    assert "Line-up: saved." in desk.send(form=1, lineup=text).text
    assert read(organiser, event)["lineup"] == [
        {
            "name": "Elemotho",
            "stage": "River stage",
            "startsAt": "2027-06-04T18:00:00.000Z",
            "endsAt": "2027-06-04T19:30:00.000Z",
        },
        {"name": "Ees", "startsAt": "2027-06-05T18:00:00.000Z", "imageUrl": "https://media.example.com/ees.jpg"},
    ]
    page = open_page(desk, event, "lists/lineup")
    assert "Elemotho | River stage | 2027-06-04 20:00 | 2027-06-04 21:30\nEes |  | 2027-06-05 20:00</textarea>" in page


def test_promo_codes_are_edited_as_text(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser)
    type_id = event["ticketTypes"][0]["id"]
    update_event(organiser, event, promoCodes=[{"code": "EARLY", "percentOff": 10, "ticketTypeIds": [type_id]}])
    assert ">EARLY | 10 %</textarea>" in open_page(desk, event, "lists/promo-codes")
    text = "EARLY|12,5%|100|2027-03-01 08:00|2027-03-31 23:59\nFRIENDS | N$ 50.50"
    assert "Promo codes: saved." in desk.send(form=1, promoCodes=text).text
    early, friends = read(organiser, event)["promoCodes"]
    assert (early["percentOff"], early["maxUses"], early["ticketTypeIds"]) == (12.5, 100, [type_id])
    assert friends == {"code": "FRIENDS", "amountOffMinor": 5050}
    assert "FRIENDS | N$ 50.50" in open_page(desk, event, "lists/promo-codes")
    page = desk.send(form=1, promoCodes="EARLY|5%\nearly|6%")
    assert page.status_code == 422 and "There are two lines for the same code." in page.text


@pytest.mark.parametrize(
    ("name", "field", "text", "problems"),
    [
        (
            "lineup",
            "lineup",
            "| River\nEes|a|b\nEes|a|2027-01-01 10:00|2027-01-01 09:00",
            ("Line 1:", "Line 2:", "Line 3:"),
        ),
        ("lineup", "lineup", "a|b|c|d|e", ("Line 1: there are more than 4 values.",)),
        ("lineup", "lineup", "x\n" * 81, ("There are more than 80 lines.",)),
        ("lineup", "lineup", f"{'x' * 201}\ny|{'z' * 121}", ("Line 1:", "Line 2:")),
        ("lineup", "lineup", "x|y|0001-01-01 10:00\nx|y|9999-12-31 23:59", ("Line 1:", "Line 2:")),
        (
            "promo-codes",
            "promoCodes",
            "A\nB|101%\nC|0\nD|1%|0\nE|1%|99999999999",
            tuple(f"Line {n}:" for n in range(1, 6)),
        ),
        ("promo-codes", "promoCodes", f"{'A' * 41}|5%\nB|5%|²\nC|5%|1|31 March", ("Line 1:", "Line 2:", "Line 3:")),
        (
            "promo-codes",
            "promoCodes",
            "A|0 %\nB\u202e|5 %",
            ("Line 1: enter a discount", "Line 2: the code has a char"),
        ),
        ("promo-codes", "promoCodes", "A|N$ 99999999999999999", ("There is a problem",)),
        ("lineup", "lineup", "x\x00y", ("There is a problem",)),
    ],
)
def test_all_wrong_lines_are_named(
    desk: Visitor, organiser: Client, event: dict[str, Any], name: str, field: str, text: str, problems: tuple[str, ...]
) -> None:
    open_page(desk, event, f"lists/{name}")
    page = desk.send(form=1, **{field: text})
    assert page.status_code == 422 and all(problem in page.text for problem in problems), page.text
    assert read(organiser, event)[field] == []


@pytest.mark.parametrize(("name", "missing"), [("latitude", "longitude"), ("longitude", "latitude")])
def test_half_a_position_is_refused(desk: Visitor, event: dict[str, Any], name: str, missing: str) -> None:
    open_page(desk, event, "edit")
    page = desk.send(form=1, country="NA", timezone="Africa/Windhoek", **{name: "17.5"})
    assert page.status_code == 422 and "Enter latitude and longitude, or neither of them." in page.text
    assert f'href="#{missing}"' in page.text


def test_a_public_event_gets_no_time_of_publishing(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser)
    open_page(desk, event, "edit")
    choices = {"country": "NA", "timezone": "Africa/Windhoek"}
    page = desk.send(form=1, **choices, publishAt="2020-01-01T10:00")
    assert page.status_code == 422 and "The event is public already." in page.text
    assert "The facts are saved." in desk.send(form=1, **choices, publishAt="").text


def test_a_time_that_clocks_skip_is_moved_and_said(desk: Visitor, organiser: Client, event: dict[str, Any]) -> None:
    open_page(desk, event, "edit")
    typed = {"country": "DE", "startsAt": "2027-03-28T02:30", "endsAt": "2027-03-28T23:00"}
    page = desk.send(form=1, **typed, timezone="Europe/Berlin")
    assert "Starts: clocks go forward then and skip this time, so it is 03:30." in page.text
    assert read(organiser, event)["startsAt"] == "2027-03-28T01:30:00.000Z"
    desk.open(f"{EVENTS}/new")
    page = desk.send(form=1, name="Spree Nights", venue="Park", city="Berlin", **typed)
    assert "The event is created." in page.text and "so it is 03:30." in page.text


def test_a_moved_event_says_to_whom_to_write(client: Client, organiser: Client, desk: Visitor) -> None:
    sold = CampaignEvent(client, owner=organiser)

    def change(**typed: str) -> str:
        desk.open(f"{EVENTS}/{sold.event['id']}/edit")
        return desk.send(form=1, country="NA", timezone="Africa/Windhoek", **typed).text

    advice = "The facts are saved. People have tickets for the times before."
    assert advice not in change(endsAt="2027-06-06T22:00")
    sold.sold("frieda@example.com")
    assert advice not in change(name="Another name")
    assert advice in change(endsAt="2027-06-06T21:00")
