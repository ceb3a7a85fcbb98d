"""Money and files of the desk in a browser: every page at 320 px, light and dark, with scripts and without."""

import pytest
from flask import Flask
from playwright.sync_api import Browser, expect

from app.core.outbox.executor import run_due_jobs
from tests.factories.accounts import create_signed_in_client
from tests.factories.money import create_settled_event
from tests.http import Client
from tests.pages.browser import NARROW, open_view
from tests.pages.test_team_browser import sign_in
from tests.pages.test_team_pages import create_owner


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_an_organiser_settles_an_event(
    app: Flask, client: Client, address: str, chromium: Browser, scripts: bool
) -> None:
    owner = create_owner("Namib Events")
    event = create_settled_event(client, create_signed_in_client(client, owner))
    with open_view(chromium, "desk-money", scripts=scripts) as view:
        page = view.page
        sign_in(page, address, owner.email)
        page.goto(f"{address}/desk/files")
        view.check("files-empty")
        page.goto(f"{address}/desk/events/{event['id']}/money")
        view.check("event")
        page.get_by_role("button", name="Make the settlement report").click()
        view.check("file-waiting")
        run_due_jobs(worker="test")
        if not scripts:
            page.reload()
        expect(page.get_by_role("link", name="Download")).to_be_visible(timeout=30_000)
        view.check("file-ready")
        page.get_by_role("link", name="Delete").click()
        view.check("file-delete")
        page.goto(f"{address}/desk/money?from=2026-02-01&to=2026-01-01")
        view.check("wrong-period")
        page.goto(f"{address}/desk/money")
        view.check("organisation")
        page.get_by_role("button", name="All invoices as ZIP").click()
        page.goto(f"{address}/desk/files")
        view.check("files")


def test_amounts_and_the_header_keep_to_the_lines_of_a_phone(
    app: Flask, client: Client, address: str, chromium: Browser
) -> None:
    owner = create_owner("Namib Events")
    event = create_settled_event(client, create_signed_in_client(client, owner))
    with open_view(chromium, "desk-money", scripts=False) as view:
        sign_in(view.page, address, owner.email)
        view.page.set_viewport_size({"width": NARROW, "height": 720})
        view.page.goto(f"{address}/desk/events/{event['id']}/money")
        right_edges = view.page.locator("td.amount").evaluate_all(
            """cells => cells.map(cell => {
                const text = document.createRange();
                text.selectNodeContents(cell);
                return [cell.closest("tr"), text].map(part => Math.round(part.getBoundingClientRect().right));
            }).filter(edges => edges[0])"""
        )
        assert right_edges and all(row == text for row, text in right_edges), right_edges
        name, sign_out = (
            view.page.locator(part).bounding_box() for part in (".organiser", "button:has-text('Sign out')")
        )
        assert name and sign_out and sign_out["y"] < name["y"] + name["height"], "they are in one line"
        chart = view.page.locator(".chart svg").first.bounding_box()
        assert chart and chart["height"] > NARROW * 0.4
