"""The guests of an event in a browser: every page at 320 px, light and dark, with scripts and without."""

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from tests.factories.accounts import create_signed_in_client, run_jobs
from tests.factories.allocations import create_block
from tests.factories.applications import TRANSFER_DAY
from tests.http import Client
from tests.pages.browser import open_view
from tests.pages.desk.test_guests import HOLDER
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_an_organiser_gives_places_out(
    app: Flask, client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    owner = create_owner("Namib Events")
    block = create_block(client, owner=create_signed_in_client(client, owner), holder=HOLDER)
    (slot_id, _) = block.claimed(2, name="Frieda")
    block.admit(slot_id, gate="North gate")
    with open_view(chromium, "desk-guests", scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{address}/desk/events/{block.event['id']}/guests")
        view.check("blocks")
        page.get_by_role("link", name="New block").click()
        page.get_by_label("Places", exact=True).fill("500")
        page.get_by_text("More: release").click()
        view.check("new")
        page.get_by_role("button", name="Show the price").click()
        view.check("price")
        page.get_by_role("button", name="Make the block").click()
        view.check("new-wrong")
        page.get_by_label("Places", exact=True).fill("20")
        page.get_by_label("Name of the block").fill("Silver sponsor")
        page.get_by_label("Holder: e-mail address").fill("sara@bank.example")
        page.get_by_role("button", name="Make the block").click()
        expect(page.get_by_text("The block is made. Hand out its places now or later.")).to_be_visible()
        page.get_by_role("link", name="Invite guests").click()
        page.get_by_label("Guests", exact=True).fill("Anna Shilongo, anna@example.com\nBen Amupolo, ben@example.com")
        view.check("invite")
        page.get_by_role("button", name="Check the list").click()
        view.check("invite-check")
        page.get_by_role("button", name="Send 2 invitations").click()
        expect(page.get_by_text("Invited: 2.")).to_be_visible()
        view.check("block")
        path = page.url
        for name, state in (("edit", "edit"), ("remind", "remind"), ("release", "release"), ("report", "report")):
            page.goto(f"{path}/{name}")
            view.check(state)
        page.goto(f"{path}/codes/new")
        page.get_by_label("How many").fill("3")
        page.get_by_role("button", name="Make the codes").click()
        view.check("codes")
        page.goto(f"{path}/holder-link")
        view.check("holder-link")
        page.get_by_role("button", name="Make the link").click()
        view.check("link")
        page.goto(f"{path}/open-link")
        view.check("open-link")
        page.goto(f"{path}/plan")
        page.get_by_label("When").fill("2027-06-01T10:00")
        page.get_by_label("How many to give back then").fill("50 %")
        page.get_by_role("button", name="Add the step").click()
        view.check("plan")
        page.goto(f"{path}/packs/new")
        page.get_by_label("How many tickets").fill("2")
        page.get_by_role("button", name="Make the tickets").click()
        view.check("packs-drawing")
        run_jobs()
        page.goto(f"{path}/packs")
        view.check("packs")
        page.goto(path)
        page.get_by_label("Choose Anna Shilongo").check()
        page.get_by_role("button", name="Move the chosen ones").click()
        view.check("move")
        page.goto(path)
        page.get_by_role("link", name="Take back the place of Ben Amupolo").click()
        view.check("take-back")
        page.get_by_role("button", name="Take it back").click()
        expect(page.get_by_text("Ben Amupolo: the place is taken back.")).to_be_visible()
        page.get_by_role("link", name="Open the invoice").click()
        view.check("invoice-none")
        page.get_by_role("link", name="Change the buyer").click()
        page.get_by_label("Postal address").fill("12 Independence Avenue\nWindhoek")
        view.check("invoice-buyer")
        page.get_by_role("button", name="Save").click()
        view.check("invoice-preview")
        page.get_by_role("button", name="Issue without sending").click()
        view.check("invoice-without-bank")
        page.get_by_label("Issue it without bank details").check()
        page.get_by_role("button", name="Issue without sending").click()
        page.get_by_role("link", name="Payment received").click()
        page.get_by_label("Day on which it came in").fill(TRANSFER_DAY)
        view.check("payment")
        page.get_by_role("button", name="Record the payment").click()
        view.check("invoice-paid")
        page.goto(f"{address}/desk/events/{block.event['id']}/guests/will-call?q=frieda")
        view.check("will-call")
        page.get_by_role("link", name="Admit").click()
        view.check("admit")
        page.get_by_role("button", name="Admit").click()
        expect(page.get_by_text("is admitted.")).to_be_visible()
