"""From an organiser's link over the application to the stall: where invitations and applications meet."""

from typing import Any

import pytest

from tests.factories.applications import LIST, PATH, approved, body, decided, link
from tests.factories.events import event, organiser
from tests.http import Client, data, problems, refusal
from tests.races import at_once

PASSWORD = "a quiet evening at Sossusvlei"


def made_link(owner: Client, event_id: str, **terms: Any) -> str:
    found = data(owner.post(f"/api/events/{event_id}/merchant-invite", terms), 201)
    return str(found["slug"])


def test_the_terms_of_the_link_are_those_of_the_application(client: Client) -> None:
    owner = organiser(client)
    draft = event(owner)
    slug = made_link(owner, draft["id"], feeMinor=1500, stallType="Drinks")
    made = data(client.post(LIST, body(inviteSlug=slug, stallType=None, amountMinor=99)), 201)
    row = data(owner.get(f"{LIST}/{made['id']}"))
    assert (row["eventId"], row["stallType"], row["amountMinor"]) == (draft["id"], "Drinks", 1500)


def test_who_is_activated_takes_part_in_the_event(client: Client) -> None:
    owner = organiser(client)
    made = approved(client, owner, amountMinor=0, documentsRequired=[])
    token = link("activate")
    answer = client.post(
        f"/api/merchant-activation/{token}",
        {"name": "Tuli", "password": PASSWORD, "confirmPassword": PASSWORD, "message": "Thank you", "path": PATH},
    )
    merchant = client.as_(data(answer)["accessToken"])
    events = data(merchant.get("/api/merchants/me/events"))["events"]
    assert [item["id"] for item in events] == [made["eventId"]]


@pytest.mark.parametrize("terms", [{"maxUses": 1}, {"maxUses": 3}])
def test_a_link_is_used_as_often_as_it_may_be(client: Client, terms: dict[str, int]) -> None:
    owner = organiser(client)
    slug = made_link(owner, event(owner)["id"], **terms)

    def apply(number: int) -> int:
        sent = body(inviteSlug=slug, email=f"stall{number}@example.com")
        return client.post(LIST, sent, environ_base={"REMOTE_ADDR": f"127.3.{number}.1"}).status_code

    answers = at_once(12, apply)
    assert answers.count(201) == terms["maxUses"] and answers.count(410) == 12 - terms["maxUses"]


def test_a_dead_link_says_that_it_is_dead(client: Client) -> None:
    owner = organiser(client)
    made = event(owner)
    slug = made_link(owner, made["id"])
    data(owner.patch(f"/api/events/{made['id']}", {"visibility": "cancelled"}))
    assert refusal(client.post(LIST, body(inviteSlug=slug))) == (410, "INVITE_WITHDRAWN")
    assert problems(client.post(LIST, body(inviteSlug="nobody-knows-it"))) == {"inviteSlug": "unknown_value"}


def test_the_organiser_decides_what_came_by_his_link(client: Client) -> None:
    owner = organiser(client)
    slug = made_link(owner, event(owner)["id"], feeMinor=0)
    made = data(client.post(LIST, body(inviteSlug=slug)), 201)
    assert decided(owner, made, documentsRequired=[])["status"] == "ready"
