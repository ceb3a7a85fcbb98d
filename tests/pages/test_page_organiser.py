"""The organiser leads in the header of the pages of their events; the name of the service is small in the footer."""

import re

import pytest
from flask import Flask
from sqlalchemy import update

from app.accounts.models import OrganiserProfile
from app.core.transaction import transaction
from app.subscriptions.message_links import build_unsubscribe_links
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.allocations import create_block
from tests.factories.applications import create_approved_application, find_mailed_token
from tests.factories.events import create_event, create_published_event
from tests.http import Client, data
from tests.pages.pages import Visitor

LOGO = "0" * 32 + ".png"


@pytest.fixture
def paths(client: Client) -> dict[str, str]:
    """A page of each kind, of an organisation with a logo."""
    account = create_account("organiser")
    with transaction() as session:
        session.merge(OrganiserProfile(account_id=account.id, org_name="Windhoek Lights"))
    with transaction() as session:
        session.execute(update(OrganiserProfile).values(logo=LOGO))
    owner = create_signed_in_client(client, account)
    create_approved_application(client, owner)
    block = create_block(client, owner=owner)
    invite = data(owner.post(f"/api/events/{create_event(owner)['id']}/merchant-invite", {}), 201)
    return {
        "documents": f"/documents/{find_mailed_token('documents')}",
        "pay": f"/pay/{find_mailed_token('pay')}",
        "claim": f"/claim/{block.codes(1)[0]}",
        "allocator": f"/allocator/{block.allocator()}",
        "apply": f"/apply/{create_published_event(owner)['id']}",
        "invitation": "/" + invite["url"].split("/", 3)[3],
        "unsubscribe": "/" + build_unsubscribe_links("frieda@example.com", account.id).url.split("/", 3)[3],
    }


def read_header(page: str) -> str:
    return re.search(r"<header.*?</header>", page, re.DOTALL)[0]  # type: ignore[index]


@pytest.mark.parametrize("kind", ["documents", "pay", "claim", "allocator", "apply", "invitation", "unsubscribe"])
def test_organiser_leads_in_the_header(visitor: Visitor, paths: dict[str, str], kind: str) -> None:
    page = visitor.open(paths[kind])
    assert page.status_code == 200
    header, footer = read_header(page.text), page.text.split("<footer")[1]
    assert "<bdi>Windhoek Lights</bdi>" in header and f'<img src="/media/{LOGO}" alt="">' in header
    assert "Event Commerce" not in header and "Event Commerce" in footer
    assert "img-src 'self' data:;" in page.headers["Content-Security-Policy"]


def test_page_of_an_ended_link_has_the_organiser(app: Flask, client: Client, visitor: Visitor) -> None:
    block = create_block(client)
    token = block.allocator()
    data(block.post("allocator-link", revoke=True))
    page = visitor.open(f"/allocator/{token}")
    assert page.status_code == 410 and 'class="organiser"' in read_header(page.text)


def test_page_of_no_organiser_has_the_name_of_the_service(visitor: Visitor) -> None:
    assert '<a href="/">Event Commerce</a>' in read_header(visitor.open("/sign-in").text)
