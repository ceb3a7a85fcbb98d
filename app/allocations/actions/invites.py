"""Invitations, guests on the list at the gate, and claim codes for free places.

A guest gets a claim link by email, and the same link again as a reminder, once a day at most; or their ticket at
once. A guest with the delivery `will_call` needs no address: they have their place at once, and ask for it at the gate.
A claim code opens one place, once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NotRequired, TypedDict

from sqlalchemy import Row, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import build_sender, count_mails
from app.allocations import hand_out_sql, states
from app.allocations.actions.guest_lists import (
    InvitedGuest,
    Recipient,
    build_guest,
    check_free_slots,
    claim_for_guests,
    count_places,
    split_duplicates,
    split_expected_at_gate,
)
from app.allocations.links import build_link_url, check_block_open, generate_code
from app.allocations.models import AllocationSlot
from app.allocations.queries import BlockRow, lock_block
from app.allocations.sql import Actor, build_organiser_actor
from app.audit.actions import Action
from app.audit.log import record
from app.core.outbox import enqueue_many
from app.core.transaction import transaction

MAX_ATTEMPTS = 3
INVITATION, TICKET = "invitation", "ticket"
SENDS = (INVITATION, TICKET)
"""What a list sends to its guests with an address: a link to claim a ticket, or the ticket."""


class Invites(TypedDict):
    """Who was invited, who gets a ticket at once, who is on the list at the gate, and who has a place already.

    `available` is how many places of the block remain free.
    """

    invited: list[InvitedGuest]
    mailed: list[InvitedGuest]
    listed: list[InvitedGuest]
    duplicates: list[InvitedGuest]
    available: int
    dry_run: bool


class RemindedSlot(TypedDict):
    """A slot whose guest was reminded, or with `reason` was not."""

    slot_id: str
    name: NotRequired[str | None]
    email: NotRequired[str | None]
    reason: NotRequired[str]
    reminded_at: NotRequired[datetime | None]


@dataclass(frozen=True)
class Reminders:
    reminded: list[RemindedSlot]
    skipped: list[RemindedSlot]


class ClaimCode(TypedDict):
    slot_id: str
    code: str


def invite_recipients(
    caller: Caller,
    event_id: str,
    block_id: str,
    *,
    recipients: Sequence[Recipient],
    allow_duplicates: bool,
    dry_run: bool,
    sends: str = INVITATION,
) -> Invites:
    """Invite everybody who has no place in the block yet; nobody if the block has too few free places.

    With `sends` "ticket" they have their places at once and get their tickets, as from the holder. Guests with the delivery
    `will_call` are put on the list at the gate and get no mail. An address, or the name of a guest without one, that occurs
    twice or has a slot of the block that has not ended is reported as a duplicate unless `allow_duplicates`. With `dry_run` nothing is written, and the result is what would happen. Raises NotFound,
    EventClosed, ReleaseTimePassed, InsufficientSlots, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        block = lock_block(session, caller, event_id, block_id)
        check_block_open(block)
        accepted, duplicates = split_duplicates(session, block_id, recipients, allow_duplicates)
        mailed, expected = split_expected_at_gate(accepted)
        place_count = sum(map(count_places, accepted))
        check_free_slots(block, place_count)
        guests = [build_guest(recipient) for recipient in mailed]
        listed = [build_guest(recipient) for recipient in expected]
        if accepted and not dry_run:
            actor = build_organiser_actor(caller)
            claim = partial(claim_for_guests, session, block, via=states.INVITE, actor=actor, verb="invite")
            guests = claim(mailed) if sends == TICKET else _invite_slots(session, block, mailed, actor)
            listed = claim(expected)
            count_mails(
                session, build_sender(block), [email for recipient in mailed if (email := recipient.get("email"))]
            )
            data = {"guests": len(accepted), "sends": sends}
            record(session, Action.GUESTS_INVITED, event_id=event_id, subject=block_id, data=data)
    return {
        "invited": [] if sends == TICKET else guests,
        "mailed": guests if sends == TICKET else [],
        "listed": listed,
        "duplicates": duplicates,
        "available": block["available"] - place_count,
        "dry_run": dry_run,
    }


def remind_recipients(
    caller: Caller, event_id: str, block_id: str, *, slot_ids: Sequence[str] | None = None
) -> Reminders:
    """Email the claim link again to guests (all, or those of `slot_ids`) who were invited and have not claimed.

    Raises NotFound, EventClosed, ReleaseTimePassed, SenderNotVerified, MailLimitReached.
    """
    requested_ids = None if slot_ids is None else list(slot_ids)
    with transaction() as session:
        block = lock_block(session, caller, event_id, block_id)
        check_block_open(block)
        params = {
            **build_organiser_actor(caller).build_params("remind"),
            "block_id": block_id,
            "event_id": event_id,
            "slot_ids": requested_ids,
        }
        rows = session.execute(hand_out_sql.REMIND_RECIPIENTS, params).all()
        count_mails(session, build_sender(block), [row.email for row in rows])
        enqueue_many(
            "allocations.remind",
            [(None, {"slot_id": row.id, "generation": row.generation}) for row in rows],
            aggregate=block_id,
        )
        skipped = _list_skipped(session, block_id, requested_ids, {row.id for row in rows})
    return Reminders([{"slot_id": row.id, "name": row.name, "email": row.email} for row in rows], skipped)


def create_claim_codes(caller: Caller, event_id: str, block_id: str, *, count: int | None = None) -> list[ClaimCode]:
    """Give a code to so many free places of a block, or to all of them.

    If a code exists already (one in a million calls), all are generated again. Raises NotFound, EventClosed,
    ReleaseTimePassed, InsufficientSlots.
    """
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return _try_create_codes(caller, event_id, block_id, count)
        except IntegrityError as error:
            if "uq_allocation_slot_code" not in str(error.orig):
                raise
    return _try_create_codes(caller, event_id, block_id, count)


def _invite_slots(
    session: Session, block: BlockRow, recipients: Sequence[Recipient], actor: Actor
) -> list[InvitedGuest]:
    if not recipients:
        return []
    params = {
        **actor.build_params("invite"),
        "block_id": block["id"],
        "event_id": block["event_id"],
        "count": len(recipients),
        "names": [recipient["name"] for recipient in recipients],
        "emails": [recipient["email"] for recipient in recipients],
        "phones": [recipient.get("phone") for recipient in recipients],
    }
    rows = session.execute(hand_out_sql.INVITE_RECIPIENTS, params).all()
    enqueue_many(
        "allocations.invite",
        [(None, {"slot_id": row.id, "generation": row.generation}) for row in rows],
        aggregate=block["id"],
    )
    return [
        {
            "slot_id": row.id,
            "name": row.name,
            "email": row.email,
            "url": build_link_url("claim", row.id, row.generation),
        }
        for row in rows
    ]


def _list_skipped(
    session: Session, block_id: str, requested_ids: list[str] | None, reminded_ids: set[str]
) -> list[RemindedSlot]:
    columns = (
        AllocationSlot.id,
        AllocationSlot.name,
        AllocationSlot.email,
        AllocationSlot.status,
        AllocationSlot.reminded_at,
    )
    condition = (
        AllocationSlot.id.in_(requested_ids)
        if requested_ids is not None
        else AllocationSlot.via.in_((states.INVITE, states.CODE)) & AllocationSlot.ended_at.is_(None)
    )
    rows = session.execute(
        select(*columns).where(AllocationSlot.block_id == block_id, condition).order_by(AllocationSlot.id)
    )
    skipped = [_build_skipped(row) for row in rows if row.id not in reminded_ids]
    known_ids = {slot["slot_id"] for slot in skipped} | reminded_ids
    unknown_ids = [id for id in dict.fromkeys(requested_ids or ()) if id not in known_ids]
    return [*skipped, *(RemindedSlot(slot_id=id, reason="NOT_FOUND") for id in unknown_ids)]


def _build_skipped(row: Row[*tuple[object, ...]]) -> RemindedSlot:
    slot: RemindedSlot = {"slot_id": row.id, "name": row.name, "email": row.email}
    if row.status in (states.CLAIMED, states.ADMITTED):
        return {**slot, "reason": "ALREADY_CLAIMED"}
    if row.status != states.INVITED:
        return {**slot, "reason": "NOT_INVITED"}
    if row.email is None:
        return {**slot, "reason": "NO_ADDRESS"}
    return {**slot, "reason": "REMINDED_RECENTLY", "reminded_at": row.reminded_at}


def _try_create_codes(caller: Caller, event_id: str, block_id: str, count: int | None) -> list[ClaimCode]:
    with transaction() as session:
        block = lock_block(session, caller, event_id, block_id)
        check_block_open(block)
        check_free_slots(block, 0 if count is None else count)
        code_count = block["available"] if count is None else count
        if not code_count:
            return []
        params = {
            **build_organiser_actor(caller).build_params("code"),
            "block_id": block_id,
            "event_id": event_id,
            "count": code_count,
            "codes": [generate_code() for _ in range(code_count)],
        }
        rows = session.execute(hand_out_sql.ASSIGN_CLAIM_CODES, params)
        record(session, Action.CODES_CREATED, event_id=event_id, subject=block_id, data={"count": code_count})
        return [{"slot_id": id, "code": code} for id, code in rows]
