"""Lists of guests: who has a place of a block already, and places for guests who are named, alone or as a party.

By the allocator link, the holder hands out places to a list: a guest with an address gets their ticket by email, a guest
with the delivery `will_call` is on the list at the gate and gets no mail.
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from sqlalchemy.orm import Session

from app.allocations import hand_out_sql, states
from app.allocations.actions.block_links import check_guest_limit, lock_allocator_block
from app.allocations.errors import InsufficientSlots
from app.allocations.links import generate_code, resolve_token
from app.allocations.queries import BlockRow
from app.allocations.slot_queries import find_taken_guests, fold_guest_name
from app.allocations.sql import HOLDER_ACTOR, Actor
from app.core.formatting import format_count
from app.core.languages import find_page_language
from app.core.outbox import enqueue_many
from app.core.transaction import transaction

MAX_HANDED_OUT = 100
"""How many guests a holder can hand out places to at once."""


class Recipient(TypedDict):
    """A guest of a list; with the delivery `will_call` one for the list at the gate, with so many places."""

    name: str
    email: NotRequired[str | None]
    phone: NotRequired[str | None]
    delivery: NotRequired[str]
    quantity: NotRequired[int]


class InvitedGuest(TypedDict):
    """A guest who was invited or has a place now, or with `reason` was left out."""

    name: str
    email: NotRequired[str | None]
    slot_id: NotRequired[str]
    url: NotRequired[str]
    quantity: NotRequired[int]
    reason: NotRequired[str]


class HandedOutList(TypedDict):
    """Who gets a ticket by email, who is on the list at the gate, and who has a place of the holder already.

    `available` is how many places of the block remain free.
    """

    mailed: list[InvitedGuest]
    listed: list[InvitedGuest]
    duplicates: list[InvitedGuest]
    available: int
    dry_run: bool


def hand_out_list(
    token: str,
    network: str,
    *,
    recipients: Sequence[Recipient],
    allow_duplicates: bool = False,
    dry_run: bool = False,
) -> HandedOutList:
    """Claim places for all guests of a list, or for nobody if the block has too few; the tickets go to the guests.

    An address, or the name of a guest without one, that occurs twice or has a place by this link is reported as a
    duplicate unless `allow_duplicates`. Places that the organiser handed out do not count, because the holder does not
    see them. With `dry_run` nothing is written. Raises NotFound, Throttled, LinkExpired, InsufficientSlots.
    """
    resolved_token = resolve_token(token, network, "allocator")
    with transaction() as session:
        block = lock_allocator_block(resolved_token)
        accepted, duplicates = split_duplicates(
            session, block["id"], recipients, allow_duplicates, via=states.ALLOCATOR
        )
        place_count = sum(map(count_places, accepted))
        check_free_slots(block, place_count)
        if not dry_run:
            check_guest_limit(session, block, place_count)
        guests = (
            [build_guest(recipient) for recipient in accepted]
            if dry_run
            else claim_for_guests(
                session,
                block,
                accepted,
                via=states.ALLOCATOR,
                actor=HOLDER_ACTOR,
                verb="claim",
                language=find_page_language(),
            )
        )
    return {
        "mailed": [guest for guest in guests if not _is_listed(guest)],
        "listed": [guest for guest in guests if _is_listed(guest)],
        "duplicates": duplicates,
        "available": block["available"] - place_count,
        "dry_run": dry_run,
    }


def check_free_slots(block: BlockRow, requested: int) -> None:
    """Raises InsufficientSlots if a locked block has fewer free places."""
    available = block["available"]
    if requested > available:
        message = f"The block has {format_count(available, 'free place')}; requested: {requested}."
        raise InsufficientSlots(message, available=available, requested=requested)


def split_duplicates(
    session: Session, block_id: str, recipients: Sequence[Recipient], allow_duplicates: bool, *, via: str | None = None
) -> tuple[list[Recipient], list[InvitedGuest]]:
    """Return the guests who have no place in the block yet, and the others with the reason.

    With `via`, only places that were handed out in this way count.
    """
    if allow_duplicates:
        return list(recipients), []
    accepted: list[Recipient] = []
    duplicates: list[InvitedGuest] = []
    keys = [_build_key(recipient) for recipient in recipients]
    taken_keys, seen_keys = find_taken_guests(session, block_id, keys, via=via), set()
    for recipient, key in zip(recipients, keys, strict=True):
        if key in taken_keys or key in seen_keys:
            reason = "ALREADY_INVITED" if key in taken_keys else "LISTED_TWICE"
            duplicates.append({**build_guest(recipient), "reason": reason})
        else:
            accepted.append(recipient)
        seen_keys.add(key)
    return accepted, duplicates


def split_expected_at_gate(recipients: Sequence[Recipient]) -> tuple[list[Recipient], list[Recipient]]:
    """Return the guests who get a mail, and those for the list at the gate."""
    mailed = [recipient for recipient in recipients if not _is_expected_at_gate(recipient)]
    return mailed, [recipient for recipient in recipients if _is_expected_at_gate(recipient)]


def count_places(recipient: Recipient) -> int:
    """Return how many places a guest gets."""
    return recipient.get("quantity", 1)


def build_guest(recipient: Recipient) -> InvitedGuest:
    """Return a guest as results show them; one for the gate with the number of their places."""
    guest: InvitedGuest = {"name": recipient["name"], "email": recipient.get("email")}
    return {**guest, "quantity": count_places(recipient)} if _is_expected_at_gate(recipient) else guest


def claim_for_guests(
    session: Session,
    block: BlockRow,
    guests: Sequence[Recipient],
    *,
    via: str,
    actor: Actor,
    verb: str,
    language: str | None = None,
) -> list[InvitedGuest]:
    """Claim free places of a locked block, of which the caller has checked that there are enough.

    Tickets are enqueued for the guests who get a mail, in that language.
    """
    if not guests:
        return []
    places = [(number, guest) for number, guest in enumerate(guests) for _ in range(count_places(guest))]
    params = {
        **actor.build_params(verb),
        "block_id": block["id"],
        "event_id": block["event_id"],
        "count": len(places),
        "via": via,
        "language": language,
        "guests": [number for number, _ in places],
        "names": [guest["name"] for _, guest in places],
        "emails": [guest.get("email") for _, guest in places],
        "phones": [guest.get("phone") for _, guest in places],
        "deliveries": [guest.get("delivery", states.E_TICKET) for _, guest in places],
        "codes": [generate_code() for _ in places],
    }
    slots = session.execute(hand_out_sql.CLAIM_FOR_GUESTS, params).all()
    claims = list(zip(guests, slots, strict=True))
    tickets = [
        (None, {"slot_id": slot.id, "generation": slot.generation, "slots": count_places(guest)})
        for guest, slot in claims
        if not _is_expected_at_gate(guest)
    ]
    enqueue_many("allocations.ticket", tickets, aggregate=block["id"])
    return [{**build_guest(guest), "slot_id": slot.id} for guest, slot in claims]


def _build_key(recipient: Recipient) -> str:
    """What tells guests apart: the address, or without one the name."""
    return recipient.get("email") or fold_guest_name(recipient["name"])


def _is_listed(guest: InvitedGuest) -> bool:
    return "quantity" in guest


def _is_expected_at_gate(recipient: Recipient) -> bool:
    return recipient.get("delivery") == states.WILL_CALL
