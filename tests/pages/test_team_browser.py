"""The organiser's team in a browser alone: inviting, joining, a phone, a key, and removing."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    find_newest_code,
    list_mails_to,
)
from tests.factories.events import create_event
from tests.factories.payouts import execute_sql
from tests.factories.second_factors import turn_on
from tests.http import Client, data, read_error
from tests.pages.browser import open_view
from tests.pages.test_team_pages import add_member, create_owner

SERIES, NEW_EMAIL = "team", "tuli@example.com"


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
        page.get_by_role("link", name="Team").click()
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
        page.get_by_role("link", name="Team").click()
        page.get_by_role("link", name="Change or remove Tuli Hamutenya").click()
        view.check("team-member")
        page.get_by_role("button", name="Remove Tuli Hamutenya").click()
        expect(page.get_by_text("Removed.")).to_be_visible()
    assert read_error(helper_client.get(f"/api/events/{event['id']}")) == (403, "ROLE_NOT_ALLOWED")


def invite_to_team(client: Client, email: str) -> str:
    """The path of the page of the invitation."""
    owner = create_signed_in_client(client, create_account("organiser"))
    data(owner.post("/api/organisations/me/members", {"email": email, "role": "door"}), 201)
    return find_path(email)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_an_invited_person_without_an_account_joins_with_one_press(
    client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    path = invite_to_team(client, NEW_EMAIL)
    with open_view(chromium, SERIES, scripts=scripts) as view:
        page = view.page
        page.goto(f"{address}{path}")
        page.get_by_role("link", name="Create one").click()
        expect(page.get_by_label("Your e-mail address")).to_have_value(NEW_EMAIL)
        page.get_by_role("button", name="Sign up").click()
        view.check("join-sign-up-wrong")
        page.get_by_label("First name").fill("Tuli")
        page.get_by_label("Last name").fill("Hamutenya")
        page.get_by_label("Choose a password").fill(PASSWORD)
        page.get_by_role("button", name="Sign up").click()
        page.goto(f"{address}/verify")
        page.get_by_label("Code from the e-mail").fill(find_newest_code(NEW_EMAIL))
        page.get_by_role("button", name="Confirm the address").click()
        expect(page).to_have_url(f"{address}{path}")
        page.get_by_role("button", name="Join the team").click()
        expect(page.get_by_text("Welcome to the team.")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_who_is_signed_in_as_somebody_else_joins_with_another_account(
    client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    invited, other = create_customer(), create_customer()
    path = invite_to_team(client, invited.email)
    with open_view(chromium, SERIES, scripts=scripts) as view:
        page = view.page
        sign_in(page, address, other.email)
        page.goto(f"{address}{path}")
        page.get_by_role("button", name="Sign out, and use another account").click()
        page.get_by_role("link", name="I forgot my password").click()
        page.get_by_label("Your e-mail address").fill(invited.email)
        page.get_by_role("button", name="Send me a code").click()
        page.get_by_label("Code from the e-mail").fill(find_newest_code(invited.email))
        page.get_by_label("New password").fill(f"{PASSWORD} too")
        page.get_by_role("button", name="Set the new password").click()
        page.get_by_role("main").get_by_role("link", name="Sign in").click()
        page.get_by_label("E-mail address").fill(invited.email)
        page.get_by_label("Password", exact=True).fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("Password", exact=True).fill(f"{PASSWORD} too")
        page.get_by_role("button", name="Sign in").click()
        expect(page).to_have_url(f"{address}{path}")
        page.get_by_role("button", name="Join the team").click()
        expect(page.get_by_text("Welcome to the team.")).to_be_visible()


def test_an_unverified_person_comes_back_after_the_code(client: Client, address: str, chromium: Browser) -> None:
    invited = create_customer(verified=False)
    path = invite_to_team(client, invited.email)
    with open_view(chromium, SERIES) as view:
        page = view.page
        sign_in(page, address, invited.email)
        page.goto(f"{address}{path}")
        page.get_by_role("link", name="Enter the code").click()
        page.get_by_role("button", name="Send me a new code").click()
        page.get_by_label("Code from the e-mail").fill(find_newest_code(invited.email))
        page.get_by_role("button", name="Confirm the address").click()
        expect(page).to_have_url(f"{address}{path}")


def test_a_phone_and_a_key_are_made_and_ended_in_a_browser(client: Client, address: str, chromium: Browser) -> None:
    organiser = create_account("organiser")
    event = create_event(create_signed_in_client(client, organiser), name="Windhoek Lights")
    with open_view(chromium, SERIES) as view:
        page = view.page
        sign_in(page, address, organiser.email)
        page.get_by_role("link", name="Team").click()
        page.get_by_role("main").get_by_role("link", name="Phones").click()
        view.check("phones-events")
        page.get_by_role("link", name="Windhoek Lights").click()
        view.check("phones-none")
        page.get_by_role("link", name="Add a phone").click()
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
        expect(page.get_by_text("Gate A, phone 1 is paired.")).to_be_visible()
        page.get_by_role("link", name="All phones").click()
        view.check("phones")
        page.get_by_role("link", name="End Gate A, phone 1").click()
        view.check("phone-end")
        page.get_by_role("button", name="End the phone").click()
        expect(page.get_by_text("The phone is ended.")).to_be_visible()
        page.goto(f"{address}/desk/keys")
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
        page.get_by_role("link", name="End Ticket shop").click()
        page.get_by_role("button", name="End the key").click()
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
        for path in ("/desk/keys", "/desk/devices", "/desk/team"):
            view.page.goto(f"{address}{path}")
            expect(view.page.get_by_text("You have no organisation yet")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_the_owner_requires_a_second_factor_and_signs_in_again(
    client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    owner, member, other = create_owner("Windhoek Lights"), create_customer(), create_owner("Swakop Jazz")
    add_member(client, owner, member)
    add_member(client, other, owner, "finance")
    with open_view(chromium, SERIES, scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.get_by_role("link", name="Account", exact=True).click()
        view.check("account-of-two-organisations")
        turn_on(owner)
        page.get_by_role("link", name="See the team of Windhoek Lights").click()
        view.check("team-second-factor")
        page.get_by_role("button", name="Require a second factor").click()
        expect(page.get_by_text("Members of the team now need a second factor.")).to_be_visible()
        view.check("team-second-factor-required")
        execute_sql("UPDATE account SET password_hash = NULL, second_factor_since = NULL WHERE id = :id", id=owner.id)
        execute_sql("UPDATE account_session SET created_at = now() - interval '11 minutes'")
        page.get_by_role("link", name="Change or remove").click()
        view.check("team-member-sign-in-again")
        member_page = page.url
        page.get_by_role("link", name="Sign in again").click()
        view.check("sign-in-again")
        execute_sql(
            "UPDATE account SET password_hash = (SELECT password_hash FROM account WHERE id = :other) WHERE id = :id",
            id=owner.id,
            other=member.id,
        )
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page).to_have_url(member_page)
    with open_view(chromium, SERIES, scripts=scripts) as view:
        sign_in(view.page, address, member.email)
        expect(view.page.get_by_text("Turn on a second factor.")).to_be_visible()
        view.check("account-lacks-second-factor")
