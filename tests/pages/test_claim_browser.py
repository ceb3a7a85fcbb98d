"""The claim page and the allocator page in a browser: narrow and wide, light and dark, with a screenshot of each state."""

import pytest
from playwright.sync_api import Browser

from tests.http import Client, data
from tests.pages.browser import open_view
from tests.pages.test_claim_page import a_block, allocator_link, invited, open_link

SERIES = "claiming"
FAR = "http://127.0.0.1:9/x"
LONG = f"שלום עולם \U0001f3aa <img src={FAR}> " + "Wilhelmina-Nangolo-" * 7


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_claiming_a_ticket(client: Client, address: str, chromium: Browser, scripts: bool) -> None:
    owner, block, _ = a_block(client, holder={"organisation": "Bank Windhoek"})
    with open_view(chromium, SERIES, scripts=scripts) as view:
        page = view.page
        page.goto(address + invited(owner, block))
        view.check("claim")
        page.get_by_label("E-mail address").fill("frieda at guest")
        page.get_by_label("Phone number").fill("12")
        page.get_by_role("button", name="Claim my ticket").click()
        view.check("claim-wrong")
        page.get_by_label("E-mail address").fill("frieda@guest.example")
        page.get_by_label("Phone number").fill("081 123 4567")
        page.get_by_role("button", name="Claim my ticket").click()
        view.check("ticket")
        code = page.locator("svg.qr").bounding_box()
        assert code and code["width"] >= 200 and code["width"] == code["height"]
        with page.expect_download() as found:
            page.get_by_role("link", name="Download the PDF").click()
        assert found.value.path().read_bytes().startswith(b"%PDF-")
        page.get_by_role("link", name="Pass this ticket on, or give it back").click()
        page.get_by_text("Give the ticket back").click()
        view.check("ticket-change")
        page.get_by_role("button", name="Yes, give it back").click()
        view.check("ticket-given-back")


def test_a_party_with_a_long_name_by_the_list(client: Client, address: str, chromium: Browser) -> None:
    owner, block, _ = a_block(client, 5, holder={"organisation": LONG})
    path = open_link(owner, block, maxPerClaim=3)
    with open_view(chromium, SERIES) as view:
        page = view.page
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address + path)
        page.get_by_label("Name of the guest").fill(LONG)
        page.get_by_label("E-mail address").fill("frieda@guest.example")
        page.get_by_label("How many tickets").fill("3")
        view.check("open-link")
        page.get_by_role("button", name="Claim my tickets").click()
        view.check("party")
        assert [url for url in asked if not url.startswith((address, "data:"))] == []
    with open_view(chromium, SERIES) as view:
        page = view.page
        page.goto(address + path)
        page.get_by_label("Name of the guest").fill(LONG)
        page.get_by_label("E-mail address").fill("tuli@guest.example")
        page.get_by_label("By my name at the gate").check()
        page.get_by_role("button", name="Claim my tickets").click()
        view.check("will-call")


def test_expired_links(client: Client, address: str, chromium: Browser) -> None:
    owner, block, _ = a_block(client, 1)
    path = open_link(owner, block)
    with open_view(chromium, SERIES) as view:
        page = view.page
        page.goto(address + path)
        page.get_by_label("Name of the guest").fill("Frieda")
        page.get_by_label("E-mail address").fill("frieda@guest.example")
        page.get_by_role("button", name="Claim my ticket").click()
        page.context.clear_cookies()
        page.goto(address + path)
        view.check("sold-out")
        data(owner.post(f"{block}/open-link", {"rotate": True}))
        page.goto(address + path)
        view.check("ended")
        page.goto(f"{address}/claim/nonsense")
        view.check("unknown")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_handing_out(client: Client, address: str, chromium: Browser, scripts: bool) -> None:
    owner, block, _ = a_block(client, 2, holder={"organisation": "Bank Windhoek"})
    with open_view(chromium, "handing-out", scripts=scripts) as view:
        page = view.page
        page.goto(address + allocator_link(owner, block))
        view.check("empty")
        page.get_by_role("button", name="Hand out a ticket").click()
        view.check("wrong")
        for name, email in (("Frieda Amupolo", "frieda@guest.example"), (LONG, "tuli@guest.example")):
            page.get_by_label("Name of the guest").fill(name)
            page.get_by_label("E-mail address of the guest").fill(email)
            page.get_by_role("button", name="Hand out a ticket").click()
            view.check(f"after-{email[:4]}")
        page.get_by_role("link", name="Frieda Amupolo").click()
        view.check("slot")
        page.get_by_label("Name of the guest").fill("")
        page.get_by_role("button", name="Change the guest").click()
        view.check("slot-wrong")
        page.get_by_text("Take the ticket back").click()
        view.check("slot-ask")
        page.get_by_role("button", name="Yes, take it back").click()
        view.check("taken-back")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_handing_out_several_at_once(client: Client, address: str, chromium: Browser, scripts: bool) -> None:
    owner, block, _ = a_block(client, 9, holder={"organisation": "Bank Windhoek"})
    with open_view(chromium, "handing-out-several", scripts=scripts) as view:
        page = view.page
        page.goto(address + allocator_link(owner, block))
        page.get_by_role("link", name="Hand out several at once").click()
        view.check("empty")
        guests = page.get_by_label("Guests", exact=True)
        guests.fill(f"Anna, anna@{'long-' * 20}\nwww.example.com\nBen +100")
        page.get_by_role("button", name="Check the list").click()
        view.check("wrong")
        guests.fill(f"{LONG.partition('<')[0]}, frieda@guest.example\nRas Sheehama +2\nElemotho\nElemotho")
        page.get_by_role("button", name="Check the list").click()
        view.check("check")
        page.get_by_role("button", name="Hand out 5 tickets").click()
        view.check("handed-out")
        page.get_by_role("link", name="Elemotho").click()
        view.check("slot-at-the-gate")
