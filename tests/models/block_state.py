"""State of the model of blocks: who has which slot, which codes are valid, and which emails are waiting."""

import re
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import text

from app.clients import dev_mailbox
from app.core.db import db, release_connection
from app.core.outbox.executor import run_due_jobs
from tests.factories.allocations import Block

WAITING_MAILS = text("""
    SELECT id, kind, payload FROM outbox
     WHERE state = 'ready' AND kind IN ('allocations.invite', 'allocations.remind', 'allocations.ticket') ORDER BY id
""")
CODE = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{10}\b")


@dataclass
class Place:
    """A claimed slot. Slots with the same `claim` were claimed together and were not renamed since.

    A guest on the list at the gate has no address, and gets no mail.
    """

    block: Block
    slot_id: str
    code: str
    email: str | None
    claim: int
    via: str
    status: str = "claimed"
    generation: int = 1
    mailed: bool = False
    passed_on: int = 0


@dataclass
class Invitation:
    """A claim code or link that was issued. `state` is `open`, `used` or `ended`."""

    block: Block
    slot_id: str
    token: str
    email: str | None = None
    state: str = "open"


@dataclass
class Claim:
    """The email of a claim or rename: its address and its slots."""

    number: int
    email: str | None
    slot_ids: list[str]
    delivery: str


@dataclass
class BlockState:
    """All slots, codes and claims that were issued, with their present state."""

    places: dict[str, Place] = field(default_factory=dict)
    invitations: list[Invitation] = field(default_factory=list)
    claims: dict[tuple[str, int], Claim] = field(default_factory=dict)
    codes: list[str] = field(default_factory=list)
    closed: bool = False
    guests: int = 0

    def new_email(self) -> str:
        self.guests += 1
        return f"guest{self.guests}@example.com"

    def record_claim(self, block: Block, answer: dict[str, Any], via: str) -> None:
        number = len(self.claims)
        slots = answer["slots"]
        for slot in slots:
            assert slot["code"] not in self.codes, "codes are unique"
            self.codes.append(slot["code"])
            place = Place(
                block, slot["slotId"], slot["code"], answer["email"], number, via, mailed=answer["email"] is None
            )
            self.places[place.slot_id] = place
        ids = [slot["slotId"] for slot in slots]
        self.claims[ids[0], 1] = Claim(number, answer["email"], ids, answer["delivery"])

    def record_rename(self, place: Place, answer: dict[str, Any]) -> None:
        assert answer["code"] not in self.codes
        self.codes.append(answer["code"])
        number = len(self.claims)
        place.code, place.email, place.claim = answer["code"], answer["email"], number
        place.generation, place.mailed = place.generation + 1, False
        self.claims[place.slot_id, place.generation] = Claim(
            number, answer["email"], [place.slot_id], answer["delivery"]
        )

    def end_slot(self, slot_id: str) -> None:
        if slot_id in self.places:
            self.places[slot_id].status = "ended"
        for invitation in self.invitations:
            if invitation.slot_id == slot_id:
                invitation.state = "ended"

    def alive(self, via: str | None = None) -> list[Place]:
        return [place for place in self.places.values() if place.status != "ended" and via in (None, place.via)]

    def parties(self) -> list[Claim]:
        """Return the claims of several slots."""
        return [claim for claim in self.claims.values() if len(claim.slot_ids) > 1]

    def party_of(self, place: Place) -> list[Place]:
        """Return the slots of the same claim that are not admitted yet."""
        return [item for item in self.alive() if item.claim == place.claim and item.status == "claimed"]

    def deliver(self, row: Any) -> None:
        """Send one email, and compare it with the slots that its guest has at this moment."""
        slot_id, generation = row.payload["slot_id"], row.payload["generation"]
        if row.kind == "allocations.ticket":
            claim = self.claims[slot_id, generation]
            self._deliver_tickets(row.id, claim, [self.places[slot_id] for slot_id in claim.slot_ids])
            return
        invitation = next(invitation for invitation in self.invitations if invitation.slot_id == slot_id)
        assert invitation.email is not None
        mail = _leave(row.id, invitation.email)
        assert (mail is not None) == (invitation.state == "open" and not self.closed)
        assert mail is None or invitation.token in mail["text"]

    def _deliver_tickets(self, row_id: int, claim: Claim, places: list[Place]) -> None:
        own = [place for place in places if place.status != "ended" and place.claim == claim.number]
        mail = _leave(row_id, claim.email)
        assert (mail is not None) == bool(own), f"{len(own)} places are still the guest's"
        if mail is None:
            return
        shown = {item for item in CODE.findall(mail["text"] + mail["html"]) if item in self.codes}
        codes = [item.code for item in own]
        assert shown == set(codes if claim.delivery == "e_ticket" else codes[:1])
        for item in own:
            item.mailed = True


def waiting_mails() -> list[Any]:
    """Return the emails that are waiting, the oldest first."""
    rows = list(db.session.execute(WAITING_MAILS))
    release_connection()
    return rows


def _leave(row_id: int, address: str) -> dict[str, Any] | None:
    """Run one job; return the email to that address that it sent."""
    before = len(dev_mailbox.list_messages(address))
    others = len(dev_mailbox.list_messages())
    once = iter((True, False))
    run_due_jobs(row_id, worker="model", should_continue=lambda: next(once))
    found = dev_mailbox.list_messages(address)
    assert len(dev_mailbox.list_messages()) - others == len(found) - before <= 1
    return found[0] if len(found) > before else None
