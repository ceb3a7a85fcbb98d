"""Who is at the desk: the owner of an organisation, in a browser and as a client of the API."""

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.factories.accounts import create_signed_in_client
from tests.http import Client
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_owner()


@pytest.fixture
def organiser(client: Client, owner: Account) -> Client:
    return create_signed_in_client(client, owner)


@pytest.fixture
def desk(app: Flask, owner: Account) -> Visitor:
    return sign_in_browser(app, owner)
