"""Applications by invite links over HTTP."""

from typing import Any

import pytest

from tests.factories.applications import (
    LIST,
    PATH,
    build_application_body,
    create_approved_application,
    decide_application,
    find_mailed_token,
)
from tests.factories.events import create_event, create_organiser_client
from tests.http import Client, data, list_problems, read_error
from tests.races import run_concurrently

PASSWORD = "a quiet evening at Sossusvlei"


def create_link(owner: Client, event_id: str, **terms: Any) -> str:
    link = data(owner.post(f"/api/events/{event_id}/merchant-invite", terms), 201)
    return str(link["slug"])


def test_application_takes_the_terms_of_the_link(client: Client) -> None:
    owner = create_organiser_client(client)
    draft = create_event(owner)
    slug = create_link(owner, draft["id"], feeMinor=1500, stallType="Drinks")
    application = data(client.post(LIST, build_application_body(inviteSlug=slug, stallType=None, amountMinor=99)), 201)
    row = data(owner.get(f"{LIST}/{application['id']}"))
    assert (row["eventId"], row["stallType"], row["amountMinor"]) == (draft["id"], "Drinks", 1500)


def test_activated_merchant_takes_part_in_the_event(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_approved_application(client, owner, amountMinor=0, documentsRequired=[])
    token = find_mailed_token("activate")
    response = client.post(
        f"/api/merchant-activation/{token}",
        {"name": "Tuli", "password": PASSWORD, "confirmPassword": PASSWORD, "message": "Thank you", "path": PATH},
    )
    merchant = client.as_(data(response)["accessToken"])
    events = data(merchant.get("/api/merchants/me/events"))["events"]
    assert [item["id"] for item in events] == [application["eventId"]]


@pytest.mark.parametrize("terms", [{"maxUses": 1}, {"maxUses": 3}])
def test_link_is_used_at_most_max_uses_times(client: Client, terms: dict[str, int]) -> None:
    owner = create_organiser_client(client)
    slug = create_link(owner, create_event(owner)["id"], **terms)

    def apply(number: int) -> int:
        form = build_application_body(inviteSlug=slug, email=f"stall{number}@example.com")
        return client.post(LIST, form, environ_base={"REMOTE_ADDR": f"127.3.{number}.1"}).status_code

    statuses = run_concurrently(12, apply)
    assert statuses.count(201) == terms["maxUses"] and statuses.count(410) == 12 - terms["maxUses"]


def test_ended_link_is_refused(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_event(owner)
    slug = create_link(owner, application["id"])
    data(owner.patch(f"/api/events/{application['id']}", {"visibility": "cancelled"}))
    assert read_error(client.post(LIST, build_application_body(inviteSlug=slug))) == (410, "INVITE_WITHDRAWN")
    assert list_problems(client.post(LIST, build_application_body(inviteSlug="nobody-knows-it"))) == {
        "inviteSlug": "unknown_value"
    }


def test_organiser_decides_applications_by_their_link(client: Client) -> None:
    owner = create_organiser_client(client)
    slug = create_link(owner, create_event(owner)["id"], feeMinor=0)
    application = data(client.post(LIST, build_application_body(inviteSlug=slug)), 201)
    assert decide_application(owner, application, documentsRequired=[])["status"] == "ready"
