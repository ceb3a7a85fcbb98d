"""Blocks of an event: `/api/events/{eventId}/allocations`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Unpack

from flask import Response

from app.accounts.errors import MAIL_ERRORS, EmailNotVerified
from app.accounts.permissions import GUESTS_READ, GUESTS_WRITE
from app.allocations import actions, errors, queries, slot_queries
from app.allocations.actions.block_changes import BlockChanges
from app.allocations.actions.blocks import BlockTerms
from app.allocations.actions.guest_lists import Recipient
from app.allocations.actions.invites import Invites, Reminders
from app.allocations.actions.moves import MovedBlocks, NewBlock
from app.allocations.errors import BlockInvoiced
from app.allocations.link_summaries import LinkSummary, describe_allocator_link, describe_open_link
from app.allocations.queries import BlockRow, BlocksQuery
from app.blueprints.allocations import response_schemas, schemas
from app.blueprints.allocations.response_schemas import QuoteData
from app.blueprints.allocations.serializers import (
    JsonObject,
    add_slot_page,
    build_code_response,
)
from app.events.errors import CapacityExceeded
from app.invitations.errors import EventClosed
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.paging import Listing
from app.web.rate_limits import Limit

blp = Blueprint(
    "allocations",
    __name__,
    url_prefix="/api/events",
    description="Blocks of tickets: handed out, claimed, admitted",
)
BLOCK_LISTING = Listing(
    "allocations",
    response_schemas.AllocationRow,
    queries.BLOCK_SORTS,
    "createdAt",
    totals=response_schemas.AllocationTotals,
)
MAIL_LIMIT = Limit(60)
BLOCK_CLOSED_ERRORS = [EventClosed, errors.ReleaseTimePassed]


@blp.post("/<eventId>/allocations/quote", access=may(GUESTS_READ), body=schemas.QuoteBody, returns=QuoteData)
def quote(event_id: str, **terms: Unpack[BlockTerms]) -> queries.BlockQuote:
    """Calculate what a block would cost, and whether that many places are free. Nothing is stored."""
    return queries.calculate_quote(
        get_current_caller(),
        event_id,
        ticket_type_id=terms["ticket_type_id"],
        quantity=terms["quantity"],
        unit_price_minor=terms.get("unit_price_minor"),
        promo_code=terms.get("promo_code"),
    )


@blp.post(
    "/<eventId>/allocations",
    access=may(GUESTS_WRITE),
    body=schemas.BlockBody,
    returns=response_schemas.AllocationRow,
    status=201,
    idempotent=True,
    errors=[errors.InsufficientTickets, errors.PromoCodeExhausted, CapacityExceeded, EventClosed, EmailNotVerified],
)
def create_block(event_id: str, **terms: Unpack[BlockTerms]) -> tuple[BlockRow, dict[str, str]]:
    """Create a block of places for a holder.

    The places are no longer on public sale. The block keeps the price and the discounts of this moment.
    """
    block_id = actions.create_block(get_current_caller(), event_id, **terms)
    block = queries.get_block(get_current_caller(), event_id, block_id)
    return block, {"ETag": f'"{block["version"]}"'}


@blp.get("/<eventId>/allocations", access=may(GUESTS_READ), query=schemas.BlockFilters, returns=BLOCK_LISTING)
def list_blocks(
    event_id: str, status: str | None = None, kind: str | None = None, ticket_type_id: str = ""
) -> tuple[BlocksQuery, queries.BlockTotals]:
    """List an event's blocks, with the sums over all of them."""
    caller = get_current_caller()
    rows = queries.list_blocks_query(caller, event_id, status=status, kind=kind, ticket_type_id=ticket_type_id)
    totals = queries.sum_block_counters(caller, event_id, status=status, kind=kind, ticket_type_id=ticket_type_id)
    return rows, totals


@blp.get(
    "/<eventId>/allocations/<blockId>",
    access=may(GUESTS_READ),
    query=schemas.SlotFilters,
    returns=response_schemas.AllocationData,
    etag=True,
)
def read_block(
    event_id: str,
    block_id: str,
    limit: int,
    with_total: bool,
    cursor: str | None = None,
    status: str | None = None,
    q: str | None = None,
) -> JsonObject:
    """Read a block, with a page of its slots. `q` is a part of the name or of the address of a guest."""
    block = queries.get_block(get_current_caller(), event_id, block_id)
    return add_slot_page(
        block, slot_queries.list_slots_query, limit=limit, with_total=with_total, cursor=cursor, status=status, q=q
    )


@blp.patch(
    "/<eventId>/allocations/<blockId>",
    access=may(GUESTS_WRITE),
    body=schemas.BlockChanges,
    returns=response_schemas.AllocationRow,
    etag=True,
    limit=MAIL_LIMIT,
    errors=[
        errors.InsufficientTickets,
        errors.InsufficientSlots,
        BlockInvoiced,
        CapacityExceeded,
        EmailNotVerified,
        *BLOCK_CLOSED_ERRORS,
        *MAIL_ERRORS,
    ],
)
def change_block(
    event_id: str, block_id: str, expected_version: int | None, **changes: Unpack[BlockChanges]
) -> tuple[BlockRow, dict[str, str]]:
    """Change the fields that are sent.

    Another address of the holder ends the allocator link, and gets a new one by mail. A list of steps replaces those
    whose time has not come.
    """
    actions.update_block(get_current_caller(), event_id, block_id, expected_version=expected_version, **changes)
    block = queries.get_block(get_current_caller(), event_id, block_id)
    return block, {"ETag": f'"{block["version"]}"'}


@blp.post(
    "/<eventId>/allocations/<blockId>/codes",
    access=may(GUESTS_WRITE).with_verified_email(),
    body=schemas.CodesBody,
    returns=response_schemas.CodesData,
    status=201,
    idempotent=True,
    errors=[errors.InsufficientSlots, *BLOCK_CLOSED_ERRORS],
)
def make_codes(event_id: str, block_id: str, count: int | None = None) -> Response:
    """Create single-use claim codes: `count` of them, or one for each free place. As CSV with `Accept: text/csv`."""
    return build_code_response(actions.create_claim_codes(get_current_caller(), event_id, block_id, count=count), 201)


@blp.get("/<eventId>/allocations/<blockId>/codes", access=may(GUESTS_WRITE), returns=response_schemas.CodesData)
def list_codes(event_id: str, block_id: str) -> Response:
    """List a block's claim codes and who has used them. As CSV with `Accept: text/csv`."""
    return build_code_response(slot_queries.list_claim_codes(get_current_caller(), event_id, block_id), 200)


@blp.post(
    "/<eventId>/allocations/<blockId>/invite",
    access=may(GUESTS_WRITE).with_verified_email(),
    body=schemas.InviteBody,
    returns=response_schemas.InvitesData,
    status=201,
    other_status=200,
    idempotent=True,
    limit=MAIL_LIMIT,
    errors=[errors.InsufficientSlots, *BLOCK_CLOSED_ERRORS, *MAIL_ERRORS],
)
def invite(
    event_id: str, block_id: str, recipients: list[Recipient], allow_duplicates: bool, dry_run: bool, sends: str
) -> tuple[Invites, int]:
    """Invite people: each gets a claim link by email, or with `sends: "ticket"` their ticket at once.

    All are invited or none. An address that has a place in the block, or is listed twice, is reported and skipped.
    A dry run changes nothing and is 200.
    """
    invites = actions.invite_recipients(
        get_current_caller(),
        event_id,
        block_id,
        recipients=recipients,
        allow_duplicates=allow_duplicates,
        dry_run=dry_run,
        sends=sends,
    )
    return invites, 200 if dry_run else 201


@blp.post(
    "/<eventId>/allocations/<blockId>/allocator-link",
    access=may(GUESTS_WRITE).with_verified_email(),
    body=schemas.AllocatorLinkBody,
    returns=response_schemas.AllocationLinkData,
    errors=[*BLOCK_CLOSED_ERRORS, *MAIL_ERRORS],
)
def allocator_link(event_id: str, block_id: str, rotate: bool, revoke: bool, mail: bool | None) -> LinkSummary:
    """Get the link by which the holder hands out places. A repeated call returns the same link.

    A new link is mailed to the address of the holder, if the block has one.
    """
    block = actions.update_allocator_link(
        get_current_caller(), event_id, block_id, rotate=rotate, revoke=revoke, mail=mail
    )
    return describe_allocator_link(block)


@blp.post(
    "/<eventId>/allocations/<blockId>/open-link",
    access=may(GUESTS_WRITE).with_verified_email(),
    body=schemas.OpenLinkBody,
    returns=response_schemas.AllocationLinkData,
    errors=BLOCK_CLOSED_ERRORS,
)
def open_link(
    event_id: str,
    block_id: str,
    rotate: bool,
    revoke: bool,
    max_claims: int | None = None,
    max_per_claim: int | None = None,
    expires_at: datetime | None = None,
) -> LinkSummary:
    """Get the link by which anybody claims a place, once per address. A repeated call returns the same link."""
    block = actions.update_open_link(
        get_current_caller(),
        event_id,
        block_id,
        rotate=rotate,
        revoke=revoke,
        max_claims=max_claims,
        max_per_claim=max_per_claim,
        expires_at=expires_at,
    )
    return describe_open_link(block)


@blp.post(
    "/<eventId>/allocations/<blockId>/remind",
    access=may(GUESTS_WRITE).with_verified_email(),
    body=schemas.RemindBody,
    returns=response_schemas.RemindData,
    idempotent=True,
    limit=MAIL_LIMIT,
    errors=[*BLOCK_CLOSED_ERRORS, *MAIL_ERRORS],
)
def remind(event_id: str, block_id: str, slot_ids: list[str] | None = None) -> Reminders:
    """Remind guests who have not claimed, once a day. The response lists who was skipped and why."""
    return actions.remind_recipients(get_current_caller(), event_id, block_id, slot_ids=slot_ids)


@blp.post(
    "/<eventId>/allocations/<blockId>/release-unused",
    access=may(GUESTS_WRITE),
    body=schemas.ReleaseBody,
    returns=response_schemas.ReleaseData,
    idempotent=True,
)
def release_unused(event_id: str, block_id: str, dry_run: bool, quantity: int | None = None) -> JsonObject:
    """Release unclaimed places to the public. Their links and codes end."""
    release = actions.preview_release if dry_run else actions.release_unused_slots
    return {**release(get_current_caller(), event_id, block_id, quantity=quantity), "dry_run": dry_run}


@blp.post(
    "/<eventId>/allocations/<blockId>/slots/<slotId>/revoke",
    access=may(GUESTS_WRITE),
    body=schemas.RevokeBody,
    returns=response_schemas.RevokedData,
    idempotent=True,
    errors=[errors.AlreadyAdmitted, errors.SlotReleased],
)
def revoke(event_id: str, block_id: str, slot_id: str, return_to: str) -> JsonObject:
    """Revoke a place: its ticket ends immediately, and the place returns to the block or to the public."""
    return actions.revoke_slot(get_current_caller(), event_id, block_id, slot_id, return_to=return_to)


@blp.post(
    "/<eventId>/allocations/<blockId>/move",
    access=may(GUESTS_WRITE),
    body=schemas.MoveBody,
    returns=response_schemas.MoveData,
    idempotent=True,
    errors=[
        errors.InsufficientSlots,
        errors.BlockMismatch,
        errors.AlreadyAdmitted,
        errors.AlreadyClaimed,
        BlockInvoiced,
        EventClosed,
    ],
)
def move(
    event_id: str,
    block_id: str,
    to_block_id: str | None = None,
    new_block: NewBlock | None = None,
    quantity: int | None = None,
    slot_ids: Sequence[str] = (),
) -> MovedBlocks:
    """Move places to another block of the same ticket type, or to a new block.

    Guests of these places keep their links, codes and tickets.
    """
    return actions.move_slots(
        get_current_caller(),
        event_id,
        block_id,
        to_block_id=to_block_id,
        new_block=new_block,
        quantity=quantity,
        slot_ids=slot_ids,
    )
