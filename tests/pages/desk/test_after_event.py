"""The overview of an event that is over: what comes next, for each role."""

import re
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.counting import count_statements
from tests.factories.allocations import create_block
from tests.factories.applications import create_approved_application
from tests.factories.events import create_published_event
from tests.factories.payouts import execute_sql
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS, open_as
from tests.pages.pages import Visitor

CONFLICT = """
    INSERT INTO admission (event_id, id, place_kind, scan_id, occurred_at, actor_kind, actor_id, conflict)
    VALUES (:id, repeat('0', 24), 'unknown', repeat('0', 24), now(), 'person', repeat('0', 24), 'TICKET_NOT_FOUND')
"""


def end(event: dict[str, Any]) -> None:
    execute_sql(
        "UPDATE event SET ends_at = now() - interval '1 hour', starts_at = now() - interval '1 day' WHERE id = :id",
        id=event["id"],
    )


def add_item(organiser: Client, event: dict[str, Any]) -> str:
    """The path of a new stock item."""
    path = f"/api/events/{event['id']}/inventory/items"
    numbers = {"parLevel": 0, "minOrderQty": 0, "reorderLevel": 0, "onHand": 10, "reserved": 0, "damaged": 0}
    return f"{path}/{data(organiser.post(path, {'name': 'Water', 'sku': 'W-1', **numbers}), 201)['id']}"


def test_what_comes_next_leads(client: Client, desk: Visitor, organiser: Client) -> None:
    block = create_block(client, owner=organiser)
    event, path = block.event, f"{EVENTS}/{block.event['id']}"
    page = desk.open(path).text
    assert "After the event" not in page and "Cancel the event" in page
    create_approved_application(client, organiser, eventId=event["id"])
    data(organiser.post(f"{block.path}/invoice/email", {"to": "sponsor@bank.example"}), 202)
    add_item(organiser, event)
    execute_sql(CONFLICT, id=event["id"])
    end(event)
    page = desk.open(path).text
    assert (
        page.index("After the event") < page.index("There is no settlement report yet.") < page.index("River grounds")
    )
    for text, url in (
        ("1 stall fee is not paid.", f"{path}/stalls?feeState=open"),
        ("1 invoice is not paid.", f"{path}/money"),
        ("1 conflict at the gate", f"{path}/gate/conflicts"),
        ("1 item of the stock was not counted since the end.", f"{path}/stock"),
        ("Next year", f"{path}/copy"),
    ):
        assert text in page and f'href="{url}"' in page, text
    assert "Cancel the event" not in page and page.count("Copy for the next year") == 1


def test_what_is_done_is_not_listed(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser)
    item_path = add_item(organiser, event)
    end(event)
    data(organiser.post(f"{item_path}/adjust", {"counted": 9, "reason": "count"}))
    desk.open(f"{EVENTS}/{event['id']}/money")
    desk.send(form=1)
    answer, statements = count_statements(lambda: desk.flask.get(f"{EVENTS}/{event['id']}"))
    page = answer.text
    assert "After the event" in page and "Next year" in page
    assert not re.search(r"settlement report|not paid|conflict|not counted", page)
    assert len(statements) <= 7, statements


@pytest.mark.parametrize(("role", "texts"), [("viewer", 0), ("finance", 1), ("stock", 1), ("manager", 3)])
def test_each_role_sees_its_own_steps(
    app: Flask, client: Client, owner: Account, organiser: Client, role: str, texts: int
) -> None:
    event = create_published_event(organiser)
    add_item(organiser, event)
    end(event)
    page = open_as(app, client, owner, role).open(f"{EVENTS}/{event['id']}").text
    assert ("After the event" in page) == bool(texts)
    assert sum(text in page for text in ("no settlement report", "not counted", "Next year")) == texts


def test_a_draft_that_is_over_has_nothing_to_settle(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser, visibility="draft")
    end(event)
    page = desk.open(f"{EVENTS}/{event['id']}").text
    assert "After the event" not in page and "Copy for the next year" in page and "Cancel the event" not in page
