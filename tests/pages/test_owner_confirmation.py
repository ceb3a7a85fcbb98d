"""Pages that the owner of an account confirms: with the password or, without one, by a recent sign-in."""

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.models import Account
from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, create_account, create_customer, create_signed_in_client, list_mails_to
from tests.factories.events import create_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.pages.test_account_page import drop_password, sign_in_browser
from tests.teams.test_members import accept, invite

FIXED_PAGES = (
    "/account/address",
    "/account/password",
    "/account/second-factor/start",
    "/account/data/delete",
    "/desk/keys",
)


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_account("organiser")


def age_sign_ins() -> None:
    with transaction() as session:
        session.execute(text("UPDATE account_session SET created_at = created_at - interval '11 minutes'"))


def add_member(client: Client, owner: Account) -> str:
    """The path of the page of a new member."""
    organiser, account = create_signed_in_client(client, owner), create_customer()
    invite(organiser, account.email)
    accept(client, account)
    members = data(organiser.get("/api/organisations/me/members"))["members"]
    return f"/desk/team/members/{members[-1]['id']}"


def list_pages(client: Client, owner: Account) -> list[str]:
    return [*FIXED_PAGES, add_member(client, owner)]


def send_last(visitor: Visitor, **typed: str) -> str:
    visitor.send(form=len(visitor.forms) - 1, **typed)
    return visitor.page.text


def test_with_a_password_each_page_asks_for_it(client: Client, app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    for path in list_pages(client, owner):
        assert visitor.open(path).status_code == 200
        assert visitor.elements["password"]["type"] == "password", path
        assert "Sign in again" not in visitor.page.text, path


def test_without_a_password_each_page_needs_a_recent_sign_in(client: Client, app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    pages = list_pages(client, owner)
    drop_password(owner)
    for path in pages:
        visitor.open(path)
        assert "password" not in visitor.elements and "Sign in again" not in visitor.page.text, path
    age_sign_ins()
    for path in pages:
        page = visitor.open(path).text
        assert f'href="/sign-in?again=yes&amp;next={path}">Sign in again</a>' in page, path
        assert "password" not in visitor.elements, path


def test_signing_in_again_leads_back_and_counts(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    age_sign_ins()
    page = visitor.open("/sign-in?again=yes&next=/desk/keys")
    assert page.status_code == 200 and "Sign in again to confirm" in page.text
    assert visitor.forms[0].fields["email"] == owner.email
    assert visitor.send(password="wrong").status_code == 401
    assert "Sign in again" in visitor.page.text
    assert visitor.send(password=PASSWORD).request.path == "/desk/keys"
    assert fetch_scalar("SELECT count(*) FROM account_session WHERE ended_at IS NULL AND kind = 'console'") == 1
    drop_password(owner)
    assert "Sign in again" not in visitor.open("/desk/keys").text


def test_without_a_password_a_key_is_made_and_the_ownership_offered(client: Client, app: Flask, owner: Account) -> None:
    create_event(create_signed_in_client(client, owner))
    visitor = sign_in_browser(app, owner)
    member_page = add_member(client, owner)
    drop_password(owner)
    visitor.open("/desk/keys")
    assert "Copy the key now" in send_last(visitor, name="Ticket shop", scope="events:read")
    visitor.open(member_page)
    assert "You stay the owner until they accept." in send_last(visitor)
    assert fetch_scalar("SELECT count(*) FROM team_invite WHERE role = 'owner'") == 1


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/desk/keys", {"name": "Ticket shop", "scope": "events:read"}),
        ("/account/address", {"newEmail": "new@example.com"}),
        ("/account/password", {"newPassword": "another evening at Sesriem"}),
        ("/account/data/delete", {}),
        ("/account/second-factor/off", {}),
    ],
)
def test_a_form_that_was_open_for_too_long_changes_nothing(
    app: Flask, owner: Account, path: str, fields: dict[str, str]
) -> None:
    visitor = sign_in_browser(app, owner)
    drop_password(owner)
    visitor.open(path)
    age_sign_ins()
    page = send_last(visitor, **fields)
    assert visitor.page.status_code == 409 and "Sign in again" in page
    assert list_mails_to("new@example.com") == []
    assert fetch_scalar("SELECT count(*) FROM api_key") == 0
    assert (
        fetch_scalar("SELECT count(*) FROM account WHERE password_hash IS NOT NULL OR deletion_due_at IS NOT NULL") == 0
    )


def test_an_empty_password_does_not_count_as_a_recent_sign_in(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    visitor.open("/account/data/delete")
    assert "Enter your password." in send_last(visitor, password="")
    execute_sql("UPDATE account SET email_verified_at = NULL")
    visitor.open("/desk/keys")
    page = send_last(visitor, name="Shop", scope="events:read", password=PASSWORD)
    assert visitor.page.status_code == 403 and "Confirm your e-mail address first" in page and 'value="Shop"' in page


def test_who_has_no_password_is_told_to_choose_one_before_they_add_a_role(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    link = 'href="/account/password"'
    assert link not in visitor.open("/sign-up/merchant").text
    drop_password(owner)
    assert link in visitor.open("/sign-up/merchant").text
