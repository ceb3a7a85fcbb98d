"""A model of blocks with parties: random sequences of changes over HTTP and in the database.

Guests enter only on their own slots, ended codes admit nobody, and each email has exactly the codes that admit its guest
when it is sent. MODEL_EXAMPLES and MODEL_STEPS set how long it runs.
"""

from typing import Any

import pytest
from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import text

from app.allocations.links import encode_token
from app.core.db import db, release_connection
from app.core.transaction import transaction
from tests.allocations.law import assert_books_agree
from tests.conftest import empty
from tests.factories.allocations import Block, claim_slot, create_another_block, create_block, token_in
from tests.factories.events import create_organiser_client
from tests.http import Client, data, read_error
from tests.models.block_state import BlockState, Invitation, Place, waiting_mails
from tests.models.profile import model_settings

few, which = st.integers(1, 3), st.integers(0, 10**6)
deliveries = st.sampled_from(["e_ticket", "will_call"])
OVER = "UPDATE event SET starts_at = now() - interval '2 days', ends_at = now() - interval '1 second' WHERE id = :id"
CLAIMED = text("SELECT id, status, code, email FROM allocation_slot WHERE status IN ('claimed', 'admitted')")
CLOSED = (409, "EVENT_CLOSED")
NOT_ALIVE = {"revoked": "SLOT_REVOKED", "released": "NOT_CLAIMED", "available": "NOT_CLAIMED", "invited": "NOT_CLAIMED"}


class AllocationBlocks(RuleBasedStateMachine):
    """Two blocks of eight places of one ticket type."""

    client: Client

    @initialize()
    def begin(self) -> None:
        empty(self.client.flask.application)
        first = create_block(self.client, owner=create_organiser_client(self.client), quantity=8, total=40)
        self.blocks = [first, create_another_block(first, quantity=8)]
        self.state = BlockState()
        self.allocators = [item.allocator() for item in self.blocks]
        self.scans = 0

    def given(self, response: Any, status: int = 200) -> dict[str, Any] | None:
        """Return the data of a response; None if it was refused, as it must be once the event is closed."""
        if self.state.closed:
            assert read_error(response) == CLOSED
        elif response.status_code == 409:
            assert read_error(response)[1] in ("INSUFFICIENT_SLOTS", "NO_SLOTS_LEFT")
        else:
            return data(response, status)
        return None

    @rule(chosen=which, count=few)
    def make_codes(self, chosen: int, count: int) -> None:
        made = self.blocks[chosen % 2]
        answer = self.given(made.post("codes", count=count), 201)
        for code in answer["codes"] if answer else ():
            assert code["code"] not in self.state.codes
            self.state.codes.append(code["code"])
            self.state.invitations.append(Invitation(made, code["slotId"], code["code"]))

    @rule(chosen=which)
    def invite(self, chosen: int) -> None:
        made, email = self.blocks[chosen % 2], self.state.new_email()
        answer = self.given(made.post("invite", name="Anna", email=email), 201)
        for item in answer["invited"] if answer else ():
            self.state.invitations.append(Invitation(made, item["slotId"], token_in(item), email))

    @rule(chosen=which, count=few)
    def put_on_the_list(self, chosen: int, count: int) -> None:
        made = self.blocks[chosen % 2]
        guest = {"name": f"Crew {self.state.new_email()}", "delivery": "will_call", "quantity": count}
        answer = self.given(made.post("invite", recipients=[guest]), 201)
        for listed in answer["listed"] if answer else ():
            self.record_party(made, listed, "invite")

    def record_party(self, made: Block, guest: dict[str, Any], via: str) -> None:
        """Record the places of a guest of a list."""
        party = [slot for slot in made.now()["slots"] if slot["partyId"] == guest["slotId"]]
        assert len(party) == guest.get("quantity", 1)
        slots = [{"slotId": slot["id"], "code": slot["code"]} for slot in party]
        delivery = "will_call" if guest["email"] is None else "e_ticket"
        self.state.record_claim(made, {"slots": slots, "email": guest["email"], "delivery": delivery}, via)

    @rule(chosen=which)
    def remind(self, chosen: int) -> None:
        self.given(self.blocks[chosen % 2].post("remind"))

    @precondition(lambda self: self.state.invitations)
    @rule(chosen=which, delivery=deliveries)
    def claim(self, chosen: int, delivery: str) -> None:
        invitation = self.state.invitations[chosen % len(self.state.invitations)]
        answer = claim_slot(self.client, invitation.token, email=self.state.new_email(), delivery=delivery)
        if invitation.state == "ended" or self.state.closed:
            assert read_error(answer) == (410, "LINK_EXPIRED")
        elif invitation.state == "used":
            assert read_error(answer) == (410, "LINK_USED")
        else:
            invitation.state = "used"
            self.state.record_claim(invitation.block, data(answer), "claim")

    @rule(chosen=which, count=few, delivery=deliveries)
    def claim_by_open_link(self, chosen: int, count: int, delivery: str) -> None:
        made = self.blocks[chosen % 2]
        link = self.given(made.post("open-link", maxPerClaim=3))
        if link is not None:
            sent = {"email": self.state.new_email(), "quantity": count, "delivery": delivery}
            answer = self.given(claim_slot(self.client, token_in(link), **sent))
            if answer is not None:
                self.state.record_claim(made, answer, "open")

    def allocate(self, number: int, end: str = "", **body: Any) -> Any:
        """Post to the allocator link; return the data, None once the event is closed."""
        answer = self.client.post(f"/api/allocations/allocator/{self.allocators[number % 2]}{end}", body)
        if self.state.closed:
            assert read_error(answer) == (410, "LINK_EXPIRED")
            return None
        return answer

    @rule(chosen=which, count=few, delivery=deliveries)
    def hand_out(self, chosen: int, count: int, delivery: str) -> None:
        person = {"name": "Helvi", "email": self.state.new_email(), "quantity": count, "delivery": delivery}
        response = self.allocate(chosen, **person)
        answer = response and self.given(response)
        if answer:
            self.state.record_claim(self.blocks[chosen % 2], answer, "allocator")

    @rule(chosen=which, mailed=few, count=few)
    def hand_out_a_list(self, chosen: int, mailed: int, count: int) -> None:
        made = self.blocks[chosen % 2]
        guests: list[dict[str, Any]] = [{"name": "Helvi", "email": self.state.new_email()} for _ in range(mailed)]
        guests.append({"name": f"Crew {self.state.new_email()}", "delivery": "will_call", "quantity": count})
        response = self.allocate(chosen, "/guests", recipients=guests)
        answer = response and self.given(response)
        for guest in (*answer["mailed"], *answer["listed"]) if answer else ():
            self.record_party(made, guest, "allocator")

    @precondition(lambda self: self.state.alive("allocator"))
    @rule(chosen=which)
    def rename(self, chosen: int) -> None:
        """Prefer a slot of a party."""
        handed_out = self.state.alive("allocator")
        places = [item for item in handed_out if len(self.state.party_of(item)) > 1] or handed_out
        place = places[chosen % len(places)]
        answer = self.change(place, "rename", name="Maria", email=self.state.new_email())
        if answer is not None:
            self.state.record_rename(place, answer)

    @precondition(lambda self: self.state.alive("allocator"))
    @rule(chosen=which)
    def take_back(self, chosen: int) -> None:
        places = self.state.alive("allocator")
        place = places[chosen % len(places)]
        answer = self.change(place, "take_back")
        if answer is not None:
            assert answer["status"] == "revoked"
            self.state.end_slot(place.slot_id)

    @precondition(lambda self: self.state.alive())
    @rule(chosen=which)
    def pass_on(self, chosen: int) -> None:
        place = self.state.alive()[chosen % len(self.state.alive())]
        person = {"name": "Maria", "email": self.state.new_email()}
        answer = self.use_ticket_link(place, "pass-on", person)
        if answer is not None:
            (slot,) = [slot for slot in place.block.now()["slots"] if slot["id"] == place.slot_id]
            self.state.record_rename(place, slot)
            place.passed_on += 1

    @precondition(lambda self: self.state.alive())
    @rule(chosen=which)
    def give_back(self, chosen: int) -> None:
        place = self.state.alive()[chosen % len(self.state.alive())]
        answer = self.use_ticket_link(place, "give-back", {})
        if answer is not None:
            assert answer["status"] == "revoked"
            self.state.end_slot(place.slot_id)

    def use_ticket_link(self, place: Place, verb: str, body: dict[str, str]) -> dict[str, Any] | None:
        """Post to the link of a ticket; return None if it was refused, as it must be. The link before it is dead."""
        path = "/api/allocations/ticket"
        if place.generation > 1:
            earlier = encode_token("ticket", place.slot_id, place.generation - 1)
            assert read_error(self.client.post(f"{path}/{earlier}/{verb}", body)) == (410, "LINK_EXPIRED")
        answer = self.client.post(f"{path}/{encode_token('ticket', place.slot_id, place.generation)}/{verb}", body)
        if self.state.closed:
            assert read_error(answer) == CLOSED
        elif place.status == "admitted":
            assert read_error(answer) == (409, "ALREADY_ADMITTED")
        elif verb == "pass-on" and place.passed_on == 3:
            assert read_error(answer) == (429, "RATE_LIMITED")
        else:
            return data(answer)
        return None

    def change(self, place: Place, action: str, **person: str) -> dict[str, Any] | None:
        """Post to the allocator link about a handed-out slot; return None if it was refused, as it must be."""
        answer = self.allocate(self.blocks.index(place.block), slotId=place.slot_id, action=action, **person)
        if answer is None or place.status != "admitted":
            return answer if answer is None else data(answer)
        assert read_error(answer) == (409, "ALREADY_ADMITTED")
        return None

    def slot(self, chosen: int, *statuses: str) -> tuple[Block, dict[str, Any]] | None:
        for made in (self.blocks[chosen % 2], self.blocks[(chosen + 1) % 2]):
            found = [slot for slot in made.now()["slots"] if slot["status"] in statuses]
            if found:
                return made, found[chosen % len(found)]
        return None

    @precondition(lambda self: self.state.invitations or self.state.places)
    @rule(chosen=which, to=st.sampled_from(["block", "public"]))
    def revoke(self, chosen: int, to: str) -> None:
        found = self.slot(chosen, "invited", "claimed", "admitted")
        if found is not None:
            answer = found[0].revoke(found[1]["id"], returnTo=to)
            if found[1]["status"] == "admitted":
                assert read_error(answer) == (409, "ALREADY_ADMITTED")
            else:
                data(answer)
                self.state.end_slot(found[1]["id"])

    @rule(chosen=which, count=few)
    def release(self, chosen: int, count: int) -> None:
        made = self.blocks[chosen % 2]
        data(made.post("release-unused", quantity=count))
        for slot in made.now(status="released")["slots"]:
            self.state.end_slot(slot["id"])

    @rule(chosen=which, count=few)
    def move(self, chosen: int, count: int) -> None:
        answer = self.blocks[chosen % 2].post("move", toBlockId=self.blocks[(chosen + 1) % 2].id, quantity=count)
        assert answer.status_code == 200 or read_error(answer) == (409, "INSUFFICIENT_SLOTS")

    @precondition(lambda self: not self.state.closed)
    @rule(how=st.sampled_from(["cancelled", "archived", "over"]), really=which)
    def close_event(self, how: str, really: int) -> None:
        if really % 8 != 7:
            return
        event = self.blocks[0].event["id"]
        if how == "over":
            with transaction() as session:
                session.execute(text(OVER), {"id": event})
        else:
            data(self.blocks[0].owner.patch(f"/api/events/{event}", {"visibility": how}))
        self.state.closed = True

    @precondition(lambda self: self.state.guests)
    @rule(chosen=which)
    def deliver_a_mail(self, chosen: int) -> None:
        rows = waiting_mails()
        if rows:
            self.state.deliver(rows[chosen % len(rows)])

    @precondition(lambda self: self.state.codes)
    @rule(chosen=which, count=st.one_of(st.none(), few), again=st.booleans())
    def scan_code(self, chosen: int, count: int | None, again: bool) -> None:
        self._scan(self.state.codes[chosen % len(self.state.codes)], count, again)

    @precondition(lambda self: self.state.parties())
    @rule(chosen=which)
    def scan_as_many_as_came_together(self, chosen: int) -> None:
        """Scan a ticket of a party, of which some slots may have ended or been renamed."""
        parties = self.state.parties()
        slot_ids = parties[chosen % len(parties)].slot_ids
        place = self.state.places[slot_ids[chosen % len(slot_ids)]]
        if place.status == "ended":
            assert read_error(place.block.admit(place.slot_id, count=len(slot_ids))) == (409, "SLOT_REVOKED")
        else:
            self._scan(place.code, len(slot_ids))

    def _scan(self, code: str, count: int | None, again: bool = False) -> None:
        made = self.blocks[0]
        rows = data(made.owner.get(f"{made.events}/will-call", query_string={"q": code}))["slots"]
        place = next((item for item in self.state.alive() if item.code == code), None)
        if place is None:
            assert rows == [], "a code that ended, or that only claims, admits nobody"
            return
        assert [(row["slotId"], row["email"]) for row in rows] == [(place.slot_id, place.email)]
        self.scans += 1
        sent = {"nonce": f"scan-{self.scans}", "count": count}
        answer = made.admit(place.slot_id, **sent)
        self._check_admission(place, count, answer)
        if again and answer.status_code == 200:
            assert data(made.admit(place.slot_id, **sent)) == data(answer)

    def _check_admission(self, place: Place, count: int | None, answer: Any) -> None:
        outside = self.state.party_of(place)
        if count is None:
            outside = [item for item in outside if item is place]
        wanted = count or 1
        if not outside:
            assert read_error(answer) == (409, "ALREADY_ADMITTED")
        elif len(outside) < wanted:
            assert read_error(answer) == (409, "PARTY_TOO_SMALL")
        else:
            admitted = set(data(answer)["slotIds"])
            assert len(admitted) == wanted and admitted <= {item.slot_id for item in outside}
            assert place.status == "admitted" or place.slot_id in admitted
            for item in outside:
                item.status = "admitted" if item.slot_id in admitted else item.status

    @rule(chosen=which, count=st.one_of(st.none(), few))
    def scan_place_that_is_not_claimed(self, chosen: int, count: int | None) -> None:
        found = self.slot(chosen, "revoked") or self.slot(chosen, *NOT_ALIVE)
        if found is not None:
            answer = found[0].admit(found[1]["id"], count=count)
            assert read_error(answer) == (409, NOT_ALIVE[found[1]["status"]])

    @invariant()
    def nothing_is_lost(self) -> None:
        assert_books_agree()

    @invariant()
    def places_are_as_they_should_be(self) -> None:
        inside = {row.id: row[1:] for row in db.session.execute(CLAIMED)}
        release_connection()
        assert inside == {item.slot_id: (item.status, item.code, item.email) for item in self.state.alive()}
        assert len(inside) <= 16

    def teardown(self) -> None:
        """All emails are sent in the end, and each guest enters with the code of their newest email."""
        if not hasattr(self, "state"):
            return
        for row in waiting_mails():
            self.state.deliver(row)
        for place in self.state.alive():
            assert place.mailed, "the code of each place has been mailed to its guest"
            self._scan(place.code, None)
        assert_books_agree()


@pytest.mark.timeout(7200)
def test_guests_enter_only_on_their_own_slots(app: Flask, client: Client) -> None:
    AllocationBlocks.client = client
    run_state_machine_as_test(AllocationBlocks, settings=model_settings())  # type: ignore[no-untyped-call]
