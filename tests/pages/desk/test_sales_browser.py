"""The sales of an event in a browser: every page at 320 px, light and dark, with scripts and without."""

from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from app.core.outbox.executor import run_due_jobs
from app.events.actions import ticket_uploads
from tests.events.test_import import TYPES
from tests.factories.accounts import create_signed_in_client
from tests.factories.events import create_published_event
from tests.http import Client
from tests.pages.browser import open_view
from tests.pages.desk.test_sales import HEADER, OTHER, PRETIX, ROWS
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner


def as_file(content: str, name: str = "tickets.csv") -> dict[str, Any]:
    return {"name": name, "mimeType": "text/csv", "buffer": content.encode()}


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_an_organiser_imports_the_sales_and_undoes_it(
    app: Flask, client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    owner = create_owner("Namib Events")
    event = create_published_event(create_signed_in_client(client, owner), name="Windhoek Lights", ticketTypes=TYPES)
    with open_view(chromium, "desk-sales", scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{address}/desk/events/{event['id']}/sales")
        view.check("empty")
        page.get_by_role("link", name="Import sales").click()
        view.check("upload")
        page.get_by_role("button", name="Check the file").click()
        view.check("upload-wrong")
        page.get_by_label("File with the tickets").set_input_files(PRETIX)
        page.get_by_role("button", name="Check the file").click()
        expect(page.get_by_text("Nothing is imported yet.")).to_be_visible()
        view.check("checked")
        page.get_by_role("button", name="Import the tickets").click()
        expect(page.get_by_text("The tickets are imported")).to_be_visible()
        view.check("imported")
        page.get_by_role("link", name="See the sales").click()
        expect(page.get_by_role("img", name="Sold each day: the table below has the numbers")).to_be_visible()
        page.locator("summary").first.click()
        view.check("charts")
        page.get_by_role("link", name="All tickets").click()
        view.check("tickets")
        page.goto(f"{address}/desk/events/{event['id']}/sales/imports")
        view.check("imports")
        page.get_by_role("link", name="1", exact=True).click()
        view.check("import")
        page.get_by_role("link", name="Undo this import").click()
        view.check("undo")
        page.get_by_role("button", name="Undo the import").click()
        expect(page.get_by_text("The import is undone.")).to_be_visible()
        view.check("undone")


def test_columns_types_and_errors(app: Flask, client: Client, address: str, chromium: Browser) -> None:
    owner = create_owner("Namib Events")
    event = create_published_event(create_signed_in_client(client, owner), name="Windhoek Lights", ticketTypes=TYPES)
    with open_view(chromium, "desk-sales-columns") as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{address}/desk/events/{event['id']}/sales/import")
        page.get_by_label("File with the tickets").set_input_files(as_file(OTHER))
        page.get_by_role("button", name="Check the file").click()
        view.check("columns")
        page.get_by_label("Nr").select_option("Not used")
        page.get_by_role("button", name="Check the file").click()
        view.check("columns-wrong")
        page.get_by_label("Nr").select_option("Number of the ticket")
        page.get_by_label("Kind").select_option("Ticket type")
        page.get_by_role("button", name="Check the file").click()
        view.check("types")
        page.get_by_label("Early Bird").select_option("Weekend pass")
        page.get_by_role("button", name="Check with these choices").click()
        expect(page.get_by_text("Nothing is imported yet.")).to_be_visible()
        page.get_by_role("link", name="Take another file").click()
        content = HEADER + ROWS + "A3,Weekend pass,,nobody,8.5.0,yesterday,sold,three\n"
        page.get_by_label("File with the tickets").set_input_files(as_file(content))
        page.get_by_role("button", name="Check the file").click()
        view.check("errors")


def test_a_large_file_shows_its_progress(
    app: Flask, client: Client, address: str, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticket_uploads, "MAX_SYNC_ROWS", 1)
    owner = create_owner("Namib Events")
    event = create_published_event(create_signed_in_client(client, owner), name="Windhoek Lights", ticketTypes=TYPES)
    with open_view(chromium, "desk-sales-progress") as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{address}/desk/events/{event['id']}/sales/import")
        page.get_by_label("File with the tickets").set_input_files(as_file(HEADER + ROWS))
        page.get_by_role("button", name="Check the file").click()
        view.check("progress")
        run_due_jobs(worker="test")
        page.get_by_role("button", name="Import the tickets").click()
        expect(page.get_by_text("Importing the tickets", exact=False).first).to_be_visible()
        run_due_jobs(worker="test")
        expect(page.get_by_text("The tickets are imported", exact=False).first).to_be_visible()
        page.get_by_role("link", name="See the sales").click()
        expect(page.get_by_role("img", name="Sold each day: the table below has the numbers")).to_be_visible()
