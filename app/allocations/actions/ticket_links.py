"""What guests do with their own ticket, by its link: pass it on, or give it back.

The new guest has the ticket at once. If they had to claim it first, a place that nobody claims would be lost to both
guests. If the address was wrong, the organiser can revoke the ticket as any other.
"""

from datetime import timedelta
from typing import TypedDict

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from app.allocations import states
from app.allocations.actions.block_links import reassign_locked_slot
from app.allocations.actions.blocks import end_locked_slot
from app.allocations.errors import AlreadyAdmitted, GuestChangeNotAllowed
from app.allocations.links import ResolvedToken, check_block_open, check_event_open, resolve_token
from app.allocations.models import AllocationSlot
from app.allocations.queries import BlockRow, lock_block_of_slot
from app.allocations.sql import GUEST_ACTOR
from app.allocations.ticket_links import GIVE_BACK, PASS_ON, build_ticket_ended, find_last_change
from app.core import throttle
from app.core.addresses import mask_address
from app.core.errors import Busy, Throttled, ValidationFailed
from app.core.languages import mark_for_translation
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import transaction

PASS_ON_LIMIT = Rule("ticket-passed-on", 3, timedelta(days=1))
"""Of one place, by all its guests together: each time mails an address that a guest chooses."""
TOO_OFTEN_MESSAGE = mark_for_translation("This ticket was passed on too often today.")
NO_GIVE_BACK_MESSAGE = mark_for_translation("This ticket cannot be given back. Ask the person who gave it to you.")
SAME_GUEST_MESSAGE = mark_for_translation("This guest has the ticket already.")
SLOT_COLUMNS = (
    AllocationSlot.id,
    AllocationSlot.block_id,
    AllocationSlot.status,
    AllocationSlot.generation,
    AllocationSlot.name,
    AllocationSlot.email,
    AllocationSlot.delivery,
    AllocationSlot.language,
)


class PassedOnTicket(TypedDict):
    """The guest who has the ticket now. Their code and link are only in their mail."""

    event_name: str
    name: str
    email: str


class GivenBackTicket(TypedDict):
    """A ticket that its guest gave back."""

    event_name: str
    status: str


def pass_on_ticket(token: str, network: str, *, name: str, email: str) -> PassedOnTicket:
    """Give the ticket to another guest: the old code ends, and a new one is mailed to them.

    The earlier guest gets a mail too. The place leaves its party. Raises NotFound, Throttled, LinkExpired,
    GuestChangeNotAllowed, EventClosed, AlreadyAdmitted, ValidationFailed, Busy.
    """
    resolved_token = resolve_token(token, network, "ticket")
    with transaction() as session:
        block = lock_block_of_slot(resolved_token.id)
        slot = _get_slot(session, block, resolved_token)
        if slot["generation"] != resolved_token.generation:
            raise build_ticket_ended(find_last_change(slot["id"]))
        if not block["guests_may_pass_on"]:
            raise GuestChangeNotAllowed()
        check_event_open(block)
        if slot["status"] == states.ADMITTED:
            raise AlreadyAdmitted()
        if (name, email) == (slot["name"], slot["email"]):
            raise ValidationFailed.of("email", "contradiction", SAME_GUEST_MESSAGE)
        _count_pass_on(session, slot["id"])
        guest = {"name": name, "email": email, "phone": None, "delivery": slot["delivery"]}
        reassign_locked_slot(session, block, slot["id"], guest, actor=GUEST_ACTOR, verb=PASS_ON)
        _enqueue_passed_on_email(slot, email)
    return {"event_name": block["event_name"], "name": name, "email": email}


def give_back_ticket(token: str, network: str) -> GivenBackTicket:
    """End the ticket and mail the guest; a new free place of the block replaces it. A second call changes nothing.

    Raises NotFound, Throttled, LinkExpired, GuestChangeNotAllowed, EventClosed, ReleaseTimePassed, AlreadyAdmitted,
    Busy.
    """
    resolved_token = resolve_token(token, network, "ticket")
    with transaction() as session:
        block = lock_block_of_slot(resolved_token.id)
        slot = _get_slot(session, block, resolved_token)
        if slot["generation"] == resolved_token.generation:
            _end_ticket(session, block, slot)
        elif (last_change := find_last_change(slot["id"])) != GIVE_BACK:
            raise build_ticket_ended(last_change)
    return {"event_name": block["event_name"], "status": states.REVOKED}


def _end_ticket(session: Session, block: BlockRow, slot: RowMapping) -> None:
    if not block["guests_may_give_back"]:
        raise GuestChangeNotAllowed(NO_GIVE_BACK_MESSAGE)
    check_block_open(block)
    if slot["status"] == states.ADMITTED:
        raise AlreadyAdmitted()
    end_locked_slot(session, block, slot, actor=GUEST_ACTOR, verb=GIVE_BACK, to_public=False)
    enqueue("allocations.mail_given_back", slot_id=slot["id"])


def _count_pass_on(session: Session, slot_id: str) -> None:
    limit_status = throttle.hit(session, PASS_ON_LIMIT, slot_id)
    if limit_status.exceeded:
        raise Throttled(TOO_OFTEN_MESSAGE, retry_after=limit_status.seconds)


def _enqueue_passed_on_email(slot: RowMapping, new_email: str) -> None:
    """Enqueue the email to the earlier guest, unless only the name on the ticket is another."""
    if slot["email"] is not None and slot["email"] != new_email:
        enqueue(
            "allocations.mail_passed_on",
            slot_id=slot["id"],
            to=slot["email"],
            name=slot["name"],
            language=slot["language"],
            new_guest=mask_address(new_email),
        )


def _get_slot(session: Session, block: BlockRow, resolved_token: ResolvedToken) -> RowMapping:
    """Return the slot of a link. Raises Busy if it moved to another block while this one was waited for."""
    slot = session.execute(select(*SLOT_COLUMNS).where(AllocationSlot.id == resolved_token.id)).mappings().one()
    if slot["block_id"] != block["id"]:
        raise Busy()
    return slot
