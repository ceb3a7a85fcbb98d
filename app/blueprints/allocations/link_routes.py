"""Links of guests and holders: `/api/allocations/claim/{token}`, `…/ticket/{token}`, `…/allocator/{token}`."""

from app.allocations import actions, errors, link_queries, ticket_links
from app.allocations.actions.block_links import AllocatorSlot
from app.allocations.actions.claims import Claim
from app.allocations.actions.guest_lists import HandedOutList, Recipient
from app.allocations.actions.ticket_links import GivenBackTicket, PassedOnTicket
from app.allocations.states import E_TICKET
from app.blueprints.allocations import link_response_schemas, response_schemas, schemas
from app.blueprints.allocations.serializers import JsonObject, add_slot_page, serialize_linked_tickets
from app.core.errors import LinkExpired, LinkUsed, Throttled
from app.invitations.errors import EventClosed
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint
from app.web.rate_limits import get_client_network

blp = Blueprint(
    "allocation_links", __name__, url_prefix="/api/allocations", description="Claiming places, and handing them out"
)
CLAIM_ERRORS = [LinkExpired, LinkUsed, Throttled, errors.NoSlotsLeft]


@blp.get("/claim/<token>", access=PUBLIC, returns=link_response_schemas.ClaimOffer, errors=CLAIM_ERRORS)
def read_claim(token: str) -> link_queries.ClaimOffer:
    """Read the offer of a claim link, a claim code or an open link."""
    return link_queries.get_claim_offer(token, get_client_network())


@blp.post(
    "/claim/<token>",
    access=PUBLIC,
    body=schemas.ClaimBody,
    returns=link_response_schemas.ClaimedData,
    idempotent=True,
    errors=[*CLAIM_ERRORS, errors.AlreadyClaimed],
)
def claim(token: str, name: str, email: str, delivery: str, quantity: int, phone: str | None = None) -> Claim:
    """Claim a place with a claim link, a claim code or an open link. An e-ticket is sent by email."""
    return actions.claim_slot(
        token, get_client_network(), name=name, email=email, phone=phone, delivery=delivery, quantity=quantity
    )


@blp.get(
    "/ticket/<token>",
    access=PUBLIC,
    returns=link_response_schemas.LinkedTicketsData,
    errors=[LinkExpired, Throttled],
)
def read_ticket(token: str) -> JsonObject:
    """Read the ticket of a ticket link, or the tickets of a party. A ticket that another guest has by now is left out."""
    return serialize_linked_tickets(ticket_links.load_linked_tickets(token, get_client_network()))


@blp.post(
    "/ticket/<token>/pass-on",
    access=PUBLIC,
    body=schemas.PassOnBody,
    returns=link_response_schemas.PassedOnData,
    idempotent=True,
    errors=[LinkExpired, Throttled, errors.GuestChangeNotAllowed, errors.AlreadyAdmitted, EventClosed],
)
def pass_on(token: str, name: str, email: str) -> PassedOnTicket:
    """Pass a ticket on to another guest.

    Its code and its link end immediately. The new guest gets a ticket with a new code by email, the earlier one a
    confirmation. A ticket can be passed on three times a day.
    """
    return actions.pass_on_ticket(token, get_client_network(), name=name, email=email)


@blp.post(
    "/ticket/<token>/give-back",
    access=PUBLIC,
    returns=link_response_schemas.GivenBackData,
    idempotent=True,
    errors=[
        LinkExpired,
        Throttled,
        errors.GuestChangeNotAllowed,
        errors.AlreadyAdmitted,
        errors.ReleaseTimePassed,
        EventClosed,
    ],
)
def give_back(token: str) -> GivenBackTicket:
    """Give a ticket back: its code ends immediately, and the place is free again in its block."""
    return actions.give_back_ticket(token, get_client_network())


@blp.get(
    "/allocator/<token>",
    access=PUBLIC,
    query=schemas.SlotPage,
    returns=link_response_schemas.AllocatorData,
    errors=[LinkExpired, Throttled],
)
def read_allocator(token: str, limit: int, with_total: bool, cursor: str | None = None) -> JsonObject:
    """Read the block of an allocator link, and the places that were handed out by it."""
    block = link_queries.get_allocator_block(token, get_client_network())
    return add_slot_page(
        block, link_queries.list_allocator_slots_query, limit=limit, with_total=with_total, cursor=cursor
    )


@blp.post(
    "/allocator/<token>",
    access=PUBLIC,
    body=schemas.AllocatorBody,
    returns=link_response_schemas.ClaimedData,
    idempotent=True,
    errors=[LinkExpired, Throttled, errors.NoSlotsLeft, errors.AlreadyClaimed, errors.AlreadyAdmitted],
)
def use_allocator(
    token: str,
    action: str,
    quantity: int,
    allow_duplicates: bool,
    slot_id: str = "",
    name: str = "",
    email: str = "",
    phone: str | None = None,
    delivery: str | None = None,
) -> Claim | AllocatorSlot:
    """Hand out a place with `name` and `email`; with `slotId`, give it to another guest or take it back."""
    network = get_client_network()
    if action == "take_back":
        return actions.reclaim_slot(token, network, slot_id=slot_id)
    if action == "rename":
        return actions.reassign_slot(
            token, network, slot_id=slot_id, name=name, email=email, phone=phone, delivery=delivery
        )
    return actions.hand_out_slots(
        token,
        network,
        name=name,
        email=email,
        phone=phone,
        delivery=delivery or E_TICKET,
        quantity=quantity,
        allow_duplicates=allow_duplicates,
    )


@blp.post(
    "/allocator/<token>/guests",
    access=PUBLIC,
    body=schemas.GuestListBody,
    returns=response_schemas.HandedOutData,
    idempotent=True,
    errors=[LinkExpired, Throttled, errors.InsufficientSlots],
)
def hand_out_guests(token: str, recipients: list[Recipient], allow_duplicates: bool, dry_run: bool) -> HandedOutList:
    """Hand out places to several guests: all of them or nobody.

    Guests with an address get their ticket by email, those with the delivery `will_call` are on the list at the gate. An
    address that has a place by this link, or is listed twice, is reported and skipped. A dry run changes nothing.
    """
    return actions.hand_out_list(
        token, get_client_network(), recipients=recipients, allow_duplicates=allow_duplicates, dry_run=dry_run
    )
