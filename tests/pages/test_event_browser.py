"""The pages of events in a browser: every state in three widths, light and dark."""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Browser

from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_published_event
from tests.http import Client, data
from tests.pages.browser import open_view
from tests.pages.test_event_page import TYPES, set_sold

SERIES = "events"
DESCRIPTION = (
    "Three nights of music between the dunes.\n\nBring a blanket: the nights are cold. Water is free at the gate."
)


@pytest.fixture
def owner(client: Client) -> Client:
    return create_signed_in_client(
        client, create_account("organiser", name="Windhoek Lights", email="office@lights.example")
    )


def upload_cover(owner: Client) -> str:
    image, content = Image.new("RGB", (1600, 900), "#2A6F97"), BytesIO()
    ImageDraw.Draw(image).polygon([(0, 900), (700, 300), (1600, 900)], fill="#A84C1B")
    image.save(content, "JPEG")
    files = {"file": (BytesIO(content.getvalue()), "cover.jpg")}
    return str(data(owner.flask.post("/api/events/upload-cover", data=files, headers=owner.headers), 201)["url"])


def create_full_event(owner: Client, **fields: Any) -> dict[str, Any]:
    return create_published_event(
        owner,
        **{
            "name": "Windhoek Lights",
            "description": DESCRIPTION,
            "coverImageUrl": upload_cover(owner),
            "ticketTypes": TYPES,
            "lineup": [
                {"name": "Ees", "stage": "River stage", "startsAt": "2027-06-04T19:30:00"},
                {"name": "Shishani & the Namibian Tales", "stage": "Dune stage"},
                {"name": "ǂGaes"},
            ],
            "sponsors": [{"name": "Kalahari Coffee", "tier": "gold", "href": "https://coffee.example"}],
            "ticketsUrl": "https://tickets.example/lights",
            "isCashless": True,
            "stallTypes": [{"name": "Food", "feeMinor": 250000}],
            **fields,
        },
    )


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_how_the_page_of_an_event_looks(owner: Client, address: str, chromium: Browser, scripts: bool) -> None:
    events = {
        "full": create_full_event(owner),
        "bare": create_published_event(owner, name="Book fair", ticketTypes=None, capacity=40),
        "over": create_full_event(
            owner, name="Last year", startDate="2026-01-09", endDate="2026-01-10", lineup=[{"name": "Ees"}]
        ),
        "long": create_full_event(
            owner, name="Windhoekerlichterfest" * 9 + "2027", lineup=[{"name": f"Band {n}"} for n in range(80)]
        ),
        "right-to-left": create_full_event(
            owner, name="مهرجان أضواء الصحراء 2027", venue="حديقة النهر", description="ثلاث ليالٍ من الموسيقى."
        ),
        "sold-out": create_full_event(owner, name="Sold out", ticketTypes=TYPES[:1]),
    }
    set_sold(events["sold-out"], 100)
    with open_view(chromium, SERIES, scripts=scripts) as view:
        for state, event in events.items():
            view.page.goto(f"{address}/e/{event['slug']}")
            view.check(state)
        view.page.goto(f"{address}/e/unknown")
        view.check("unknown")


def test_how_the_list_looks(owner: Client, address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        view.page.goto(f"{address}/events")
        view.check("list-empty")
        for number in range(22):
            create_published_event(owner, name=f"Windhoek Lights {number}", city="Windhoek")
        view.page.goto(f"{address}/events")
        view.check("list")
        view.page.goto(f"{address}/events?q=windhuk&category=jazz")
        view.check("list-error")
        view.page.goto(f"{address}/events?q=windhuk")
        view.check("list-nothing-found")


def test_a_visitor_finds_an_event_without_scripts(owner: Client, address: str, chromium: Browser) -> None:
    create_full_event(owner)
    create_published_event(owner, name="Book fair")
    with open_view(chromium, SERIES, scripts=False) as view:
        view.page.goto(f"{address}/")
        view.page.click("text=Find an event")
        view.page.focus("#q")
        view.page.keyboard.type("lights")
        with view.page.expect_navigation():
            view.page.keyboard.press("Enter")
        assert view.page.locator("main li a").all_inner_texts() == ["Windhoek Lights"]
        view.page.click("text=Windhoek Lights")
        assert view.page.locator("h1").inner_text() == "Windhoek Lights"
        with view.page.expect_download() as download:
            view.page.click("text=Add to your calendar")
        assert download.value.suggested_filename == "windhoek-lights.ics"
        view.page.click("text=Apply for a stall")
        assert view.page.locator("h1").inner_text() == "Apply for a stall at Windhoek Lights"
