"""The organiser's team in a browser alone: inviting, joining, a phone, a key, and removing."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.factories.accounts import PASSWORD, create_account, create_customer, create_signed_in_client, list_mails_to
from tests.factories.events import create_event
from tests.http import Client, data, read_error
from tests.pages.browser import open_view

SERIES = "team"


def sign_in(page: Page, address: str, email: str) -> None:
    page.goto(f"{address}/sign-in")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def find_path(email: str) -> str:
    text = next(mail["text"] for mail in list_mails_to(email) if "/join/" in mail["text"])
    match = re.search(r"https?://\S+/join/\S+", text)
    assert match
    return urlsplit(match[0]).path


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_an_organiser_runs_a_team_in_a_browser_alone(
    client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    organiser, helper = create_account("organiser", name="Ndapewa Iita"), create_customer(name="Tuli Hamutenya")
    owner = create_signed_in_client(client, organiser)
    event = create_event(owner, name="Windhoek Lights")
    with open_view(chromium, SERIES, scripts=scripts) as view:
        page = view.page
        sign_in(page, address, organiser.email)
        page.get_by_role("link", name="Teams").click()
        view.check("team-alone")
        page.get_by_role("button", name="Send the invitation").click()
        view.check("team-invite-wrong")
        page.get_by_label("E-mail address").fill(helper.email)
        page.locator("input[value=door]").check()
        page.get_by_text("Only for some events").click()
        page.get_by_label("Windhoek Lights").check()
        page.get_by_role("button", name="Send the invitation").click()
        expect(page.get_by_text(f"We sent the invitation to {helper.email}.")).to_be_visible()
        view.check("team-invited")
    with open_view(chromium, SERIES, scripts=scripts) as view:
        page = view.page
        page.goto(f"{address}{find_path(helper.email)}")
        view.check("join")
        page.get_by_role("link", name="Sign in to join").click()
        page.get_by_label("E-mail address").fill(helper.email)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        view.check("join-signed-in")
        page.get_by_role("button", name="Join the team").click()
        view.check("teams-of-a-member")
        page.goto(f"{address}{find_path(helper.email)}")
        view.check("join-used")
    helper_client = create_signed_in_client(client, helper)
    data(helper_client.get(f"/api/events/{event['id']}/allocations/will-call"))
    with open_view(chromium, SERIES, scripts=scripts) as view:
        page = view.page
        sign_in(page, address, organiser.email)
        page.get_by_role("link", name="Teams").click()
        page.get_by_role("link", name="Change or remove Tuli Hamutenya").click()
        view.check("team-member")
        page.get_by_role("button", name="Remove Tuli Hamutenya").click()
        expect(page.get_by_text("Removed.")).to_be_visible()
    assert read_error(helper_client.get(f"/api/events/{event['id']}")) == (403, "ROLE_NOT_ALLOWED")


def test_a_phone_and_a_key_are_made_and_ended_in_a_browser(client: Client, address: str, chromium: Browser) -> None:
    organiser = create_account("organiser")
    event = create_event(create_signed_in_client(client, organiser), name="Windhoek Lights")
    with open_view(chromium, SERIES) as view:
        page = view.page
        sign_in(page, address, organiser.email)
        page.get_by_role("link", name="Phones").click()
        view.check("phones-events")
        page.get_by_role("link", name="Windhoek Lights").click()
        view.check("phones-none")
        page.get_by_label("Name").fill("Gate A, phone 1")
        page.get_by_role("button", name="Show the code").click()
        view.check("phone-code")
        code = page.locator("#code").inner_text().strip()
        with open_view(chromium, SERIES) as phone:
            phone.page.goto(f"{address}/pair/{code}")
            phone.check("pair")
            phone.page.get_by_role("button", name="Pair this phone").click()
            phone.check("paired")
            phone.page.goto(f"{address}/pair/{code}")
            phone.page.get_by_role("button", name="Pair this phone").click()
            phone.check("pair-used")
        page.get_by_role("link", name="The phone is paired").click()
        view.check("phones")
        page.get_by_role("button", name="End Gate A, phone 1").click()
        expect(page.get_by_text("The phone is ended.")).to_be_visible()
        page.goto(f"{address}/account/api-keys")
        view.check("keys-none")
        page.get_by_role("button", name="Make the key").click()
        view.check("keys-wrong")
        page.get_by_label("Name").fill("Ticket shop")
        page.locator("input[value='events:read']").check()
        page.get_by_label("Your password").fill(PASSWORD)
        page.get_by_role("button", name="Make the key").click()
        view.check("key-made")
        shop = client.as_(page.locator("#key").inner_text().strip())
        data(shop.get(f"/api/events/{event['id']}"))
        page.get_by_role("link", name="I have copied it").click()
        view.check("keys")
        page.get_by_role("button", name="End Ticket shop").click()
        expect(page.get_by_text("The key is ended.")).to_be_visible()
        assert read_error(shop.get(f"/api/events/{event['id']}")) == (401, "SESSION_ENDED")


def test_somebody_else_cannot_join_with_the_link(client: Client, address: str, chromium: Browser) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    invited, other = create_customer(), create_customer()
    data(owner.post("/api/organisations/me/members", {"email": invited.email, "role": "door"}), 201)
    with open_view(chromium, SERIES) as view:
        sign_in(view.page, address, other.email)
        view.page.goto(f"{address}{find_path(invited.email)}")
        expect(view.page.get_by_text("This invitation is for another address.")).to_be_visible()
        view.check("join-another-address")
        for path in ("/account/api-keys", "/account/devices", "/account/team/organiser"):
            assert view.page.goto(f"{address}{path}").status == 403  # type: ignore[union-attr]
        view.check("team-refused")
