"""All changes of blocks in random order: after each step the counters agree, and ended slots cannot be claimed.

ALLOCATION_EXAMPLES sets how many sequences are run.
"""

import os
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from redis import Redis
from sqlalchemy import text

from app.accounts.models import Account
from app.core.db import db
from app.core.transaction import transaction
from app.events import availability
from app.events.capacity import type_availability
from tests.allocations.law import assert_books_agree
from tests.allocations.steps import run_newest_step
from tests.factories.allocations import Block, claim_slot, create_another_block, create_block, token_in
from tests.factories.events import WEEKEND, create_organiser_client, update_event
from tests.http import Client

EXAMPLES = int(os.environ.get("ALLOCATION_EXAMPLES", "8"))
few, which = st.integers(1, 4), st.integers(0, 10**6)
EXPECTED_STATUSES = {200, 201, 404, 409, 410, 422}


class BlockChanges(RuleBasedStateMachine):
    """Two blocks of twelve places of one ticket type with forty tickets, and all changes of them.

    A second type shares the capacity of the event with the first.
    """

    client: Client
    owner: Client

    @initialize()
    def begin(self) -> None:
        """Each sequence begins with unused rate limits."""
        Redis.from_url(self.client.flask.application.extensions["settings"].REDIS_URL).flushdb()
        first = create_block(self.client, owner=self.owner, quantity=12, total=40)
        self.blocks = [first, create_another_block(first, quantity=12)]
        types = [{**WEEKEND, "quantity": 40}, {"name": "Day ticket", "priceMinor": 45000, "quantity": 40}]
        self.day = update_event(self.owner, first.event, capacity=45, ticketTypes=types)["ticketTypes"][1]["id"]
        self.tokens: list[str] = []
        self.links: list[str] = []
        self.allocators: list[str] = []

    def one(self, chosen: int) -> Block:
        return self.blocks[chosen % 2]

    def slot(self, chosen: int, *states: str) -> tuple[Block, str] | None:
        for made in (self.one(chosen), self.one(chosen + 1)):
            found = [slot["id"] for slot in made.now()["slots"] if slot["status"] in states]
            if found:
                return made, found[chosen % len(found)]
        return None

    def said(self, response: Any) -> Any:
        assert response.status_code in EXPECTED_STATUSES, response.get_data(as_text=True)
        return response.get_json()["data"]

    @rule(chosen=which, count=few)
    def make_codes(self, chosen: int, count: int) -> None:
        self.tokens += [
            item["code"] for item in self.said(self.one(chosen).post("codes", count=count)).get("codes", [])
        ]

    @rule(chosen=which, count=few)
    def invite(self, chosen: int, count: int) -> None:
        people = [{"name": f"P{number}", "email": f"p{chosen % 40 + number}@example.com"} for number in range(count)]
        found = self.said(self.one(chosen).post("invite", recipients=people))
        self.tokens += [token_in(item) for item in found.get("invited", [])]

    @rule(chosen=which, rotate=st.booleans())
    def link(self, chosen: int, rotate: bool) -> None:
        found = self.said(self.one(chosen).post("open-link", rotate=rotate, maxPerClaim=3))
        self.links.append(token_in(found))

    @rule(chosen=which, count=st.integers(1, 3))
    def claim_openly(self, chosen: int, count: int) -> None:
        if self.links:
            token = self.links[chosen % len(self.links)]
            self.said(claim_slot(self.client, token, email=f"o{chosen % 15}@example.com", quantity=count))

    @rule(chosen=which)
    def claim(self, chosen: int) -> None:
        if self.tokens:
            self.said(claim_slot(self.client, self.tokens[chosen % len(self.tokens)]))

    @rule(chosen=which, count=st.integers(1, 3))
    def hand_out(self, chosen: int, count: int) -> None:
        token = token_in(self.said(self.one(chosen).post("allocator-link")))
        sent = {"name": "H", "email": f"h{chosen % 20}@example.com", "quantity": count, "delivery": "will_call"}
        self.said(self.client.post(f"/api/allocations/allocator/{token}", sent))

    @rule(chosen=which, action=st.sampled_from(["rename", "take_back"]))
    def use_allocator(self, chosen: int, action: str) -> None:
        found = self.slot(chosen, "claimed", "admitted")
        if found is not None:
            token = token_in(self.said(found[0].post("allocator-link")))
            sent = {"slotId": found[1], "action": action, "name": f"N{chosen}"}
            self.said(self.client.post(f"/api/allocations/allocator/{token}", sent))

    @rule(chosen=which)
    def remind(self, chosen: int) -> None:
        self.said(self.one(chosen).post("remind"))

    @rule(chosen=which, count=few)
    def release(self, chosen: int, count: int) -> None:
        made = self.one(chosen)
        before = self.said(made.post("release-unused", quantity=count, dryRun=True))
        assert self.said(made.post("release-unused", quantity=count)) == {**before, "dryRun": False}

    @rule(chosen=which, to=st.sampled_from(["block", "public"]))
    def revoke(self, chosen: int, to: str) -> None:
        found = self.slot(chosen, "available", "invited", "claimed", "admitted")
        if found is not None:
            self.said(found[0].revoke(found[1], returnTo=to))

    @rule(chosen=which, count=few)
    def move(self, chosen: int, count: int) -> None:
        self.said(self.one(chosen).post("move", toBlockId=self.one(chosen + 1).id, quantity=count))

    @rule(chosen=which)
    def move_chosen(self, chosen: int) -> None:
        found = self.slot(chosen, "available", "invited", "claimed", "admitted")
        if found is not None:
            to = self.blocks[1 - self.blocks.index(found[0])]
            self.said(found[0].post("move", toBlockId=to.id, slotIds=[found[1]]))

    @rule(chosen=which, count=few)
    def split(self, chosen: int, count: int) -> None:
        """The places go on to the other block, so that there are always two blocks that have some."""
        moved = self.said(self.one(chosen).post("move", newBlock={}, quantity=count))
        if "to" in moved:
            new = Block(self.owner, self.blocks[0].event, moved["to"])
            self.said(new.post("move", toBlockId=self.one(chosen + 1).id, quantity=count))

    @rule(chosen=which, quantity=st.integers(1, 16))
    def change_quantity(self, chosen: int, quantity: int) -> None:
        self.said(self.one(chosen).change(quantity=quantity))

    @rule(chosen=which, amount=st.sampled_from([{"quantity": 2}, {"percent": 30}]))
    def run_release_step(self, chosen: int, amount: dict[str, int]) -> None:
        made = self.one(chosen)
        self.said(made.change(releasePlan=[{"on": "2027-06-01T10:00:00Z", **amount}]))
        unused = made.now()["available"] + made.now()["invited"]
        step = run_newest_step(made)
        assert step["released"] == (-(-unused * 3 // 10) if "percent" in amount else min(2, unused))

    @rule(chosen=which, count=st.one_of(st.none(), few))
    def admit(self, chosen: int, count: int | None) -> None:
        found = self.slot(chosen, "claimed", "admitted", "revoked")
        if found is not None:
            self.said(found[0].admit(found[1], nonce=f"nonce-{chosen % 9}", count=count))

    @rule(count=st.integers(1, 12))
    def reserve(self, count: int) -> None:
        sent = {"ticketTypeId": self.day, "quantity": count, "kind": "press"}
        self.said(self.owner.post(self.blocks[0].events, sent))

    @rule(capacity=st.integers(20, 60))
    def change_capacity(self, capacity: int) -> None:
        self.said(self.owner.patch(f"/api/events/{self.blocks[0].event['id']}", {"capacity": capacity}))

    @rule(count=few)
    def sell(self, count: int) -> None:
        with transaction() as session:
            if type_availability(self.blocks[0].ticket_type_id).places() < count:
                return
            availability.move(session, self.blocks[0].ticket_type_id, count, source="public", target="sold")

    @invariant()
    def counters_agree(self) -> None:
        assert_books_agree()

    def teardown(self) -> None:
        """Codes of ended slots cannot be claimed."""
        ended = text("SELECT code FROM allocation_slot WHERE ended_at IS NOT NULL AND code IS NOT NULL LIMIT 5")
        for code in db.session.scalars(ended).all():
            assert claim_slot(self.client, code).status_code == 410
        assert_books_agree()


@pytest.mark.timeout(600)
def test_counters_agree_after_every_step(app: Flask, client: Client) -> None:
    BlockChanges.client, BlockChanges.owner = client, create_organiser_client(client)
    assert db.session.query(Account).count() == 1
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        BlockChanges,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
