"""The gate of an event in a browser: an organiser pairs two phones, one loses its network, and both let in the same guests."""

import re
from io import BytesIO

from flask import Flask
from playwright.sync_api import Browser, Page, expect

from tests.factories.accounts import create_signed_in_client
from tests.factories.gate import Gate
from tests.http import Client, data
from tests.pages.browser import PageView, open_view
from tests.pages.gate_service import GateService
from tests.pages.test_gate_browser import expect_verdict, go_offline, pair_by_code, serve, type_code
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner

SECRET = "s6ecmvmmpdgsxf3rsbybby2qackzhqja"
EXPORT = f"""Event slug,Order code,Position ID,Status,Product,Price,Attendee name,Attendee email,Ticket secret
lights,QSAKY,1,paid,Standard,120.00,Zoë Beukes,fan138@example.org,{SECRET}
"""


def add_phone(view: PageView, name: str) -> str:
    """Add a phone at the desk; return the code on the screen."""
    page = view.page
    page.get_by_role("link", name=re.compile("^Add a")).click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Show the code").click()
    expect(page.get_by_text("Waiting for the phone.")).to_be_visible()
    return page.locator("#code").inner_text().strip()


def admit_both(page: Page, code: str) -> None:
    """Admit a guest and the other one of their party."""
    type_code(page, code)
    expect_verdict(page, "Come in", "Party")
    page.get_by_role("button", name="Admit 1 more").click()
    expect(page.get_by_role("button", name="Admit 1 more")).to_be_hidden()


def test_two_phones_one_without_a_network(app: Flask, client: Client, address: str, chromium: Browser) -> None:
    owner = create_owner("Windhoek Lights")
    gate = Gate(client, owner=create_signed_in_client(client, owner))
    ticket_type = gate.block.event["ticketTypes"][0]["name"]
    file = (BytesIO(EXPORT.replace("Standard", ticket_type).encode()), "pretix.csv")
    options = {"data": {"file": file}, "content_type": "multipart/form-data"}
    imported = data(gate.owner.open("POST", f"/api/events/{gate.event_id}/tickets/import", **options))
    assert (imported["format"], imported["created"]) == ("pretix", 1)
    revoked, (code, _) = gate.claim("Jonas Haufiku"), gate.claim_party(2)
    data(gate.block.revoke(revoked["slotId"]))
    south_service = GateService(app, is_real=True)
    with (
        serve(south_service),
        open_view(chromium, "desk-gate") as view,
        open_view(chromium, "desk-gate") as north_view,
        open_view(chromium, "desk-gate") as south_view,
    ):
        page, north, south = view.page, north_view.page, south_view.page
        sign_in(page, address, owner.email)
        page.goto(f"{address}/desk/events/{gate.event_id}")
        page.get_by_role("link", name="Gate", exact=True).click()
        view.check("gate-empty")
        page.get_by_role("link", name="Phones").click()
        pair_by_code(north, address, add_phone(view, "North"))
        expect(page.get_by_text("North is paired.")).to_be_visible()
        code_of_south = add_phone(view, "South")
        view.check("pair")
        pair_by_code(south, south_service.address, code_of_south)
        expect(page.get_by_text("South is paired.")).to_be_visible()
        for phone in (north, south):
            expect(phone.locator("#state")).to_contain_text("3 places")
        south = go_offline(south_service, south.context)
        type_code(south, SECRET)
        expect_verdict(south, "Come in", "Zoë Beukes", "Not confirmed yet")
        admit_both(south, code)
        type_code(north, SECRET)
        expect_verdict(north, "Come in", "Zoë Beukes")
        admit_both(north, code)
        for phone in (north, south):
            type_code(phone, revoked["code"])
            expect_verdict(phone, "No entry", "This ticket was taken back.")
        south_service.is_down = False
        expect(south.locator("#state-waiting")).to_have_text("All scans are sent.", timeout=30_000)

        page.get_by_role("link", name="Gate", exact=True).click()
        expect(page.get_by_text("conflicts to look at.")).to_be_visible()
        view.check("gate")
        page.get_by_role("link", name="Look at the conflicts").click()
        view.check("conflicts")
        item = page.get_by_role("article").filter(has=page.get_by_role("heading", name="Zoë Beukes"))
        entries = item.get_by_role("listitem")
        expect(entries).to_have_count(2)
        expect(entries.nth(0)).to_contain_text(re.compile(r", South\s+First scan"))
        expect(entries.nth(1)).to_contain_text("North")
        expect(page.get_by_role("heading", name="Jonas Haufiku")).to_have_count(0)
        entries.nth(1).get_by_role("link", name="Undo this scan").click()
        view.check("undo")
        page.get_by_role("button", name="Undo the scan").click()
        expect(page.get_by_text("Enter a reason.").first).to_be_visible()
        page.get_by_label("Reason").fill("The same guest, scanned twice")
        page.get_by_role("button", name="Undo the scan").click()
        expect(page.get_by_text("The scan is undone.")).to_be_visible()
        view.check("log")
        page.goto(f"{address}/desk/events/{gate.event_id}/gate/conflicts")
        expect(page.get_by_role("heading", name="Zoë Beukes")).to_have_count(0)
        page.goto(f"{address}/desk/events/{gate.event_id}/gate/phones")
        view.check("phones")
        page.get_by_role("link", name="End South").click()
        view.check("phone-end")
        page.get_by_role("button", name="End the phone").click()
        expect(page.get_by_text("The phone is ended.")).to_be_visible()
        expect(south.get_by_role("heading", name="This phone is not paired any more")).to_be_visible(timeout=60_000)
        page.goto(f"{address}/desk/events/{gate.event_id}/gate")
        page.get_by_role("link", name="Change how often a ticket may enter").click()
        view.check("reentry")


def test_the_gate_without_scripts(app: Flask, client: Client, address: str, chromium: Browser) -> None:
    owner = create_owner("Windhoek Lights")
    gate = Gate(client, owner=create_signed_in_client(client, owner))
    data(gate.scan(gate.claim()["code"], gate="North"))
    with open_view(chromium, "desk-gate", scripts=False) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{address}/desk/events/{gate.event_id}/gate")
        view.check("gate")
        page.get_by_role("link", name="Entries").click()
        view.check("log")
        page.get_by_role("link", name="Undo").click()
        page.get_by_label("Reason").fill("The wrong ticket")
        page.get_by_role("button", name="Undo the scan").click()
        expect(page.get_by_text("The scan is undone.")).to_be_visible()
        page.goto(f"{address}/desk/events/{gate.event_id}/gate/phones/new")
        page.get_by_label("Name").fill("Gate A, phone 1")
        page.get_by_role("button", name="Show the code").click()
        view.check("pair")
