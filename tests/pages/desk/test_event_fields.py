"""More fields of an event at the desk: times of publishing and sales, cover picture, line-up, promo codes."""

import io
import re
from datetime import timedelta
from time import process_time
from typing import Any

import pytest
from flask import Flask
from PIL import Image

from app.accounts.models import Account
from app.core.clock import utcnow
from app.media.actions import get_picture
from tests.counting import count_statements
from tests.factories.accounts import create_signed_in_client
from tests.factories.campaigns import CampaignEvent
from tests.factories.events import create_event, create_published_event, update_event
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS, open_as
from tests.pages.pages import Visitor
from tests.pages.test_team_pages import create_owner

PATHS = ("cover", "lists/lineup", "lists/sponsors", "lists/promo-codes")
CODES = "promo_codes"


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
        "ticketsUrl": "tickets.example/lights",
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


MAY = {"country": "NA", "timezone": "Africa/Windhoek", "startsAt": "2027-05-01T18:00", "endsAt": "2027-05-03T23:00"}


def test_an_end_of_applications_moves_with_the_event(desk: Visitor, organiser: Client, event: dict[str, Any]) -> None:
    update_event(organiser, event, applicationsEndAt="2027-06-05T12:00", salesEndAt="2027-06-04", name="Old")
    open_page(desk, event, "edit")
    page = desk.send(form=1, **MAY, name="New")
    assert page.status_code == 422 and read(organiser, event)["name"] == "Old"
    assert "Sat 5 June 2027, 12:00 (Windhoek) is after the end of the event now" in page.text
    assert desk.elements["applicationsEndAt"]["value"] == "2027-05-02T12:00", "as long after the start as before"
    assert desk.elements["salesEndAt"]["value"] == "2027-05-01T23:59:59"
    assert desk.elements["name"]["value"] == "New", "what was typed stays"
    assert desk.send(form=1, country="NA", timezone="Africa/Windhoek").status_code == 200
    saved = read(organiser, event)
    assert (saved["name"], saved["applicationsEndAt"]) == ("New", "2027-05-02T10:00:00.000Z")


def test_no_end_that_is_over_is_proposed(desk: Visitor, organiser: Client, event: dict[str, Any]) -> None:
    update_event(organiser, event, applicationsEndAt="2027-03-01T12:00")
    typed = {"country": "NA", "timezone": "Africa/Windhoek"}
    soon = (utcnow() + timedelta(days=20)).strftime("%Y-%m-%dT18:00")
    later = (utcnow() + timedelta(days=21)).strftime("%Y-%m-%dT18:00")
    open_page(desk, event, "edit")
    page = desk.send(form=1, **typed, startsAt=soon, endsAt=later)
    assert page.status_code == 422 and "We propose the start of the event" in page.text
    assert desk.elements["applicationsEndAt"]["value"] == soon
    assert desk.send(form=1, **typed).status_code == 200
    open_page(desk, event, "edit")
    page = desk.send(form=1, **typed, startsAt="2020-05-01T18:00", endsAt="2020-05-02T18:00")
    assert page.status_code == 422 and "the end of the event counts" in page.text
    assert desk.elements["applicationsEndAt"]["value"] == ""


def test_an_event_may_move_by_thousands_of_years(desk: Visitor, organiser: Client, event: dict[str, Any]) -> None:
    update_event(organiser, event, endDate="9998-06-06T23:00", applicationsEndAt="9998-01-01T10:00")
    open_page(desk, event, "edit")
    typed = {"country": "NA", "timezone": "Africa/Windhoek"}
    page = desk.send(form=1, **typed, startsAt="9000-01-01T10:00", endsAt="9000-01-02T10:00")
    assert page.status_code == 422 and desk.elements["applicationsEndAt"]["value"] == "9000-01-02T10:00"


def test_an_end_of_applications_is_never_after_a_shorter_event(
    desk: Visitor, organiser: Client, event: dict[str, Any]
) -> None:
    update_event(organiser, event, applicationsEndAt="2027-06-05T12:00")
    open_page(desk, event, "edit")
    desk.send(form=1, country="NA", timezone="Africa/Windhoek", endsAt="2027-06-04T20:00")
    assert desk.elements["applicationsEndAt"]["value"] == "2027-06-04T20:00"
    open_page(desk, event, "edit")
    page = desk.send(form=1, **MAY, applicationsEndAt="2027-06-01T12:00")
    assert "Applications must end no later than the event." in page.text, "who types it gets it back"
    assert desk.elements["applicationsEndAt"]["value"] == "2027-06-01T12:00"
    open_page(desk, event, "edit")
    later = {**MAY, "startsAt": "2027-08-01T18:00", "endsAt": "2027-08-03T23:00"}
    assert desk.send(form=1, **later).status_code == 200
    assert read(organiser, event)["applicationsEndAt"] == "2027-06-05T10:00:00.000Z", "it stays, and may be changed"


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
        page = desk.send(form=1, removed="true", part="centre", **{"lineup-0-name": "Elemotho"})
        assert page.status_code == 412 and "Somebody else has changed this" in page.text
    assert read(organiser, event)["lineup"] == []


def test_the_line_up_is_edited_in_rows(desk: Visitor, organiser: Client) -> None:
    lineup = [{"name": "Ees", "imageUrl": "https://media.example.com/ees.jpg"}, {"name": "Gone"}]
    event = create_published_event(organiser, startDate="2027-06-04", endDate="2027-06-06", lineup=lineup)
    page = open_page(desk, event, "lists/lineup")
    assert 'value="Ees"' in page and "Act 5" in page and "Act 6" not in page
    typed = {
        **type_row("lineup", 0, name="Ees", startsAt="2027-06-05T20:00"),
        **type_row("lineup", 1, name=""),
        **type_row(
            "lineup", 4, name="Elemotho", stage="River stage", startsAt="2027-06-04T20:00", endsAt="2027-06-04T21:30"
        ),
    }
    page = desk.send(form=1, **typed).text
    assert "Line-up: saved." in page and "<dt>Line-up</dt><dd>2 acts</dd>" in page
    assert read(organiser, event)["lineup"] == [
        {"name": "Ees", "startsAt": "2027-06-05T18:00:00.000Z", "imageUrl": "https://media.example.com/ees.jpg"},
        {
            "name": "Elemotho",
            "stage": "River stage",
            "startsAt": "2027-06-04T18:00:00.000Z",
            "endsAt": "2027-06-04T19:30:00.000Z",
        },
    ]
    page = open_page(desk, event, "lists/lineup")
    assert 'value="Elemotho"' in page and 'value="2027-06-04T21:30"' in page


def test_sponsors_are_edited_and_ordered(desk: Visitor, organiser: Client) -> None:
    logo = "https://media.example.com/coffee.png"
    sponsors = [{"name": "Kalahari Coffee", "logoUrl": logo}, {"name": "Namib Brews"}, {"name": "Etosha Air"}]
    event = create_published_event(organiser, sponsors=sponsors)
    open_page(desk, event, "lists/sponsors")
    typed = {
        **type_row("sponsors", 0, position="3", name="Kalahari Coffees"),
        **type_row("sponsors", 1, logoUrl="https://media.example.com/brews.png"),
        **type_row("sponsors", 3, name="Dune Milk", tier="silver", href="milk.example.com/"),
    }
    assert "Sponsors: saved." in desk.send(form=1, **typed).text
    assert read(organiser, event)["sponsors"] == [
        {"name": "Namib Brews", "logoUrl": "https://media.example.com/brews.png"},
        {"name": "Etosha Air"},
        {"name": "Kalahari Coffees", "logoUrl": logo},
        {"name": "Dune Milk", "tier": "silver", "href": "https://milk.example.com/"},
    ]
    open_page(desk, event, "lists/sponsors")
    desk.send(form=1, **type_row("sponsors", 3, position="1"), **type_row("sponsors", 1, name=""))
    names = [sponsor["name"] for sponsor in read(organiser, event)["sponsors"]]
    assert names == ["Dune Milk", "Namib Brews", "Kalahari Coffees"]
    page = desk.open(f"/e/{event['slug']}").text
    assert page.index("Dune Milk") < page.index("Namib Brews") and "https://milk.example.com/" in page


def test_the_logo_of_a_sponsor_is_shown_and_removed(desk: Visitor, organiser: Client) -> None:
    logo = "https://media.example.com/coffee.png"
    event = create_published_event(organiser, sponsors=[{"name": "Kalahari Coffee", "logoUrl": logo}])
    assert f'value="{logo}"' in open_page(desk, event, "lists/sponsors")
    desk.send(form=1, **type_row("sponsors", 0, name="Dune Bank", logoUrl=""))
    assert read(organiser, event)["sponsors"] == [{"name": "Dune Bank"}]


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("www.milk.example", "https://www.milk.example"),
        (" milk.example/a?b=1", "https://milk.example/a?b=1"),
        ("/e/lights", "/e/lights"),
        ("http://milk.example", "http://milk.example"),
        ("javascript:alert(1)", None),
        ("milk", None),
        ("milk.example:8080x", None),
        ("a@b.example", None),
    ],
)
def test_the_website_of_a_sponsor_needs_no_scheme(
    desk: Visitor, organiser: Client, typed: str, stored: str | None
) -> None:
    event = create_published_event(organiser, sponsors=[{"name": "Dune Milk"}])
    open_page(desk, event, "lists/sponsors")
    page = desk.send(form=1, **type_row("sponsors", 0, href=typed))
    assert page.status_code == (422 if stored is None else 200)
    assert read(organiser, event)["sponsors"][0].get("href") == stored


def test_logos_are_uploaded_and_kept_while_something_else_is_wrong(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser, sponsors=[{"name": "Kalahari Coffee"}, {"name": "Namib Brews"}])
    open_page(desk, event, "lists/sponsors")
    files = {"sponsors-0-logo": (draw_stripes(300, 100), "logo.png"), "sponsors-1-logo": (io.BytesIO(b"x"), "logo.pdf")}
    page = desk.send(form=1, **files, **type_row("sponsors", 2, tier="gold"))
    assert page.status_code == 422 and "Sponsor 2: " in page.text and "Enter a name." in page.text
    address = desk.forms[1].fields["sponsors-0-logoUrl"]
    assert get_picture(address.rsplit("/", 1)[1]) and desk.forms[1].fields["sponsors-1-logoUrl"] == ""
    assert all("logoUrl" not in sponsor for sponsor in read(organiser, event)["sponsors"])
    assert "Sponsors: saved." in desk.send(form=1, **type_row("sponsors", 2, tier="")).text
    assert read(organiser, event)["sponsors"] == [
        {"name": "Kalahari Coffee", "logoUrl": address},
        {"name": "Namib Brews"},
    ]
    assert address.rsplit("/", 1)[1] in desk.open(f"/e/{event['slug']}").text
    open_page(desk, event, "lists/sponsors")
    page = desk.send(form=1, **{"sponsors-1-logo": (io.BytesIO(b"\0" * (21 * 1024 * 1024 + 1)), "logo.png")})
    assert page.status_code == 413 and "<h1>Sponsors</h1>" in page.text


def test_an_act_outside_the_event_is_refused_with_the_times_of_the_event(
    desk: Visitor, organiser: Client, event: dict[str, Any]
) -> None:
    open_page(desk, event, "lists/lineup")
    page = desk.send(form=1, **type_row("lineup", 0, name="Ees", endsAt="2027-06-07T01:00"))
    period = "Fri 4 June 2027, 18:00 to Sun 6 June 2027, 23:00 (Windhoek)"
    assert page.status_code == 422 and f"Enter a time during the event: {period}." in page.text
    for typed, status in (("2027-06-05T20:00:00Z", 303), ("2027-06-04T15:59:59Z", 422)):
        open_page(desk, event, "lists/lineup")
        assert desk.press(form=1, **type_row("lineup", 0, name="Ees", startsAt=typed)).status_code == status


def test_day_tickets_of_a_moved_event_are_named(desk: Visitor, organiser: Client) -> None:
    day = {
        "name": "Friday",
        "priceMinor": 1,
        "quantity": 5,
        "validFrom": "2027-06-04T12:00",
        "validUntil": "2027-06-05T05:00",
    }
    event = create_published_event(organiser, ticketTypes=[day, {"name": "Weekend", "priceMinor": 1, "quantity": 5}])
    assert "warnings" not in event
    open_page(desk, event, "edit")
    moved = {"startsAt": "2027-07-05T18:00", "endsAt": "2027-07-06T23:00"}
    page = desk.send(form=1, country="NA", timezone="Africa/Windhoek", **moved)
    assert "The gate does not admit these tickets during the event: Friday." in page.text
    (warning,) = data(organiser.get(f"/api/events/{event['id']}"))["warnings"]
    assert (warning["path"], warning["code"]) == ("ticketTypes[0]", "type_outside_event")
    assert open_page(desk, event, "ticket-types").count("The event is at another time.") == 1


def test_acts_of_a_moved_event_stay_until_their_times_change(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser, lineup=[{"name": "Ees", "startsAt": "2027-06-05T20:00"}])
    open_page(desk, event, "edit")
    moved = {"startsAt": "2027-07-05T18:00", "endsAt": "2027-07-06T23:00"}
    page = desk.send(form=1, country="NA", timezone="Africa/Windhoek", **moved)
    assert "Acts are now before or after the event." in page.text
    open_page(desk, event, "lists/lineup")
    assert "Line-up: saved." in desk.send(form=1, **type_row("lineup", 1, name="Gazza")).text
    open_page(desk, event, "lists/lineup")
    page = desk.send(form=1, **type_row("lineup", 0, startsAt="2027-06-05T21:00"))
    assert page.status_code == 422 and 'href="#lineup-0-startsAt"' in page.text
    assert [act["name"] for act in read(organiser, event)["lineup"]] == ["Ees", "Gazza"]


def test_promo_codes_are_edited_in_rows(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser)
    type_id = event["ticketTypes"][0]["id"]
    update_event(organiser, event, promoCodes=[{"code": "EARLY", "percentOff": 10, "ticketTypeIds": [type_id]}])
    assert 'value="10 %"' in open_page(desk, event, "lists/promo-codes")
    typed = {
        **type_row(
            CODES,
            0,
            code="EARLY",
            discount="12,5%",
            maxUses="1 000",
            startsAt="2027-03-01T08:00",
            endsAt="2027-03-31T23:59",
        ),
        **type_row(CODES, 1, code="FRIENDS", discount="N$ 50.50"),
    }
    assert "Promo codes: saved." in desk.send(form=1, **typed).text
    early, friends = read(organiser, event)["promoCodes"]
    assert (early["percentOff"], early["maxUses"], early["ticketTypeIds"]) == (12.5, 1000, [type_id])
    assert friends == {"code": "FRIENDS", "amountOffMinor": 5050}
    assert 'value="N$ 50.50"' in open_page(desk, event, "lists/promo-codes")


def test_a_renamed_code_keeps_its_ticket_types_and_two_acts_of_one_name_their_pictures(
    desk: Visitor, organiser: Client
) -> None:
    event = create_published_event(organiser)
    type_id = event["ticketTypes"][0]["id"]
    codes = [{"code": "EARLY", "percentOff": 100, "ticketTypeIds": [type_id]}, {"code": "ALL", "percentOff": 5}]
    pictures = [f"https://media.example.com/{number}.jpg" for number in range(2)]
    acts = [{"name": "DJ", "imageUrl": picture} for picture in pictures]
    update_event(organiser, event, promoCodes=codes, lineup=acts)
    open_page(desk, event, "lists/promo-codes")
    desk.send(form=1, **type_row(CODES, 0, code="EARLY26", discount="100 %"))
    assert read(organiser, event)["promoCodes"] == [{**codes[0], "code": "EARLY26"}, codes[1]]
    open_page(desk, event, "lists/promo-codes")
    desk.send(form=1, **type_row(CODES, 0, code="ALL"), **type_row(CODES, 1, code="EARLY26"))
    limits = {code["code"]: code.get("ticketTypeIds") for code in read(organiser, event)["promoCodes"]}
    assert limits == {"ALL": None, "EARLY26": [type_id]}
    open_page(desk, event, "lists/lineup")
    desk.send(form=1, **type_row("lineup", 2, name="Ees"))
    assert [act.get("imageUrl") for act in read(organiser, event)["lineup"]] == [*pictures, None]
    open_page(desk, event, "lists/lineup")
    desk.send(form=1, **type_row("lineup", 0, name="Gazza"))
    assert [act.get("imageUrl") for act in read(organiser, event)["lineup"]] == [None, pictures[1], None]


def test_a_full_list_with_many_errors_is_answered_at_once(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser)
    update_event(organiser, event, promoCodes=[{"code": f"CODE{number}", "percentOff": 5} for number in range(195)])
    open_page(desk, event, "lists/promo-codes")
    wrong = {name: value for row in range(60) for name, value in type_row(CODES, row, discount="much").items()}
    hand_made = type_row(CODES, 999, code="x" * 5000)
    begun_at = process_time()
    page = desk.send(form=1, **wrong, **hand_made)
    seconds = process_time() - begun_at
    assert page.status_code == 422 and page.text.count("Enter a discount like 10 % or N$ 50.") == 120
    assert "Code 204" not in page.text
    assert seconds < 3, "without keeping the errors it takes minutes"


def test_more_rows_keep_what_was_typed_and_save_nothing(
    desk: Visitor, organiser: Client, event: dict[str, Any]
) -> None:
    open_page(desk, event, "lists/lineup")
    page = desk.send(form=1, addRows="true", **type_row("lineup", 2, name="Elemotho"))
    assert page.status_code == 200 and 'value="Elemotho"' in page.text
    assert "Act 6" in page.text and "Act 7" not in page.text
    assert read(organiser, event)["lineup"] == []
    assert page.text.index(">Save</button>") < page.text.index(">Add rows</button>"), "Enter saves"
    assert "Line-up: saved." in desk.send(form=1, **type_row("lineup", 5, name="Ees")).text
    assert [act["name"] for act in read(organiser, event)["lineup"]] == ["Elemotho", "Ees"]


def test_a_full_list_has_no_more_rows(desk: Visitor, organiser: Client, event: dict[str, Any]) -> None:
    update_event(organiser, event, lineup=[{"name": f"Act {number}"} for number in range(79)])
    page = open_page(desk, event, "lists/lineup")
    assert "Act 80</legend>" in page and "Act 81" not in page and "Add rows" not in page
    page = desk.send(form=1, **type_row("lineup", 79, name="Ees"), **type_row("lineup", 80, name="Elemotho")).text
    assert "There are more than 80 rows." in page and len(read(organiser, event)["lineup"]) == 79


@pytest.mark.parametrize(
    ("name", "rows", "problems"),
    [
        (
            "lineup",
            [
                {"stage": "River"},
                {},
                {"name": "Ees", "startsAt": "soon"},
                {"name": "x" * 201, "stage": "y" * 121, "startsAt": "0001-01-01T10:00", "endsAt": "9999-12-31T23:59"},
            ],
            {"0-name", "2-startsAt", "3-name", "3-stage", "3-startsAt", "3-endsAt"},
        ),
        (
            "lineup",
            [{}, {"name": "Ees"}, {"name": "Ees", "startsAt": "2027-06-05T10:00", "endsAt": "2027-06-05T09:00"}],
            {"2-endsAt"},
        ),
        (
            "lineup",
            [
                {"name": "Ees", "startsAt": "2027-06-04T17:59", "endsAt": "2027-06-06T23:01"},
                {"name": "Gazza", "startsAt": "2027-06-04T18:00", "endsAt": "2027-06-06T23:00", "position": "0"},
            ],
            {"1-position"},
        ),
        (
            "lineup",
            [{}, {"name": "Ees", "startsAt": "2027-06-04T17:59", "endsAt": "2027-06-06T23:01"}],
            {"1-startsAt", "1-endsAt"},
        ),
        (
            "sponsors",
            [
                {"tier": "gold"},
                {"name": "x" * 201, "href": "javascript:alert(1)", "logoUrl": "http://media.example.com/a.png"},
                {"name": "B", "position": "first"},
            ],
            {"0-name", "1-name", "1-href", "1-logoUrl", "2-position"},
        ),
        (
            "lineup",
            [
                {"name": "Ees", "position": "3"},
                {"name": "Gazza", "startsAt": "2027-06-04T17:59", "position": "1"},
                {"name": "Elemotho", "startsAt": "2027-06-05T10:00", "endsAt": "2027-06-05T09:00", "position": "2"},
            ],
            {"1-startsAt", "2-endsAt"},
        ),
        (
            "promo-codes",
            [
                {"code": "A"},
                {"code": "B", "discount": "101%"},
                {"discount": "5%"},
                {"code": "D", "discount": "0"},
                {"code": "E", "discount": "1%", "maxUses": "0"},
                {"code": "F", "discount": "0 %", "maxUses": "\xb2"},
                {"code": "G" * 41, "discount": "N$ 99999999999999999"},
                {"code": "H\u202e", "discount": "5%"},
            ],
            {"0-discount", "1-discount", "2-code", "3-discount", "4-maxUses", "5-maxUses"}
            | {"6-code", "6-discount", "7-code"},
        ),
        (
            "promo-codes",
            [{"code": "EARLY", "discount": "5%"}, {}, {"code": "early", "discount": "6%"}],
            {"2-code"},
        ),
    ],
)
def test_all_wrong_rows_are_named(
    desk: Visitor,
    organiser: Client,
    event: dict[str, Any],
    name: str,
    rows: list[dict[str, str]],
    problems: set[str],
) -> None:
    open_page(desk, event, f"lists/{name}")
    list_name = name.replace("-", "_")
    typed = {key: value for row, fields in enumerate(rows) for key, value in type_row(list_name, row, **fields).items()}
    page = desk.send(form=1, **typed)
    assert page.status_code == 422
    assert set(re.findall(rf'href="#{list_name}-([\w-]+)"', page.text)) == problems
    assert all(f'value="{value}"' in page.text for value in typed.values())
    assert read(organiser, event)["promoCodes" if name == "promo-codes" else name] == []


def type_row(list_name: str, row: int, /, **fields: str) -> dict[str, str]:
    """What is typed into the fields of a row."""
    return {f"{list_name}-{row}-{field}": value for field, value in fields.items()}


@pytest.mark.parametrize(("name", "missing"), [("latitude", "longitude"), ("longitude", "latitude")])
def test_half_a_position_is_refused(desk: Visitor, event: dict[str, Any], name: str, missing: str) -> None:
    open_page(desk, event, "edit")
    page = desk.send(form=1, country="NA", timezone="Africa/Windhoek", **{name: "17.5"})
    assert page.status_code == 422 and "Enter latitude and longitude, or neither of them." in page.text
    assert f'href="#{missing}"' in page.text


def test_a_public_event_gets_no_time_of_publishing(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser)
    assert "Publish at" not in open_page(desk, event, "edit")
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


def test_the_second_answer_of_a_move_has_the_advice_and_the_event_is_read_once(
    client: Client, organiser: Client, desk: Visitor
) -> None:
    sold = CampaignEvent(client, owner=organiser)
    sold.sold("frieda@example.com")
    path = f"{EVENTS}/{sold.event['id']}/edit"
    desk.open(path)
    typed = {"country": "NA", "timezone": "Africa/Windhoek", "startsAt": "2027-06-05T18:00"}
    _, statements = count_statements(lambda: desk.press(form=1, **typed))
    assert sum(text.startswith("SELECT event.") for text in statements) == 2, "the form, and the locked row"
    page = desk.send(form=1, **typed)
    assert page.text.count("People have tickets for the times before.") == 2, "one message for each answer"


def test_what_the_rows_show_is_saved_as_it_was(organiser: Client, desk: Visitor) -> None:
    """Odd percentages, and a time of the hour that comes twice when the clocks change."""
    event = create_published_event(organiser)
    update_event(
        organiser, event, timezone="Europe/Berlin", startsAt="2027-10-30T18:00:00Z", endsAt="2027-10-31T20:00:00Z"
    )
    percents = [12.345, 33.333333, 0.001, 0, 99.99999, 100]
    codes = [{"code": f"C{number}", "percentOff": percent} for number, percent in enumerate(percents)]
    lineup = [{"name": "Ees", "startsAt": "2027-10-31T01:30:00Z", "imageUrl": "https://example.com/ees.jpg"}]
    update_event(organiser, event, promoCodes=codes, lineup=lineup)
    before = read(organiser, event)
    open_page(desk, event, "lists/promo-codes")
    assert desk.send(form=1, **type_row(CODES, 0, maxUses="5")).status_code == 200
    assert [code["percentOff"] for code in read(organiser, event)["promoCodes"]] == percents
    open_page(desk, event, "lists/lineup")
    desk.send(form=1, **type_row("lineup", 0, name="EES", stage="River"))
    (act,) = read(organiser, event)["lineup"]
    assert act == {**before["lineup"][0], "name": "EES", "stage": "River"}


def test_a_code_that_is_typed_in_another_row_keeps_its_ticket_types(organiser: Client, desk: Visitor) -> None:
    event = create_published_event(organiser)
    type_id = event["ticketTypes"][0]["id"]
    update_event(organiser, event, promoCodes=[{"code": "VIPONLY", "percentOff": 90, "ticketTypeIds": [type_id]}])
    open_page(desk, event, "lists/promo-codes")
    empty = dict.fromkeys(("code", "discount", "maxUses"), "")
    desk.send(form=1, **type_row(CODES, 0, **empty), **type_row(CODES, 1, code="viponly", discount="90 %"))
    (code,) = read(organiser, event)["promoCodes"]
    assert (code["code"], code["ticketTypeIds"]) == ("viponly", [type_id])
