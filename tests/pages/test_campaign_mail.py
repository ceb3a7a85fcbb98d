"""How a campaign's mail looks where it is read: in a narrow and in a wide column, light and dark."""

from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import pytest
from flask import Flask
from PIL import Image
from playwright.sync_api import Browser

from app.subscriptions.emails import render_campaign_email
from app.subscriptions.message_links import build_unsubscribe_links
from tests.pages.browser import SCHEMES, SMALL_TARGETS, TARGET
from tests.subscriptions.test_emails import BODY, HOSTILE, ORGANISER, SENDER, TO

PICTURES = Path(__file__).resolve().parents[2] / "artefacts" / "mails"
WIDTHS = (320, 600)
LONG = {"title": HOSTILE["long"], "body": f"{HOSTILE['long']}\n\n{HOSTILE['letters']}"}
RTL = {"title": HOSTILE["rtl"], "body": f"{HOSTILE['rtl']}\n\nAnd one line in English.\n\n{HOSTILE['rtl']}"}


def poster() -> str:
    held = BytesIO()
    Image.linear_gradient("L").resize((1200, 500)).convert("RGB").save(held, "JPEG")
    return f"data:image/jpeg;base64,{b64encode(held.getvalue()).decode()}"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("plain", {"body": BODY}),
        (
            "whole",
            {
                "body": BODY,
                "image_url": "PICTURE",
                "href": "https://events.example/r/6565a1f0c3d2e1b0a9f8e7d6.0.Zk3vQ8mW1xYp0aBc",
                "destination": "https://lights.example/programme",
            },
        ),
        ("long", {**LONG, "href": "https://events.example/" + "x" * 270}),
        ("rtl", {**RTL, "href": "https://events.example/x"}),
    ],
)
def test_how_it_looks(app: Flask, chromium: Browser, name: str, given: dict[str, Any]) -> None:
    links = build_unsubscribe_links(TO, ORGANISER)
    told = {"title": "The gates open an hour earlier", **given}
    html = render_campaign_email(to=TO, key=name, sender=SENDER, unsubscribe=links, **told).html
    html = html.replace('src="PICTURE"', f'src="{poster()}"')
    PICTURES.mkdir(parents=True, exist_ok=True)
    page = chromium.new_page()
    for width in WIDTHS:
        for scheme in SCHEMES:
            look(page, html, name, width, scheme)
    page.close()


def look(page: Any, html: str, name: str, width: int, scheme: Literal["light", "dark"]) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.emulate_media(color_scheme=scheme)
    page.set_content(html)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "scrolls sideways"
    assert page.evaluate(SMALL_TARGETS, TARGET) == []
    page.screenshot(path=PICTURES / f"campaign-{name}-{width}-{scheme}.png", full_page=True)
