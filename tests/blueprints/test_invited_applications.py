"""Applications by invite links over HTTP."""

from typing import Any

import pytest

from tests.factories.applications import LIST, PATH, approved, body, decided, link
from tests.factories.events import event, organiser
from tests.http import Client, data, problems, refusal
from tests.races import at_once

PASSWORD = "a quiet evening at Sossusvlei"


def create_link(owner: Client, event_id: str, **terms: Any) -> str:
    link = data(owner.post(f"/api/events/{event_id}/merchant-invite", terms), 201)
    return str(link["slug"])


def test_application_takes_the_terms_of_the_link(client: Client) -> None:
    owner = organiser(client)
    draft = event(owner)
    slug = create_link(owner, draft["id"], feeMinor=1500, stallType="Drinks")
    application = data(client.post(LIST, body(inviteSlug=slug, stallType=None, amountMinor=99)), 201)
    row = data(owner.get(f"{LIST}/{application['id']}"))
    assert (row["eventId"], row["stallType"], row["amountMinor"]) == (draft["id"], "Drinks", 1500)


def test_activated_merchant_takes_part_in_the_event(client: Client) -> None:
    owner = organiser(client)
    application = approved(client, owner, amountMinor=0, documentsRequired=[])
    token = link("activate")
    response = client.post(
        f"/api/merchant-activation/{token}",
        {"name": "Tuli", "password": PASSWORD, "confirmPassword": PASSWORD, "message": "Thank you", "path": PATH},
    )
    merchant = client.as_(data(response)["accessToken"])
    events = data(merchant.get("/api/merchants/me/events"))["events"]
    assert [item["id"] for item in events] == [application["eventId"]]


@pytest.mark.parametrize("terms", [{"maxUses": 1}, {"maxUses": 3}])
def test_link_is_used_at_most_max_uses_times(client: Client, terms: dict[str, int]) -> None:
    owner = organiser(client)
    slug = create_link(owner, event(owner)["id"], **terms)

    def apply(number: int) -> int:
        form = body(inviteSlug=slug, email=f"stall{number}@example.com")
        return client.post(LIST, form, environ_base={"REMOTE_ADDR": f"127.3.{number}.1"}).status_code

    statuses = at_once(12, apply)
    assert statuses.count(201) == terms["maxUses"] and statuses.count(410) == 12 - terms["maxUses"]


def test_ended_link_is_refused(client: Client) -> None:
    owner = organiser(client)
    application = event(owner)
    slug = create_link(owner, application["id"])
    data(owner.patch(f"/api/events/{application['id']}", {"visibility": "cancelled"}))
    assert refusal(client.post(LIST, body(inviteSlug=slug))) == (410, "INVITE_WITHDRAWN")
    assert problems(client.post(LIST, body(inviteSlug="nobody-knows-it"))) == {"inviteSlug": "unknown_value"}


def test_organiser_decides_applications_by_their_link(client: Client) -> None:
    owner = organiser(client)
    slug = create_link(owner, event(owner)["id"], feeMinor=0)
    application = data(client.post(LIST, body(inviteSlug=slug)), 201)
    assert decided(owner, application, documentsRequired=[])["status"] == "ready"
