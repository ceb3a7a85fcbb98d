"""The application form and the list of invitations in a browser: every state in three widths, light and dark."""

import pytest
from playwright.sync_api import Browser

from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client
from tests.factories.applications import EMAIL, create_approved_application
from tests.factories.events import create_event, create_published_event
from tests.factories.merchants import answer_invitation, create_merchant_account, invite_merchants
from tests.http import Client, data
from tests.pages.browser import PageView, open_view
from tests.pages.test_application_drafts import find_path
from tests.pages.test_apply_page import TYPED, TYPES

SERIES = "apply"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_signed_in_client(
        client, create_account("organiser", name="Windhoek Lights", email="o@lights.example")
    )


def type_form(view: PageView) -> None:
    for name in ("businessName", "contactName", "email", "phone", "products", "description", "website"):
        view.page.fill(f"#{name}", TYPED[name])


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_how_the_form_looks(owner: Client, client: Client, address: str, chromium: Browser, scripts: bool) -> None:
    event = create_published_event(owner, name="Windhoek Lights and the long night of grills", stallTypes=TYPES)
    create_approved_application(
        client, owner, eventId=event["id"], stallType="Info stall", amountMinor=0, email="info@example.com"
    )
    with open_view(chromium, SERIES, scripts=scripts) as view:
        view.page.goto(f"{address}/apply/{event['id']}")
        view.check("open")
        view.page.click("text=Send the application")
        view.check("errors")
        type_form(view)
        view.page.click("text=Save and go on later")
        view.check("saved")
        view.page.goto(f"{address}{find_path()}")
        view.check("draft")
        view.page.check("text=Food stall")
        view.page.click("text=Send the application")
        view.check("sent")
        view.page.goto(f"{address}/apply/{create_event(owner)['id']}")
        view.check("closed")
        free = create_published_event(owner, name="Book fair")
        view.page.goto(f"{address}/apply/{free['id']}")
        view.check("without-types")
        mailed = {"email": EMAIL, "businessName": "Kapana Corner", "stallType": "Food", "feeMinor": 120000}
        slug = data(owner.post(f"/api/events/{free['id']}/merchant-invite", mailed), 201)["slug"]
        view.page.goto(f"{address}/merchant-invite/{slug}")
        view.page.click("text=Decline the invitation")
        view.check("mailed-link")
        view.page.click("button:has-text('Decline')")
        view.check("declined")


def test_how_the_invitations_look(owner: Client, client: Client, address: str, chromium: Browser) -> None:
    merchant = create_merchant_account("Omaere Crafts")
    with open_view(chromium, SERIES) as view:
        view.page.goto(f"{address}/sign-in?next=/invitations")
        view.page.fill("#email", merchant.email)
        view.page.fill("#password", PASSWORD)
        view.page.press("#password", "Enter")
        view.check("no-invitations")
        first, second = (create_published_event(owner, name=name) for name in ("Night market at the dam", "Book fair"))
        terms = {"stallType": "Crafts", "feeMinor": 60000}
        invite_id = invite_merchants(owner, first["id"], merchant, **terms)["invited"][0]["inviteId"]
        answer_invitation(create_signed_in_client(client, merchant), invite_id)
        invite_merchants(owner, second["id"], merchant, **terms, message="We keep a place by the gate.")
        view.page.reload()
        view.page.click("summary")
        view.check("invitations")
        view.page.click("text=Book fair")
        view.check("personal")


def test_form_is_sent_by_keyboard(owner: Client, address: str, chromium: Browser) -> None:
    event = create_published_event(owner, name="Windhoek Lights", stallTypes=TYPES)
    with open_view(chromium, SERIES, scripts=False) as view:
        view.page.goto(f"{address}/apply/{event['id']}")
        view.page.focus("#businessName")
        for text in ("Kapana Corner", "Tuli Hamutenya", EMAIL, "081 123 4567"):
            view.page.keyboard.type(text)
            view.page.keyboard.press("Tab")
        view.page.keyboard.press("Space")
        view.page.keyboard.press("ArrowDown")
        for _ in range(6):
            view.page.keyboard.press("Tab")
        assert view.focused_element == "Send the application"
        view.page.keyboard.press("Enter")
        view.page.wait_for_url("**/apply/sent")
        assert "N$\u00a0600.00" in view.page.inner_text("main")
        assert view.page.get_attribute("#pictures", "multiple") is not None
        view.check("sent")
