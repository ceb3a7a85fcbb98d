"""The page behind an invitation, read as text and looked at in a browser."""

from typing import Any

import pytest
from playwright.sync_api import Browser
from sqlalchemy import text

from app.core.transaction import transaction
from app.invitations.queries import INVITE_KIND, build_slug
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to
from tests.factories.events import create_event
from tests.factories.merchants import answer_invitation, create_merchant_account, invite_merchants
from tests.http import Client, data
from tests.pages.browser import open_view
from tests.pages.pages import Visitor

SERIES = "merchant-invite"
TERMS = {"stallType": "Food stall", "feeMinor": 1234550, "message": "We keep gate B for you.\nBring your own lights."}


@pytest.fixture
def owner(client: Client) -> Client:
    who = create_account("organiser", name="Windhoek Lights", email="office@lights.example")
    return create_signed_in_client(client, who)


def link_of(owner: Client, **terms: Any) -> str:
    """The path of a new link's page."""
    made = create_event(owner, name="Night market at the dam")
    sent = data(owner.post(f"/api/events/{made['id']}/merchant-invite", {**TERMS, **terms}), 201)
    return f"/merchant-invite/{sent['slug']}"


def later(statement: str) -> None:
    with transaction() as session:
        session.execute(text(statement))


def test_a_link_tells_event_terms_and_how_to_apply(owner: Client, visitor: Visitor) -> None:
    path = link_of(owner, businessName="Kapana <Corner>")
    page = visitor.open(path)
    assert page.status_code == 200
    for words in (
        "Apply for a stall at Night market at the dam",
        "Windhoek Lights invites Kapana &lt;Corner&gt;",
        "Fri 4 June 2027, 18:00 (Windhoek)",
        "River grounds, Windhoek",
        "N$\u00a012\u202f345.50",
        "Send the application",
        "We keep gate B for you.<br>Bring your own lights.",
        "mailto:office@lights.example",
    ):
        assert words in page.text, words


def test_a_page_behind_a_link_is_kept_by_nobody_and_told_to_nobody(owner: Client, visitor: Visitor) -> None:
    page = visitor.open(link_of(owner))
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE invite_link SET expires_at = now()", "This invitation has expired"),
        ("UPDATE invite_link SET uses = 1, max_uses = 1", "This invitation has been used"),
        ("UPDATE invite_link SET revoked_at = now()", "This invitation is no longer valid"),
        ("UPDATE event SET visibility = 'cancelled'", "This invitation is no longer valid"),
    ],
)
def test_a_dead_link_says_why_and_whom_to_ask(owner: Client, visitor: Visitor, statement: str, words: str) -> None:
    path = link_of(owner)
    later(statement)
    page = visitor.open(path)
    assert page.status_code == 410
    assert words in page.text and "office@lights.example" in page.text and "Send the application" not in page.text


def test_a_name_that_was_never_given_out_is_not_found(owner: Client, visitor: Visitor) -> None:
    path = link_of(owner)
    for wrong in (path[:-1], path + "A", "/merchant-invite/x", "/merchant-invite/" + "0" * 46):
        page = visitor.open(wrong)
        assert (page.status_code, "Page not found" in page.text) == (404, True)


def test_the_link_in_a_merchants_mail_shows_their_own_invitation(
    client: Client, owner: Client, visitor: Visitor
) -> None:
    who = create_merchant_account("Kapana Corner")
    invite = invite_merchants(owner, create_event(owner)["id"], who, **TERMS)["invited"][0]["inviteId"]
    path = f"/merchant-invite/{build_slug(invite, INVITE_KIND)}"
    assert path in list_mails_to(who.email)[0]["text"]
    assert f"/sign-in?next={path}" in visitor.open(path).text
    answer_invitation(create_signed_in_client(client, who), invite)
    page = visitor.open(path)
    assert (page.status_code, "You take part" in page.text, "Accept" in page.text) == (200, True, False)
    assert who.email not in page.text


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_how_it_looks(owner: Client, client: Client, address: str, chromium: Browser, scripts: bool) -> None:
    path = link_of(owner, businessName="Kapana Corner")
    who = create_merchant_account("Omuramba Crafts")
    made = create_event(owner, name="Desert week-end of crafts, food and long conversations")
    invite = invite_merchants(owner, made["id"], who, **TERMS)["invited"][0]["inviteId"]
    own = f"/merchant-invite/{build_slug(invite, INVITE_KIND)}"
    with open_view(chromium, SERIES, scripts=scripts) as view:
        view.page.goto(address + path)
        view.check("open")
        view.page.goto(address + own)
        view.check("own")
        answer_invitation(create_signed_in_client(client, who), invite)
        view.page.reload()
        view.check("accepted")
        later("UPDATE invite_link SET expires_at = now()")
        view.page.goto(address + path)
        view.check("expired")
        view.page.goto(address + path + "x")
        view.check("unknown")


def test_a_keyboard_reaches_every_link(owner: Client, address: str, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        view.page.goto(address + link_of(owner))
        order = []
        for _ in range(14):
            view.page.keyboard.press("Tab")
            order.append(view.focused_element)
        assert order[:2] == ["Skip to the content", "Sign in"]
        assert order[-3:] == ["Send the application", "Save and go on later", "office@lights.example"]
