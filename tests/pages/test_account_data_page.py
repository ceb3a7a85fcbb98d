"""The page of the signed-in person's data: a copy, the deletion of the account, and its end."""

import re

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    list_mails_to,
    run_jobs,
)
from tests.factories.events import create_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client
from tests.pages.pages import Visitor
from tests.pages.test_account_page import drop_password, sign_in_browser

DATA, DELETE = "/account/data", "/account/data/delete"


@pytest.fixture
def owner() -> Account:
    return create_customer()


@pytest.mark.parametrize("path", [DATA, DELETE])
def test_every_page_needs_a_sign_in(visitor: Visitor, path: str) -> None:
    answer = visitor.open(path)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/sign-in?next={path}")


def test_account_links_to_its_data(app: Flask, owner: Account) -> None:
    assert f'href="{DATA}"' in sign_in_browser(app, owner).open("/account").text


def test_copy_is_asked_for_and_downloaded_by_its_link(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    visitor.open(DATA)
    page = visitor.send(form=1)
    assert "We are making your copy." in page.text and f"A link to it comes to {owner.email}" in page.text
    run_jobs()
    assert "We mailed you the link to your last copy." in visitor.open(DATA).text
    page = visitor.send(form=1)
    assert page.status_code == 429 and "Try again in 24 hours." in page.text
    match = re.search(r"/data-export/\S+", list_mails_to(owner.email)[0]["text"])
    assert match
    page = Visitor(app.test_client()).open(match[0])
    assert (
        page.status_code == 200
        and f'href="{match[0]}/file"' in page.text
        and "no-store" in page.headers["Cache-Control"]
    )


def test_unverified_person_is_led_to_the_code(app: Flask) -> None:
    visitor = sign_in_browser(app, create_customer(verified=False))
    assert "Confirm your e-mail address" in visitor.open(DATA).text


def test_ended_link_says_what_to_do(visitor: Visitor) -> None:
    page = visitor.open("/data-export/unknown")
    assert page.status_code == 404 and "Get a new copy" in page.text


def test_account_is_deleted_with_the_password_and_kept(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    visitor.open(DELETE)
    page = visitor.send(form=1, password="wrong")
    assert page.status_code == 422 and "This password is wrong. Try again." in page.text
    page = visitor.send(form=1, password="")
    assert page.status_code == 422 and "Enter your password." in page.text
    page = visitor.send(form=1, password=PASSWORD)
    assert page.status_code == 200 and "Your account will be deleted on" in page.text
    assert fetch_scalar("SELECT count(*) FROM account WHERE deletion_due_at IS NOT NULL") == 1
    page = visitor.send(form=1)
    assert "Your account stays." in page.text and "Keep my account" not in page.text
    assert fetch_scalar("SELECT count(*) FROM account WHERE deletion_due_at IS NOT NULL") == 0


def test_person_without_a_password_needs_a_recent_sign_in(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    drop_password(owner)
    assert 'type="password"' not in visitor.open(DELETE).text
    execute_sql("UPDATE account_session SET created_at = now() - interval '1 hour'")
    page = visitor.send(form=1)
    assert page.status_code == 409 and "Sign in again" in page.text
    execute_sql("UPDATE account_session SET created_at = now()")
    visitor.open(DELETE)
    assert "Your account will be deleted on" in visitor.send(form=1).text


def test_page_says_what_holds_the_deletion(client: Client, app: Flask) -> None:
    owner = create_account("organiser")

    create_event(create_signed_in_client(client, owner), name="Windhoek Lights")
    visitor = sign_in_browser(app, owner)
    visitor.open(DELETE)
    page = visitor.send(form=1, password=PASSWORD)
    assert page.status_code == 409 and "These events are not over: Windhoek Lights." in page.text


def test_suspended_person_sees_why_they_cannot_sign_in(app: Flask, owner: Account) -> None:
    execute_sql("UPDATE account SET suspended_at = now()")
    visitor = Visitor(app.test_client())
    visitor.open("/sign-in")
    page = visitor.send(email=owner.email, password=PASSWORD)
    assert page.status_code == 403 and "This account is suspended" in page.text
