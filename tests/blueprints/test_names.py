"""Invisible characters are removed from names in all requests and imports."""

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from tests.factories.accounts import PASSWORD
from tests.factories.allocations import claim_slot, create_block
from tests.factories.applications import create_application
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data, list_problems

TAGS = "".join(chr(0xE0000 + ord(item)) for item in "free entry")
DIRTY, CLEAN = f"\ufeffFri\u200beda\u202e Amu\u2066pol\u00ado{TAGS}", "Frieda Amupolo"
PERSIAN = "مهدی\u200cزاده"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def test_accounts(client: Client) -> None:
    registration = {"email": "frieda@example.com", "password": PASSWORD}
    data(
        client.post(
            "/api/auth/register/customer", {**registration, "firstName": f"\u200f{PERSIAN}", "lastName": DIRTY}
        ),
        201,
    )
    assert db.session.scalar(text("SELECT name FROM account")) == f"{PERSIAN} {CLEAN}"


def test_a_name_of_invisible_characters_is_no_name(client: Client) -> None:
    made = create_block(client)
    (code,) = made.codes(1)
    assert list_problems(claim_slot(made.owner, code, name="\u200b\u3164\u202e")) == {"name": "too_short"}


def test_guests_and_holders(client: Client) -> None:
    made = create_block(client, holder={"name": DIRTY, "organisation": DIRTY})
    (code,) = made.codes(1)
    assert data(claim_slot(made.owner, code, name=DIRTY))["name"] == CLEAN
    invited = data(made.post("invite", recipients=[{"name": DIRTY, "email": "guest@example.com"}]), 201)
    assert invited["invited"][0]["name"] == CLEAN
    block_data = made.now()
    assert (block_data["holder"]["name"], block_data["holder"]["organisation"]) == (CLEAN, CLEAN)
    assert {slot["name"] for slot in block_data["slots"] if slot["status"] != "available"} == {CLEAN}


def test_stalls(client: Client, owner: Client) -> None:
    made = create_application(client, owner, businessName=DIRTY, contactName=DIRTY, stallType=DIRTY)
    application = data(owner.get(f"/api/merchant-applications/{made['id']}"))
    assert [application[name] for name in ("businessName", "contactName", "stallType")] == [CLEAN] * 3


def test_imported_guests(app: Flask, owner: Client, tmp_path: Path) -> None:
    event: dict[str, Any] = create_published_event(owner)
    path = tmp_path / "tickets.csv"
    path.write_text(f"reference,ticketType,name\nR1,Week\u200bend pass,{DIRTY}\nR2,Weekend pass,{PERSIAN}\n")
    result = app.test_cli_runner().invoke(args=["tickets", "import", str(path), "--event", event["id"]])
    assert result.exit_code == 0, result.output
    assert db.session.scalars(text("SELECT name FROM ticket ORDER BY reference")).all() == [CLEAN, PERSIAN]
