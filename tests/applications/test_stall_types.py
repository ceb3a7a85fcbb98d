"""Stall types of an event: the fee is that of the list, and an approval takes one of its places."""

from collections import Counter
from typing import Any

import pytest
from sqlalchemy import select, update

from app.applications import stall_types
from app.applications.models import Application
from app.core.transaction import transaction
from app.invitations.models import Participation
from tests.factories.accounts import PASSWORD, list_mails_to, run_jobs
from tests.factories.applications import (
    EMAIL,
    LIST,
    build_application_body,
    create_application,
    decide_application,
    find_mailed_token,
    pay_stall_fee,
)
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.merchants import create_participant
from tests.http import Client, data, read_error
from tests.races import run_concurrently

LISTED = [{"name": "Food stall", "feeMinor": 150000, "quantity": 4}, {"name": "Crafts", "feeMinor": 80000}]
TYPE = {"stallType": "food stall", "amountMinor": 150000}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, stallTypes=LISTED)


def apply(client: Client, event: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return create_application(client, eventId=event["id"], **{**TYPE, **fields})


def read(owner: Client, application: dict[str, Any]) -> dict[str, Any]:
    return data(owner.get(f"{LIST}/{application['id']}"))


def decide(owner: Client, application: dict[str, Any], decision: str = "approved", **fields: Any) -> Any:
    return owner.patch(f"{LIST}/{application['id']}", {"decision": decision, **fields})


@pytest.mark.parametrize(
    ("fields", "path", "figure"),
    [
        ({"stallType": None}, "stallType", "Food stall, Crafts"),
        ({"stallType": "Tattoos"}, "stallType", "Food stall, Crafts"),
        ({"amountMinor": 1}, "amountMinor", "1 500.00"),
    ],
)
def test_another_type_or_fee_than_the_list_is_refused(
    client: Client, event: dict[str, Any], fields: dict[str, Any], path: str, figure: str
) -> None:
    body = build_application_body(eventId=event["id"], **{**TYPE, **fields})
    answer = client.post(LIST, body)
    assert read_error(answer) == (422, "VALIDATION_FAILED")
    (error,) = answer.get_json()["data"]["errors"]
    assert error["path"] == path and figure in error["message"].replace("\u202f", " ")


def test_the_name_is_that_of_the_list(client: Client, owner: Client, event: dict[str, Any]) -> None:
    assert read(owner, apply(client, event))["stallType"] == "Food stall"


def test_an_invitation_says_another_fee(client: Client, owner: Client, event: dict[str, Any]) -> None:
    terms = {"stallType": "Crafts", "feeMinor": 5}
    slug = data(owner.post(f"/api/events/{event['id']}/merchant-invite", terms), 201)["slug"]
    application = create_application(client, inviteSlug=slug, stallType="Food stall", amountMinor=150000)
    shown = read(owner, application)
    assert (shown["stallType"], shown["amountMinor"]) == ("Crafts", 5)


def test_an_invitation_says_a_type_that_is_not_in_the_list(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    slug = data(owner.post(f"/api/events/{event['id']}/merchant-invite", {"stallType": "Stage bar"}), 201)["slug"]
    application = create_application(client, inviteSlug=slug, stallType="Stage bar", amountMinor=150000)
    assert read(owner, application)["stallType"] == "Stage bar"
    assert data(decide(owner, application))["decision"] == "approved"


def test_an_approval_beyond_the_quantity_needs_a_reason(client: Client, owner: Client, event: dict[str, Any]) -> None:
    five = [apply(client, event) for _ in range(5)]
    for application in five[:4]:
        decide_application(owner, application)
    full = decide(owner, five[4])
    assert read_error(full) == (409, "STALL_TYPE_FULL")
    assert full.get_json()["data"] == {"stallType": "Food stall", "quantity": 4, "taken": 4}
    assert read_error(decide(owner, five[4], overrideQuota=True)) == (422, "VALIDATION_FAILED")
    assert data(decide(owner, five[4], overrideQuota=True, reason="A sponsor"))["decision"] == "approved"
    crafts = apply(client, event, stallType="Crafts", amountMinor=80000)
    assert data(decide(owner, crafts))["decision"] == "approved"


def test_a_deleted_merchant_takes_no_place(client: Client, owner: Client, event: dict[str, Any]) -> None:
    me, account = create_participant(client, owner, event["id"])
    with transaction() as session:
        session.execute(update(Participation).values(stall_type="Food stall"))
    four = [apply(client, event) for _ in range(4)]
    for application in four[:3]:
        decide_application(owner, application)
    assert read_error(decide(owner, four[3])) == (409, "STALL_TYPE_FULL")
    body = {"currentPassword": PASSWORD, "confirmation": "DELETE"}
    assert me.post("/api/merchants/me/delete", body).status_code in (200, 202), account.id
    run_jobs()
    assert data(decide(owner, four[3]))["decision"] == "approved"


def test_a_refusal_of_an_approved_application_frees_its_place(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    five = [apply(client, event) for _ in range(5)]
    for application in five[:4]:
        decide_application(owner, application)
    assert read_error(decide(owner, five[0], "declined")) == (409, "ALREADY_DECIDED")
    assert data(decide(owner, five[0], "declined", reason="They asked for it"))["status"] == "declined"
    decide_application(owner, five[4])
    assert read_error(decide(owner, five[0], reason="Again")) == (409, "ALREADY_DECIDED")
    assert data(decide(owner, five[0], "submitted", reason="A mistake"))["status"] == "submitted"
    assert data(decide(owner, five[0], "submitted", reason="A mistake"))["status"] == "submitted"
    assert read_error(decide(owner, five[0])) == (409, "STALL_TYPE_FULL")


def test_a_decision_stands_once_the_fee_is_paid(client: Client, owner: Client, event: dict[str, Any]) -> None:
    application = apply(client, event)
    decide_application(owner, application, documentsRequired=[])
    pay_stall_fee(client, find_mailed_token("pay"))
    assert read_error(decide(owner, application, "declined", reason="No")) == (409, "ALREADY_DECIDED")
    assert read_error(decide(owner, application, feeMinor=5, reason="No")) == (409, "APPLICATION_STATE")


def test_the_decider_sets_another_fee_with_a_reason(client: Client, owner: Client, event: dict[str, Any]) -> None:
    application = apply(client, event)
    assert read_error(decide(owner, application, feeMinor=100000)) == (422, "VALIDATION_FAILED")
    set_fee = decide(owner, application, feeMinor=100000, reason="A charity", documentsRequired=[])
    assert data(set_fee)["payment"]["amountMinor"] == 100000
    again = data(decide(owner, application, feeMinor=90000, reason="Less"))
    assert (again["status"], again["payment"]["amountMinor"]) == ("awaiting_payment", 90000)
    assert data(client.get(f"{LIST}/pay/{find_mailed_token('pay')}"))["amountMinor"] == 90000
    assert data(decide(owner, application, feeMinor=0, reason="Nothing"))["status"] == "ready"
    assert any("/activate/" in mail["text"] for mail in list_mails_to(EMAIL))
    audit = data(owner.get("/api/organisations/me/audit?action=money.stall_fee_set"))["entries"]
    assert [entry["data"]["amountMinor"] for entry in audit] == [0, 90000, 100000]


def insert_copies(application: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """More applications like this one than a client may send in a minute."""
    with transaction() as session:
        original = session.get_one(Application, application["id"])
        for number in range(count):
            copy = Application(reference=f"MA-{number:08}", amount_minor=original.amount_minor, destination="payrail")
            copy.event_id, copy.organiser_id, copy.mode = original.event_id, original.organiser_id, original.mode
            copy.stall_type = original.stall_type
            session.add(copy)
        session.flush()
        ids = session.scalars(select(Application.id).where(Application.reference.like("MA-0000%"))).all()
    return [{"id": id} for id in ids]


def approve_at_once(owner: Client, applications: list[dict[str, Any]]) -> Counter[int]:
    answers = run_concurrently(len(applications), lambda number: decide(owner, applications[number]))
    return Counter(answer.status_code for answer in answers)


def test_of_64_approvals_four_take_the_four_places(client: Client, owner: Client, event: dict[str, Any]) -> None:
    applications = insert_copies(apply(client, event), 64)
    counted: Counter[int] = Counter()
    for at in range(0, 64, 16):
        counted += approve_at_once(owner, applications[at : at + 16])
    assert counted == {200: 4, 409: 60}


@pytest.mark.control
def test_without_the_lock_more_approvals_than_places(
    client: Client, owner: Client, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stall_types, "lock_name", lambda *_: None)
    applications = insert_copies(apply(client, event), 32)
    assert approve_at_once(owner, applications)[200] > 4
