"""Messages to many in a browser: every page at 320 px, light and dark, with scripts and without."""

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from tests.factories.accounts import create_signed_in_client
from tests.factories.campaigns import CampaignEvent
from tests.http import Client
from tests.pages.browser import open_view
from tests.pages.desk.test_messages import break_deliveries
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_an_organiser_writes_to_many(
    app: Flask, client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    owner = create_owner("Namib Events")
    campaign_event = CampaignEvent(client, owner=create_signed_in_client(client, owner), name="Windhoek Lights")
    campaign_event.sold("frieda@example.com", "john@example.com", "frieda@example.com")
    messages = f"{address}/desk/events/{campaign_event.event['id']}/messages"
    with open_view(chromium, "desk-messages", scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(messages)
        view.check("empty")
        page.get_by_role("link", name="Write a message").click()
        page.get_by_role("link", name="Reminder").click()
        page.get_by_label("Name", exact=True).fill("Gates and parking")
        view.check("form")
        page.get_by_label("E-mail", exact=True).uncheck()
        page.get_by_role("button", name="Save the draft").click()
        view.check("form-wrong")
        page.get_by_label("E-mail", exact=True).check()
        page.get_by_label("SMS").check()
        page.get_by_label("Push message").check()
        page.get_by_text("A second variant", exact=True).click()
        page.get_by_label("Send a second variant to some of the people").check()
        page.get_by_label("Title of variant B").fill("This is how you get there")
        page.get_by_role("button", name="Save the draft").click()
        expect(page.get_by_text("The draft is saved.")).to_be_visible()
        expect(page.frame_locator("iframe").first.get_by_text("Hello Frieda,", exact=True)).to_be_visible()
        view.check("draft")
        page.get_by_role("link", name="Schedule").click()
        view.check("schedule")
        page.get_by_role("link", name="Cancel", exact=True).click()
        page.get_by_role("link", name="Cancel the message").click()
        view.check("cancel")
        page.get_by_role("link", name="Back", exact=True).click()
        page.get_by_role("link", name="Send now").click()
        view.check("send")
        page.get_by_role("button", name="Send it now").click()
        expect(page.get_by_text("Sending has started.")).to_be_visible()
        view.check("sending")
        expect(page.get_by_text("Being sent", exact=True)).to_be_visible()
        campaign_event.finished(page.url.rpartition("/")[2])
        if scripts:
            expect(page.locator("#course .tag")).to_have_text("Sent")
            expect(page.get_by_role("progressbar")).to_have_count(0)
        break_deliveries("uncertain")
        page.reload()
        view.check("sent")
        page.get_by_role("link", name="Send the uncertain ones again").click()
        view.check("resend")
        page.goto(f"{messages}/undelivered")
        view.check("undelivered")
        page.goto(f"{messages}/failed-mails")
        view.check("failed-mails")
        page.goto(f"{messages}/suppressions")
        page.get_by_role("link", name="Stop messages to an address").click()
        page.get_by_label("E-mail address").fill("stop@example.com")
        view.check("stop")
        page.get_by_role("button", name="Stop the messages").click()
        view.check("suppressions")
        page.goto(messages)
        view.check("table")
