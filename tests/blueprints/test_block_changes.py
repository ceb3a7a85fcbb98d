"""Changing a block: holder and link, price, release time, number of places."""

from typing import Any

import pytest

from tests.allocations.law import assert_books_agree
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.allocations import Block, create_another_block, create_block
from tests.factories.events import WEEKEND, create_event, update_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, list_problems, read_error


def list_acts(made: Block) -> list[dict[str, Any]]:
    acts: list[dict[str, Any]] = data(made.owner.get(f"/api/events/{made.event['id']}/audit"))["entries"]
    return acts


def test_fields_that_are_sent_change_and_others_stay(client: Client) -> None:
    made = create_block(client, holder={"name": "Jan", "organisation": "Namib Brews"}, notes="Call first")
    found = data(made.change(name="Silver", kind="press", holder={"name": "Tuli"}, unitPriceMinor=100))
    assert (found["name"], found["kind"], found["notes"], found["unitPriceMinor"]) == (
        "Silver",
        "press",
        "Call first",
        100,
    )
    assert (found["holder"]["name"], found["holder"]["organisation"]) == ("Tuli", "Namib Brews")
    assert found["totalMinor"] == 1000
    assert data(made.change(holder=None, notes=None))["holder"] == dict.fromkeys(
        ("name", "email", "phone", "organisation")
    )
    assert made.now()["notes"] is None
    changed = [act["data"]["changed"] for act in list_acts(made) if act["action"] == "allocations.block_changed"]
    assert sorted(map(tuple, changed)) == [
        ("holder_name", "holder_organisation", "notes"),
        ("holder_name", "kind", "name", "unit_price_minor"),
    ]


def test_all_problems_of_a_change_are_reported_and_nothing_changes(client: Client) -> None:
    made = create_block(client)
    before = made.now()
    wrong = made.change(kind="king", quantity=0, unitPriceMinor=None, holder={"email": "x"}, colour="red")
    assert list_problems(wrong) == {
        "kind": "unknown_value",
        "quantity": "too_small",
        "unitPriceMinor": "required",
        "holder.email": "invalid_email",
        "colour": "unknown_field",
    }
    assert list_problems(made.change(name="New", releaseAt="2020-01-01")) == {"releaseAt": "in_the_past"}
    assert made.now() == before


def test_change_of_an_old_version_is_refused(client: Client) -> None:
    made = create_block(client)
    version = made.now()["version"]
    changed = made.change(name="One", version=version)
    assert changed.headers["ETag"] == f'"{version + 1}"'
    assert read_error(made.change(name="Two", version=version)) == (412, "STALE_VERSION")
    assert data(made.change(name="One"))["version"] == version + 1, "nothing changes"


def test_new_address_ends_the_link_of_the_old_one_and_gets_a_new_one(client: Client) -> None:
    made = create_block(client, holder={"name": "Jan", "email": "jan@bank.example"})
    token = made.allocator()
    run_jobs()
    data(made.change(holder={"phone": "+264811234567"}))
    assert data(client.get(f"/api/allocations/allocator/{token}"))["available"] == 10
    found = data(made.change(holder={"email": "tuli@bank.example"}))
    assert read_error(client.get(f"/api/allocations/allocator/{token}")) == (410, "LINK_EXPIRED")
    (mail,) = list_mails_to("tuli@bank.example")
    assert found["allocatorLink"]["url"] in mail["text"]
    assert len(list_mails_to("jan@bank.example")) == 1
    assert data(made.change(holder={"email": None}))["allocatorLink"]["status"] == "revoked"


def test_new_address_without_a_link_gets_no_mail(client: Client) -> None:
    made = create_block(client, holder={"email": "jan@bank.example"})
    assert data(made.change(holder={"email": "tuli@bank.example"}))["allocatorLink"]["status"] == "none"
    assert list_mails_to("tuli@bank.example") == []


def test_unverified_organiser_cannot_mail_a_new_holder(client: Client) -> None:
    made = create_block(client, holder={"email": "jan@bank.example"})
    made.allocator()
    execute_sql("UPDATE account SET email_verified_at = NULL")
    before = made.now()
    refused = made.change(holder={"email": "victim@bank.example"})
    assert read_error(refused) == (409, "SENDER_NOT_VERIFIED")
    assert made.now() == before and list_mails_to("victim@bank.example") == []
    assert data(made.change(notes="no mail"))["notes"] == "no mail"


def test_price_of_an_invoiced_block_stays(client: Client) -> None:
    made = create_block(client)
    data(made.change(unitPriceMinor=5000))
    data(made.post("invoice/email", to="books@bank.example"), 202)
    assert read_error(made.change(unitPriceMinor=4000)) == (409, "BLOCK_INVOICED")
    assert read_error(made.change(quantity=11)) == (409, "BLOCK_INVOICED")
    assert data(made.change(unitPriceMinor=5000, quantity=8, name="Eight"))["held"] == 8
    run_jobs()
    assert data(made.owner.get(f"{made.path}/invoice"))["creditedMinor"] == 10000
    assert_books_agree()


def test_quantity_takes_places_from_the_public_and_gives_free_ones_back(client: Client) -> None:
    made = create_block(client, total=30)
    made.claimed(2)
    found = data(made.change(quantity=15))
    assert [found[name] for name in ("quantity", "held", "available", "claimed")] == [15, 15, 13, 2]
    refused = made.change(quantity=31)
    assert read_error(refused) == (409, "INSUFFICIENT_TICKETS")
    assert refused.get_json()["data"]["available"] == 15
    refused = made.change(quantity=1, name="Small")
    assert read_error(refused) == (409, "INSUFFICIENT_SLOTS")
    assert refused.get_json()["data"] == {"available": 13, "requested": 14}
    assert made.now()["name"] == "Gold"
    found = data(made.change(quantity=2))
    assert [found[name] for name in ("quantity", "held", "released", "claimed")] == [2, 2, 13, 2]
    public = data(client.get(f"/api/events/public/{made.event['id']}/ticket-inventory"))["ticketTypes"][0]
    assert (public["available"], public["allocated"]) == (28, 2)
    assert_books_agree()


def test_quantity_respects_the_capacity_of_the_event(client: Client) -> None:
    made = create_block(client, total=30)
    update_event(made.owner, made.event, capacity=12)
    assert read_error(made.change(quantity=13)) == (409, "CAPACITY_EXCEEDED")
    assert data(made.change(quantity=12))["held"] == 12


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("UPDATE event SET visibility = 'cancelled'", "EVENT_CLOSED"),
        ("UPDATE allocation_block SET release_at = now()", "RELEASE_TIME_PASSED"),
    ],
)
def test_closed_block_takes_no_more_places(client: Client, ending: str, code: str) -> None:
    made = create_block(client)
    execute_sql(ending)
    assert read_error(made.change(quantity=11)) == (409, code)
    assert data(made.change(quantity=9))["held"] == 9


def test_unverified_organiser_keeps_places_up_to_the_quota(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser", verified=False))
    event = create_event(owner, ticketTypes=[{**WEEKEND, "quantity": 2000}])
    first = Block(owner, event, {"id": "", "ticketTypeId": event["ticketTypes"][0]["id"]})
    made = create_another_block(first, quantity=1)
    assert read_error(made.change(quantity=202)) == (403, "EMAIL_NOT_VERIFIED")
    assert made.now()["quantity"] == 1


def test_release_time_can_be_moved_and_removed(client: Client) -> None:
    made = create_block(client, releaseAt="2027-06-01T12:00:00Z")
    found = data(made.change(releaseAt="2027-06-02"))
    assert found["releaseAt"] == "2027-06-02T21:59:59.000Z"
    execute_sql("UPDATE outbox SET run_at = now() WHERE kind = 'allocations.release'")
    run_jobs()
    assert made.now()["released"] == 0, "the job of the earlier time finds that it is not yet time"
    execute_sql("UPDATE allocation_block SET release_at = now()")
    assert data(made.change(releaseAt=None))["releaseAt"] is None
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'allocations.release' AND state = 'ready'") == 0


def test_list_has_the_sums_of_all_its_blocks(client: Client) -> None:
    made = create_block(client)
    first, _ = made.claimed(2)
    data(made.admit(first))
    create_another_block(made, quantity=5, kind="press").invite("anna@example.com")
    data(made.post("release-unused", quantity=3))
    found = data(made.owner.get(made.events, query_string={"limit": 1}))
    assert len(found["allocations"]) == 1
    assert found["totals"] == {
        "blocks": 2,
        "quantity": 15,
        "held": 12,
        "available": 9,
        "invited": 1,
        "claimed": 1,
        "admitted": 1,
        "revoked": 0,
        "released": 3,
    }
    press = data(made.owner.get(made.events, query_string={"kind": "press"}))["totals"]
    assert (press["blocks"], press["held"], press["invited"]) == (1, 5, 1)
    assert data(made.owner.get(made.events, query_string={"kind": "staff"}))["totals"]["held"] == 0
