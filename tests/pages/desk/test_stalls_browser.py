"""The stalls of an event in a browser: every page at 320 px, light and dark, with scripts and without."""

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from tests.factories.accounts import create_signed_in_client
from tests.factories.applications import decide_application
from tests.factories.events import create_published_event
from tests.factories.merchants import create_merchant_account, create_participant
from tests.http import Client
from tests.pages.browser import open_view
from tests.pages.desk.test_stalls import STALL_TYPES, apply
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_an_organiser_fills_the_stalls(
    app: Flask, client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    owner = create_owner("Namib Events")
    organiser = create_signed_in_client(client, owner)
    event = create_published_event(organiser, name="Windhoek Lights", stallTypes=STALL_TYPES)
    decide_application(organiser, apply(client, event))
    decide_application(organiser, apply(client, event, "Second Grill"), "waitlisted")
    apply(client, event, "Ruusa Bakes", stallType="Crafts", amountMinor=80000, description="Bread from clay ovens.")
    create_merchant_account("Omaere Grill")
    create_participant(client, organiser, event["id"], business_name="Brews of Namib")
    with open_view(chromium, "desk-stalls", scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{address}/desk/events/{event['id']}/stalls")
        view.check("table")
        page.get_by_role("link", name="Ruusa Bakes").click()
        view.check("application")
        page.get_by_role("link", name="Approve").click()
        view.check("approve")
        page.get_by_label("Fee in N$").fill("700")
        page.get_by_role("button", name="Approve").click()
        view.check("approve-wrong")
        page.get_by_label("Your reason").fill("A smaller stall")
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_text("The application is approved.")).to_be_visible()
        view.check("application-approved")
        page.get_by_role("link", name="Send a new link").click()
        page.get_by_role("button", name="Make the link").click()
        view.check("link")
        page.goto(f"{address}/desk/events/{event['id']}/stalls")
        page.get_by_label("Choose Second Grill").check()
        page.get_by_role("button", name="Decide the chosen ones").click()
        view.check("decide")
        page.get_by_role("button", name="Approve all").click()
        view.check("decided")
        page.goto(f"{address}/desk/events/{event['id']}/stalls/types")
        view.check("types")
        page.goto(f"{address}/desk/events/{event['id']}/stalls/statement")
        view.check("statement")
        page.goto(f"{address}/desk/events/{event['id']}/stalls/invitations")
        page.get_by_label("Choose Omaere Grill").check()
        view.check("invitations")
        page.get_by_role("button", name="Invite the chosen ones").click()
        view.check("invite")
        page.get_by_role("button", name="Send the invitations").click()
        expect(page.get_by_text("Invited: 1.")).to_be_visible()
        page.goto(f"{address}/desk/events/{event['id']}/stalls/plan")
        view.check("plan")
        page.get_by_role("link", name="Change Brews of Namib").click()
        page.get_by_label("Stall number").fill("B12")
        view.check("place")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("link", name="Sheet to print").click()
        expect(page.get_by_text("B12")).to_be_visible()
        view.check("sheet")
