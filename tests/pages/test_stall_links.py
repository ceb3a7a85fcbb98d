"""The home of a merchant shows links, so these prove no address: only the mailbox does."""

import re

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.blueprints.test_activation import PATH, read_account
from tests.factories.accounts import create_account, create_signed_in_client, run_jobs
from tests.factories.applications import (
    EMAIL,
    LIST,
    build_activation_body,
    create_approved_application,
    find_mailed_token,
)
from tests.factories.events import create_organiser_client
from tests.http import Client, data, read_error
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser

OTHER_EMAIL = "mallory@example.com"


def create_paid_application(client: Client, account: Account) -> None:
    """An application of the account for another person's address, approved and paid: the account can activate it."""
    organiser = create_organiser_client(client)
    me = create_signed_in_client(client, account)
    application = create_approved_application(me, organiser, documentsRequired=[], email=EMAIL)
    fields = {"amountMinor": 250000, "reference": "EFT 1", "receivedOn": "2026-01-05"}
    data(organiser.post(f"{LIST}/{application['id']}/fee/received", fields))


def read_shown_token(app: Flask, account: Account) -> str:
    """The activation token on the home of the account."""
    found = re.search(r"/activate/([\w-]+)", sign_in_browser(app, account).open("/stall").text)
    assert found is not None
    return found[1]


def test_link_from_the_home_of_a_merchant_verifies_no_address(app: Flask, client: Client) -> None:
    squatter = create_account("merchant", email=EMAIL, verified=False)
    create_paid_application(client, squatter)
    token = read_shown_token(app, squatter)
    data(client.post(f"{PATH}/{token}", build_activation_body()))
    assert read_account(client, EMAIL)["emailVerified"] is False


@pytest.mark.parametrize("email", [EMAIL, OTHER_EMAIL])
def test_links_of_a_retired_account_end_and_a_new_one_is_mailed(app: Flask, client: Client, email: str) -> None:
    squatter = create_account("merchant", email=email, verified=False)
    create_paid_application(client, squatter)
    token = read_shown_token(app, squatter)
    registration = {"email": email, "password": "another long password", "name": "Mallory", "businessName": "Bad"}
    assert client.post("/api/auth/register/merchant", registration).status_code == 201
    run_jobs()
    assert read_error(client.post(f"{PATH}/{token}", build_activation_body())) == (410, "LINK_EXPIRED")
    visitor = Visitor(app.test_client())
    assert visitor.open(f"/activate/{token}").status_code == 410
    visitor.send()
    mailed_token = find_mailed_token("activate")
    assert mailed_token != token
    data(client.post(f"{PATH}/{mailed_token}", build_activation_body()))
    assert read_account(client, EMAIL)["emailVerified"] is True
