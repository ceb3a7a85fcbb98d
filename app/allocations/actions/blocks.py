"""Making a block.

Moving free places from one block to another of the same ticket type.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.quotas import SLOTS_QUOTA, count_unverified_use
from app.allocations import queries, slot_changes
from app.allocations.actions.claim_codes import check_free_slots
from app.allocations.actions.releases import after_block_reduced
from app.allocations.errors import BlockMismatch, InsufficientTickets
from app.allocations.invoicing.errors import BlockInvoiced
from app.allocations.invoicing.invoice_document import INVOICE
from app.allocations.models import AllocationBlock
from app.allocations.pricing import Quote, build_quote
from app.core.cache_invalidation import invalidate
from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events import queries as events
from app.events.capacity import check_booking
from app.events.models import Event, TicketType
from app.events.time_conversion import to_instant
from app.events.visibility import ARCHIVED, CANCELLED
from app.invitations.errors import EventClosed

INSERT_SLOTS = slot_changes.build_statement(
    slot_changes.slot_change_sql(
        f"""touched AS (
            INSERT INTO allocation_slot AS s (id, block_id, event_id, ticket_type_id)
            SELECT unnest(CAST(:ids AS text[])), :block_id, :event_id, :ticket_type_id
            RETURNING {slot_changes.SLOT_COLUMNS_SQL}, NULL::text AS was, s.status AS became, NULL::text AS gate)""",
        "SELECT id FROM typed",
    )
)


def create_block(
    caller: Caller,
    event_id: str,
    *,
    ticket_type_id: str,
    quantity: int,
    kind: str,
    holder: Mapping[str, Any] | None = None,
    unit_price_minor: int | None = None,
    promo_code: str | None = None,
    release_at: datetime | None = None,
    **block_fields: Any,
) -> str:
    """Takes places from the public for a holder; the block's id. The terms of the moment are its terms for ever.

    Raises NotFound, ValidationFailed, EventClosed, InsufficientTickets, CapacityExceeded, PromoCodeExhausted,
    EmailNotVerified.
    """
    with transaction() as session:
        event = events.lock_for_booking(session, caller, event_id, limited=promo_code is not None)
        count_unverified_use(session, caller, SLOTS_QUOTA, quantity)
        quote = build_quote(
            event,
            ticket_type_id=ticket_type_id,
            quantity=quantity,
            unit_price_minor=unit_price_minor,
            promo_code=promo_code,
        )
        release_instant = _resolve_release_at(event, release_at)
        _check_availability(event, quote)
        block = AllocationBlock(
            event_id=event_id,
            ticket_type_id=ticket_type_id,
            quantity=quantity,
            kind=kind,
            release_at=release_instant,
            unit_price_minor=quote.unit_price_minor,
            discounts=[discount.to_dict() for discount in quote.discounts],
            promo_code=promo_code,
            created_by=caller.id,
            **block_fields,
            **{f"holder_{name}": value for name, value in (holder or {}).items()},
        )
        session.add(block)
        session.flush()
        _insert_slots(session, block, slot_changes.build_organiser_actor(caller))
        if release_instant is not None:
            enqueue("allocations.release", run_at=release_instant, aggregate=block.id, block_id=block.id)
    return block.id


def _insert_slots(session: Session, block: AllocationBlock, actor: slot_changes.Actor) -> None:
    ids = [new_id() for _ in range(block.quantity)]
    block_keys = {name: getattr(block, name) for name in ("event_id", "ticket_type_id")}
    params = {"ids": ids, "block_id": block.id, **block_keys, **slot_changes.actor_params(actor, "create")}
    if session.scalar(INSERT_SLOTS, params) is None:
        raise _build_insufficient_tickets(
            session.get_one(TicketType, block.ticket_type_id, populate_existing=True), block.quantity
        )
    invalidate(session, "tickets")


def _check_availability(event: Event, quote: Quote) -> None:
    if event.visibility in (CANCELLED, ARCHIVED):
        raise EventClosed("The event is archived or cancelled; it takes no allocations any more.")
    if quote.ticket_type.public < quote.quantity:
        raise _build_insufficient_tickets(quote.ticket_type, quote.quantity)
    check_booking(event, quote.quantity)
    if quote.promo_code is not None:
        quote.promo_code.check_remaining()


def _resolve_release_at(event: Event, release_at: datetime | None) -> datetime | None:
    """A naive time is in the event's time zone."""
    if release_at is None:
        return None
    release_instant = to_instant(release_at, event.timezone)
    if release_instant <= database_now():
        raise ValidationFailed.of("releaseAt", "in_the_past", "Must be in the future.")
    return release_instant


def _build_insufficient_tickets(ticket_type: TicketType, requested: int) -> InsufficientTickets:
    available = max(0, ticket_type.public)
    return InsufficientTickets(
        f"{ticket_type.name}: {available} tickets are free, {requested} were asked for.",
        available=available,
        requested=requested,
    )


MOVE_SLOTS = slot_changes.build_statement(
    slot_changes.slot_event_sql(
        f"""picked AS (
            SELECT id FROM allocation_slot
             WHERE block_id = :block_id AND given_at IS NULL AND ended_at IS NULL
               AND NOT EXISTS (SELECT FROM invoice i WHERE i.block_id = :to_block_id AND i.kind = '{INVOICE}')
             ORDER BY id LIMIT :quantity),
        touched AS (
            UPDATE allocation_slot s SET block_id = :to_block_id, version = s.version + 1
              FROM picked p WHERE s.id = p.id
            RETURNING {slot_changes.SLOT_COLUMNS_SQL}, s.status AS was, s.status AS became, NULL::text AS gate),
        moves AS (
            SELECT CAST(:block_id AS text) AS block_id, 0 AS revoked, 0 AS released, 0 AS invited, 0 AS claimed,
                   0 AS admitted, -count(*) AS available FROM touched
            UNION ALL SELECT :to_block_id, 0, 0, 0, 0, 0, count(*) FROM touched),
        booked AS (
            UPDATE allocation_block b
               SET available = b.available + m.available, quantity = b.quantity + m.available,
                   status = {slot_changes.BLOCK_STATUS_SQL}, version = b.version + 1, updated_at = now()
              FROM moves m WHERE b.id = m.block_id)""",
        "SELECT count(*) FROM touched",
    )
)


def move_slots(
    caller: Caller, event_id: str, block_id: str, *, to_block_id: str, quantity: int
) -> dict[str, dict[str, Any]]:
    """Moves so many free places; both blocks as they are then. The other block's terms hold for them from now on.

    Raises NotFound, ValidationFailed, BlockMismatch, InsufficientSlots, BlockInvoiced.
    """
    if to_block_id == block_id:
        raise ValidationFailed.of("toBlockId", "contradiction", "Must be another block.")
    with transaction() as session:
        blocks = slot_changes.lock_two_blocks(session, caller, event_id, (block_id, to_block_id))
        source, target = blocks[block_id], blocks[to_block_id]
        if source["ticket_type_id"] != target["ticket_type_id"]:
            raise BlockMismatch()
        check_free_slots(source, quantity)
        _move_locked_slots(session, source, to_block_id, quantity, slot_changes.build_organiser_actor(caller))
    return {
        "from": queries.get_block(caller, event_id, block_id),
        "to": queries.get_block(caller, event_id, to_block_id),
    }


def _move_locked_slots(
    session: Session, source: Any, to_block_id: str, quantity: int, actor: slot_changes.Actor
) -> None:
    params = {
        "block_id": source["id"],
        "to_block_id": to_block_id,
        "quantity": quantity,
        **slot_changes.actor_params(actor, "move"),
    }
    # Under both locks enough places are free, so that none moved says that the other block's bill is written.
    if not session.scalar(MOVE_SLOTS, params):
        raise BlockInvoiced()
    after_block_reduced(session, source)
