"""The links of a block: the organiser turns the allocator link and the open link on and off; by the allocator link, the
holder hands out places, gives them to other guests, and takes them back.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import RowMapping, func, select, update
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import build_sender, count_mails
from app.allocations import sql, states
from app.allocations.actions.blocks import end_locked_slot
from app.allocations.actions.claims import Claim, Claimant, claim_free_slots, enqueue_ticket_email
from app.allocations.errors import AlreadyAdmitted, AlreadyClaimed, NoSlotsLeft
from app.allocations.links import ResolvedToken, check_block_link, check_block_open, generate_code, resolve_token
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.queries import BlockRow, lock_block, lock_block_by_id
from app.allocations.sql import HOLDER_ACTOR, Actor
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.db import database_now
from app.core.errors import LinkExpired, NotFound, Throttled, ValidationFailed
from app.core.formatting import format_count
from app.core.ids import new_id
from app.core.languages import find_page_language, mark_for_translation
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.events.timezones import to_instant

LEAST_GUESTS_A_DAY = 100
TOO_MANY_GUESTS = mark_for_translation("This link has handed out too many tickets today. Try again tomorrow.")
LinkValues = dict[str, int | bool | datetime | None]
SLOT_COLUMNS = (
    AllocationSlot.id,
    AllocationSlot.id.label("slot_id"),
    AllocationSlot.status,
    AllocationSlot.name,
    AllocationSlot.email,
    AllocationSlot.phone,
    AllocationSlot.delivery,
    AllocationSlot.code,
    AllocationSlot.generation,
    AllocationSlot.version,
)
AllocatorSlot = RowMapping
"""A slot with SLOT_COLUMNS, as its guest and its holder see it."""


def update_allocator_link(
    caller: Caller,
    event_id: str,
    block_id: str,
    *,
    rotate: bool = False,
    revoke: bool = False,
    mail: bool | None = None,
) -> BlockRow:
    """Turn on the allocator link, replace it (`rotate`) or end it (`revoke`); return the block.

    A new link is mailed to the holder's address, unless `mail` is False; if it is True, an existing link is mailed
    again. Raises NotFound, EventClosed, ReleaseTimePassed, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        block = dict(lock_block(session, caller, event_id, block_id))
        values = _build_link_values(block, "allocator", rotate=rotate, revoke=revoke)
        _update_block(session, block, "allocator", values)
        is_new = "allocator_generation" in values
        if block["allocator_live"] and (is_new if mail is None else mail):
            mail_allocator_link(session, block)
    return block


def mail_allocator_link(session: Session, block: BlockRow) -> None:
    """Enqueue the email of the allocator link, if the holder has an address."""
    if block["holder_email"] is not None:
        count_mails(session, build_sender(block), [block["holder_email"]])
        enqueue("allocations.mail_allocator_link", block_id=block["id"], generation=block["allocator_generation"])


def update_open_link(
    caller: Caller,
    event_id: str,
    block_id: str,
    *,
    rotate: bool = False,
    revoke: bool = False,
    expires_at: datetime | None = None,
    max_claims: int | None = None,
    max_per_claim: int | None = None,
) -> BlockRow:
    """Turn on the open link with its limits, replace it or end it; return the block. Values left out stay.

    `max_claims` limits the places in all, `max_per_claim` those of one claim. A new link counts its claims from zero.
    Raises NotFound, ValidationFailed, EventClosed, ReleaseTimePassed.
    """
    with transaction() as session:
        block = dict(lock_block(session, caller, event_id, block_id))
        values = _build_link_values(block, "open", rotate=rotate, revoke=revoke)
        if "open_generation" in values:
            values["open_claims"] = 0
            if block["open_expired"]:
                values["open_expires_at"] = None
        if max_claims is not None:
            values["open_max_claims"] = max_claims
        if max_per_claim is not None:
            values["open_max_per_claim"] = max_per_claim
        if expires_at is not None:
            values["open_expires_at"] = _resolve_expires_at(expires_at, block["timezone"])
        _check_max_claims({**block, **values})
        _update_block(session, block, "open", values)
    return block


def _build_link_values(block: BlockRow, purpose: str, *, rotate: bool, revoke: bool) -> LinkValues:
    is_live, generation = block[f"{purpose}_live"], block[f"{purpose}_generation"]
    if revoke:
        return {f"{purpose}_live": False} if is_live else {}
    check_block_open(block)
    if is_live and not rotate:
        return {}
    return {f"{purpose}_live": True, f"{purpose}_generation": generation + 1}


def _update_block(session: Session, block: dict[Any, Any], purpose: str, values: LinkValues) -> None:
    changed_values = {name: value for name, value in values.items() if block[name] != value}
    if not changed_values:
        return
    session.execute(
        update(AllocationBlock)
        .where(AllocationBlock.id == block["id"])
        .values(**changed_values, version=AllocationBlock.version + 1, updated_at=func.now())
        .execution_options(synchronize_session=False)
    )
    data = {"link": purpose, "changed": sorted(changed_values), "live": values.get(f"{purpose}_live", True)}
    record(session, Action.LINK_CHANGED, event_id=block["event_id"], subject=block["id"], data=data)
    block.update(changed_values)
    block["open_expired"] = _is_past(block["open_expires_at"])


def _resolve_expires_at(expires_at: datetime, timezone: str) -> datetime:
    expiry_instant = to_instant(expires_at, timezone)
    if _is_past(expiry_instant):
        raise ValidationFailed.of("expiresAt", "in_the_past", "Must be in the future.")
    return expiry_instant


def _is_past(moment: datetime | None) -> bool:
    return moment is not None and moment <= database_now()


def _check_max_claims(block: BlockRow) -> None:
    max_claims = block["open_max_claims"]
    if max_claims is not None and max_claims < block["open_claims"]:
        claimed = format_count(block["open_claims"], "place")
        message = f"This link has given out {claimed} already; rotate it to start again at 0."
        raise ValidationFailed.of("maxClaims", "too_small", message)


def hand_out_slots(
    token: str,
    network: str,
    *,
    name: str,
    email: str,
    phone: str | None = None,
    delivery: str = states.E_TICKET,
    quantity: int = 1,
    allow_duplicates: bool = False,
) -> Claim:
    """Claim a place for a guest, or a party of several; the tickets go to the guest.

    Raises NotFound, Throttled, LinkExpired, NoSlotsLeft, AlreadyClaimed.
    """
    claimant = Claimant(name, email, phone, delivery, quantity)
    resolved_token = resolve_token(token, network, "allocator")
    with transaction() as session:
        block = lock_allocator_block(resolved_token)
        check_guest_limit(session, block, claimant.quantity)
        if block["available"] < claimant.quantity:
            raise NoSlotsLeft("No place of the block is free for that.", remaining=block["available"])
        try:
            return claim_free_slots(
                block,
                claimant,
                via=states.ALLOCATOR,
                actor=HOLDER_ACTOR,
                allow_duplicates=allow_duplicates,
            )
        except AlreadyClaimed:
            message = "This address has a place already; send allowDuplicates to give it another."
            raise AlreadyClaimed(message) from None


def reassign_slot(
    token: str,
    network: str,
    *,
    slot_id: str,
    name: str | None = None,
    email: str | None = None,
    phone: str | None = None,
    delivery: str | None = None,
) -> AllocatorSlot:
    """Give a handed-out place to another guest: the old ticket ends, and a new one is emailed. Fields left out stay.

    The place leaves its party, so the earlier guest cannot enter on it. Raises NotFound, Throttled, LinkExpired,
    AlreadyAdmitted.
    """
    resolved_token = resolve_token(token, network, "allocator")
    with transaction() as session:
        block = lock_allocator_block(resolved_token)
        slot = _get_allocator_slot(session, block["id"], slot_id)
        if slot["status"] == states.ADMITTED:
            raise AlreadyAdmitted()
        if slot["status"] != states.CLAIMED:
            raise LinkExpired(mark_for_translation("This place was taken back; hand out another."))
        guest = {
            "name": name or slot["name"],
            "email": email or slot["email"],
            "phone": phone or slot["phone"],
            "delivery": delivery or slot["delivery"],
        }
        if all(value == slot[column] for column, value in guest.items()):
            return slot
        reassign_locked_slot(session, block, slot_id, guest, actor=HOLDER_ACTOR, verb="rename")
        return _get_allocator_slot(session, block["id"], slot_id)


def reassign_locked_slot(
    session: Session, block: BlockRow, slot_id: str, guest: Mapping[str, str | None], *, actor: Actor, verb: str
) -> None:
    """Give a claimed slot of a locked block to another guest, and enqueue their ticket. Raises AlreadyAdmitted.

    `guest` has `name, email, phone, delivery`. The slot has a new code and leaves its party.
    """
    params = {
        **guest,
        **actor.build_params(verb),
        "slot_id": slot_id,
        "event_id": block["event_id"],
        "code": generate_code(),
        "party_id": new_id(),
        "language": find_page_language(),
    }
    generation = session.scalar(sql.REASSIGN_SLOT, params)
    if generation is None:
        raise AlreadyAdmitted()
    data = {"block": block["id"], "by": actor.role}
    record(session, Action.SLOT_REASSIGNED, event_id=block["event_id"], subject=slot_id, data=data)
    enqueue_ticket_email(slot_id, generation)


def reclaim_slot(token: str, network: str, *, slot_id: str) -> AllocatorSlot:
    """End a place that was handed out, and tell its guest by mail; a new free place replaces it.

    A second call changes nothing. Raises NotFound, Throttled, LinkExpired, AlreadyAdmitted.
    """
    resolved_token = resolve_token(token, network, "allocator")
    with transaction() as session:
        block = lock_allocator_block(resolved_token)
        slot = _get_allocator_slot(session, block["id"], slot_id)
        end_locked_slot(session, block, slot, actor=HOLDER_ACTOR, verb="take_back", to_public=False)
        if slot["status"] != states.REVOKED:
            enqueue("allocations.mail_taken_back", slot_id=slot_id)
        return _get_allocator_slot(session, block["id"], slot_id)


def lock_allocator_block(resolved_token: ResolvedToken) -> BlockRow:
    """Lock and return the block of an allocator link. Raises NotFound, LinkExpired."""
    block = lock_block_by_id(resolved_token.id)
    check_block_link(block, resolved_token)
    return block


def check_guest_limit(session: Session, block: BlockRow, count: int) -> None:
    """Count guests of the holder of a locked block: twice as many a day as it has places, and a hundred at least.

    So a stolen link cannot mail strangers without end by taking places back. Raises Throttled.
    """
    rule = Rule("holder-guests", max(LEAST_GUESTS_A_DAY, 2 * block["quantity"]), timedelta(days=1))
    (status,) = throttle.hit_many(session, {(rule, block["id"]): count}) if count else (None,)
    if status is not None and status.exceeded:
        raise Throttled(TOO_MANY_GUESTS, retry_after=status.seconds)


def _get_allocator_slot(session: Session, block_id: str, slot_id: str) -> AllocatorSlot:
    """A place that was handed out by the allocator link; the holder cannot change other guests. Raises NotFound."""
    conditions = (AllocationSlot.block_id == block_id, AllocationSlot.via == states.ALLOCATOR)
    row = session.execute(select(*SLOT_COLUMNS).where(AllocationSlot.id == slot_id, *conditions)).mappings().first()
    if row is None:
        raise NotFound()
    return row
