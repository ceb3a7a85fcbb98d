"""Changing a block: its holder, name, price, release and number of places."""

from datetime import datetime
from typing import Any, TypedDict, Unpack

from sqlalchemy import func, update
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.quotas import SLOTS_QUOTA, count_unverified_use
from app.allocations.actions.block_links import mail_allocator_link
from app.allocations.actions.blocks import (
    Holder,
    build_holder_values,
    check_type_availability,
    enqueue_release,
    insert_slots,
    release_slots,
    resolve_release_at,
)
from app.allocations.actions.guest_lists import check_free_slots
from app.allocations.block_facts import digest_facts
from app.allocations.errors import BlockInvoiced
from app.allocations.links import check_block_open
from app.allocations.models import AllocationBlock
from app.allocations.queries import BlockRow, has_invoice, lock_block
from app.allocations.release_plan import PlannedStep, build_release_plan, check_release_at, enqueue_release_plan
from app.allocations.sql import build_organiser_actor
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import StaleVersion
from app.core.transaction import transaction
from app.events import queries as events
from app.events.capacity import check_booking
from app.events.models import Event
from app.events.timezones import to_instant

PLAIN_FIELDS = ("name", "kind", "notes", "unit_price_minor", "quantity", "guests_may_pass_on", "guests_may_give_back")
PRICE_INVOICED_MESSAGE = "The invoice of this block is issued, so its price no longer changes."


class BlockChanges(TypedDict, total=False):
    """The fields to change. Fields of the holder that are left out stay; None removes the holder.

    `quantity` takes places from the public or gives free ones back. `release_plan` has the steps to come.
    """

    name: str | None
    kind: str
    holder: Holder | None
    unit_price_minor: int
    release_at: datetime | None
    release_plan: list[PlannedStep] | None
    notes: str | None
    quantity: int
    guests_may_pass_on: bool
    guests_may_give_back: bool


def update_block(
    caller: Caller,
    event_id: str,
    block_id: str,
    *,
    expected_version: int | None = None,
    expected_digest: str | None = None,
    expected_released: int | None = None,
    **changes: Unpack[BlockChanges],
) -> None:
    """Change the fields of a block that are sent.

    If the holder gets another address, the allocator link ends, and the new address gets a new one by mail.

    Raises StaleVersion if the block has another version or other facts than expected, or if the number of places changes and
    another number than expected was given back; and NotFound, ValidationFailed, BlockInvoiced, InsufficientTickets,
    InsufficientSlots, CapacityExceeded, EventClosed, ReleaseTimePassed, EmailNotVerified, SenderNotVerified,
    MailLimitReached.
    """
    with transaction() as session:
        # The event is locked before the block, as by all who take places from the public.
        event = events.lock_for_booking(session, caller, event_id, limited=False) if "quantity" in changes else None
        block = lock_block(session, caller, event_id, block_id)
        if expected_version not in (None, block["version"]) or expected_digest not in (None, digest_facts(block)):
            raise StaleVersion()
        values = _build_changed_values(block, changes)
        if not values:
            return
        if "quantity" in values and expected_released not in (None, block["released"]):
            raise StaleVersion()
        _check_invoice(session, block, values)
        added = values.get("quantity", block["quantity"]) - block["quantity"]
        if added > 0 and event is not None:
            is_time_passed = block["release_time_passed"] and "release_at" not in values
            check_block_open({**block, "release_time_passed": is_time_passed})
            _check_more_places(session, caller, event, block["ticket_type_id"], added)
        if added < 0:
            check_free_slots(block, -added)
            release_slots(session, block, build_organiser_actor(caller), -added)
        _store(session, block, values)
        if added > 0:
            insert_slots(
                session,
                block_id=block_id,
                event_id=event_id,
                ticket_type_id=block["ticket_type_id"],
                count=added,
                actor=build_organiser_actor(caller),
            )


def _build_changed_values(block: BlockRow, changes: BlockChanges) -> dict[str, Any]:
    """Return the columns that change, with their new values. Raises ValidationFailed."""
    values: dict[str, Any] = {name: changes[name] for name in PLAIN_FIELDS if name in changes}  # type: ignore[literal-required]
    if "holder" in changes:
        values |= _build_holder_changes(block, changes["holder"])
    if "release_at" in changes:
        sent = changes["release_at"]
        release_instant = None if sent is None else to_instant(sent, block["timezone"])
        if release_instant != block["release_at"]:
            values["release_at"] = resolve_release_at(block["timezone"], release_instant)
    release_at = values.get("release_at", block["release_at"])
    if "release_plan" in changes:
        values["release_plan"] = build_release_plan(
            changes["release_plan"] or [],
            timezone=block["timezone"],
            ends_at=block["ends_at"],
            release_at=release_at,
            present=block["release_plan"],
        )
    elif "release_at" in values:
        check_release_at(block["release_plan"], release_at)
    return {name: value for name, value in values.items() if value != block[name]}


def _build_holder_changes(block: BlockRow, holder: Holder | None) -> dict[str, Any]:
    values = build_holder_values(holder)
    if holder is not None:
        values = {column: value for column, value in values.items() if column.removeprefix("holder_") in holder}
    if values.get("holder_email", block["holder_email"]) == block["holder_email"] or not block["allocator_live"]:
        return values
    has_ended = block["event_cancelled"] or block["event_over"] or block["release_time_passed"]
    return {
        **values,
        "allocator_generation": block["allocator_generation"] + 1,
        "allocator_live": values["holder_email"] is not None and not has_ended,
    }


def _check_invoice(session: Session, block: BlockRow, values: dict[str, Any]) -> None:
    """Raises BlockInvoiced if the invoice of a locked block would no longer be right."""
    takes_places = values.get("quantity", 0) > block["quantity"]
    if (takes_places or "unit_price_minor" in values) and has_invoice(session, block["id"]):
        raise BlockInvoiced(PRICE_INVOICED_MESSAGE if "unit_price_minor" in values else BlockInvoiced.message)


def _check_more_places(session: Session, caller: Caller, event: Event, ticket_type_id: str, added: int) -> None:
    count_unverified_use(session, caller, SLOTS_QUOTA, added)
    ticket_type = next(item for item in event.ticket_types if item.id == ticket_type_id)
    check_type_availability(ticket_type, added)
    check_booking(event, added)


def _store(session: Session, block: BlockRow, values: dict[str, Any]) -> None:
    session.execute(
        update(AllocationBlock)
        .where(AllocationBlock.id == block["id"])
        .values(**values, version=AllocationBlock.version + 1, updated_at=func.now())
        .execution_options(synchronize_session=False)
    )
    data = {"changed": sorted(name for name in values if not name.startswith("allocator_"))}
    record(session, Action.BLOCK_CHANGED, event_id=block["event_id"], subject=block["id"], data=data)
    if "release_at" in values:
        enqueue_release(block["id"], values["release_at"])
    enqueue_release_plan(block["id"], values.get("release_plan", ()), block["release_plan"])
    if "allocator_generation" in values:
        changed_block = {**block, **values}
        link = {"link": "allocator", "changed": ["allocator_generation"], "live": changed_block["allocator_live"]}
        record(session, Action.LINK_CHANGED, event_id=block["event_id"], subject=block["id"], data=link)
        if changed_block["allocator_live"]:
            mail_allocator_link(session, changed_block)
