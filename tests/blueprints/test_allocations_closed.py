"""Blocks of events that are over or cancelled: no operation gives out a link or code that returns 410."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from tests.allocations.law import assert_books_agree
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.allocations import Block, claim_slot, create_another_block, create_block, token_in
from tests.http import Client, data, read_error

GIVING: dict[str, Callable[[Block], Any]] = {
    "codes": lambda made: made.post("codes", count=1),
    "codes for all places": lambda made: made.post("codes"),
    "invite": lambda made: made.post("invite", name="Anna", email="anna@example.com"),
    "invite, dry run": lambda made: made.post("invite", name="Anna", email="anna@example.com", dryRun=True),
    "remind": lambda made: made.post("remind"),
    "allocator-link": lambda made: made.post("allocator-link"),
    "allocator-link, rotated": lambda made: made.post("allocator-link", rotate=True),
    "open-link": lambda made: made.post("open-link"),
    "open-link, rotated": lambda made: made.post("open-link", rotate=True),
}
ENDED = {
    "cancelled": "EVENT_CLOSED",
    "archived": "EVENT_CLOSED",
    "over": "EVENT_CLOSED",
    "released": "RELEASE_TIME_PASSED",
}


def end(made: Block, how: str) -> None:
    if how in ("cancelled", "archived"):
        data(made.owner.patch(f"/api/events/{made.event['id']}", {"visibility": how}))
        return
    statements = {
        "over": "UPDATE event SET starts_at = now() - interval '2 days', ends_at = now() - interval '1 second'"
        " WHERE id = :event",
        "released": "UPDATE allocation_block SET release_at = now() - interval '1 second' WHERE id = :block",
    }
    with transaction() as session:
        session.execute(text(statements[how]), {"event": made.event["id"], "block": made.id})


@pytest.mark.parametrize("how", ENDED)
@pytest.mark.parametrize("verb", GIVING)
def test_closed_block_gives_out_no_links_and_codes(client: Client, verb: str, how: str) -> None:
    made = create_block(client)
    made.open_link()
    made.allocator()
    made.invite("waits@example.com")
    run_jobs()
    end(made, how)
    before = made.now()
    assert read_error(GIVING[verb](made)) == (409, ENDED[how])
    assert made.now() == before
    assert_books_agree()


@pytest.mark.parametrize("how", ENDED)
def test_links_of_an_ended_block_are_gone_and_shown_as_expired(client: Client, how: str) -> None:
    made = create_block(client)
    path = f"/api/allocations/allocator/{made.allocator()}"
    handed = data(client.post(path, {"name": "Frieda", "email": "frieda@example.com"}))
    tokens = [made.open_link(), *made.codes(1), token_in(made.invite("anna@example.com")[0])]
    end(made, how)
    for token in tokens:
        assert read_error(client.get(f"/api/allocations/claim/{token}")) == (410, "LINK_EXPIRED")
        assert read_error(claim_slot(client, token)) == (410, "LINK_EXPIRED")
    for body in ({"name": "A", "email": "a@example.com"}, {"slotId": handed["slotId"], "name": "B"}):
        assert read_error(client.post(path, body)) == (410, "LINK_EXPIRED")
    now = made.now()
    assert [now[name]["status"] for name in ("allocatorLink", "openLink")] == ["expired", "expired"]
    ended = [data(made.post(name, revoke=True))["status"] for name in ("allocator-link", "open-link")]
    assert ended == ["revoked", "revoked"], "a link can be ended at any time"
    assert len(data(made.owner.get(f"{made.path}/codes"))["codes"]) == 1, "a list gives nothing out"


@pytest.mark.parametrize("how", ENDED)
def test_invitation_with_an_expired_link_is_not_emailed(client: Client, how: str) -> None:
    made = create_block(client)
    made.invite("anna@example.com")
    data(made.post("remind"))
    end(made, how)
    assert list_mails_to("anna@example.com") == []


@pytest.mark.parametrize("how", ["cancelled", "archived", "over"])
def test_pack_is_refused_for_a_closed_event(client: Client, how: str) -> None:
    made = create_block(client)
    end(made, how)
    assert read_error(made.post("packs", count=1)) == (409, "EVENT_CLOSED")


def test_release_time_ends_only_its_own_block(client: Client) -> None:
    made = create_block(client)
    other = create_another_block(made)
    end(made, "released")
    (code,) = other.codes(1)
    data(claim_slot(client, code))
