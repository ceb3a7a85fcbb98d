"""The offer of a place and documents with a last day in a browser: every state in three widths, light and dark."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.factories.applications import (
    PDF,
    create_approved_application,
    create_offered_application,
    find_mailed_token,
)
from tests.factories.events import create_organiser_client
from tests.factories.payouts import execute_sql
from tests.http import Client
from tests.pages.browser import open_view

SERIES = "place-offer"


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_how_an_offer_looks(client: Client, address: str, chromium: Browser, scripts: bool) -> None:
    owner = create_organiser_client(client)
    with open_view(chromium, SERIES, scripts=scripts) as view:
        for name in ("accepts", "declines", "waits"):
            create_offered_application(client, owner, email=f"{name}@example.com")
            view.page.goto(f"{address}/place-offer/{find_mailed_token('place-offer', f'{name}@example.com')}")
            if name == "accepts":
                view.check("open")
                view.page.keyboard.press("Tab")
                view.page.get_by_role("button", name="Accept the place").press("Enter")
                view.check("accepted")
                view.page.get_by_role("link", name="Go on with the next step").click()
                assert "/documents/" in view.page.url
            elif name == "declines":
                view.page.get_by_role("link", name="No, thank you").click()
                view.check("declining")
                view.page.get_by_role("button", name="Yes, I do not want it").click()
                view.check("declined")
        execute_sql("UPDATE application_link SET expires_at = now() WHERE purpose = 'offer' AND used_at IS NULL")
        view.page.goto(f"{address}/place-offer/{find_mailed_token('place-offer', 'waits@example.com')}")
        view.check("ended")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_how_a_document_that_expires_looks(
    client: Client, address: str, chromium: Browser, tmp_path: Path, scripts: bool
) -> None:
    (tmp_path / "scan.pdf").write_bytes(PDF)
    create_approved_application(client, create_organiser_client(client), documentsRequired=["tax_clearance"])
    with open_view(chromium, SERIES, scripts=scripts) as view:
        view.page.goto(f"{address}/documents/{find_mailed_token('documents')}")
        view.check("documents")
        view.page.set_input_files("#tax_clearance", tmp_path / "scan.pdf")
        view.page.fill("#taxClearanceExpiresOn", "2027-06-05")
        view.page.get_by_role("button", name="Send the documents").click()
        view.check("documents-expired")
        view.page.set_input_files("#tax_clearance", tmp_path / "scan.pdf")
        view.page.fill("#taxClearanceExpiresOn", "2027-06-06")
        view.page.get_by_role("button", name="Send the documents").click()
        view.check("documents-valid")
