"""How the desk names blocks, their states and their places, and what it says when an act on them is refused."""

from collections.abc import Mapping
from typing import Any

from app.allocations import errors, link_summaries, states
from app.core.errors import AppError
from app.events.errors import CapacityExceeded
from app.invitations.errors import EventClosed

KIND_LABELS = {kind: kind.capitalize() for kind in states.BLOCK_KINDS}
BLOCK_LABELS = {
    states.OPEN: "Open",
    states.EXHAUSTED: "All given out",
    states.RELEASED: "Given back",
    states.CANCELLED: "Cancelled",
}
SLOT_LABELS = {
    states.INVITED: "Invited",
    states.CLAIMED: "Has a ticket",
    states.ADMITTED: "Admitted",
    states.REVOKED: "Revoked",
    states.RELEASED: "Given back",
    states.AVAILABLE: "Free",
}
VIA_LABELS = {
    states.CODE: "Claim code",
    states.INVITE: "Invitation",
    states.ALLOCATOR: "Holder",
    states.OPEN_LINK: "Open link",
    states.PACK: "Printed",
    None: "",
}
LINK_LABELS = {
    link_summaries.ACTIVE: "Works",
    link_summaries.EXPIRED: "Ended: the event or the block is over, or its time has passed",
    link_summaries.USED_UP: "All its places are taken",
    link_summaries.REVOKED: "Ended by you",
    link_summaries.NONE: "None yet",
}
REFUSALS = {
    "ALREADY_INVITED": "has a place of this block",
    "LISTED_TWICE": "is in your list twice",
}
WORDS = {
    errors.AlreadyAdmitted.code: "A guest with this place was admitted, so it stays as it is.",
    errors.SlotReleased.code: "This place was given back to the public before.",
    errors.SlotRevoked.code: "This ticket was revoked, so nobody can come in with it.",
    errors.NotClaimed.code: "Nobody has claimed this place yet, so nobody can come in with it.",
    errors.BlockInvoiced.code: "The invoice is issued, so the price stays, and no places come or leave by a move. Make another block.",
    errors.BlockMismatch.code: "Places move only between blocks of the same ticket type.",
    errors.AlreadyClaimed.code: "A guest of these places has a place of the other block's open link already.",
    errors.ReleaseTimePassed.code: "The block's release time has passed, so its links and codes no longer work. Set a later one first.",
    errors.NothingToInvoice.code: "This block costs nothing, or holds no places, so there is nothing to invoice.",
    errors.InvoiceNotIssued.code: "The invoice is not issued yet.",
    errors.InvoiceSettled.code: "Nothing is due for this invoice: it is paid, or credited in full.",
    errors.InvoiceAddressMissing.code: "The holder has no e-mail address. Enter one.",
    errors.PromoCodeExhausted.code: "This promo code has been used as often as it may be.",
    EventClosed.code: "The event is over, archived or cancelled, so its places can no longer be given out.",
}


def reword(error: AppError) -> AppError:
    """The error with the words for an organiser; those of other pages are for guests and holders."""
    text = WORDS.get(error.code) or _describe_shortage(error)
    return type(error)(text, **error.data) if text else error


def name_block(block: Mapping[Any, Any]) -> str:
    """What a block is called: its name, or that of its holder, or its kind."""
    return block["name"] or block["holder_organisation"] or block["holder_name"] or KIND_LABELS[block["kind"]]


def name_holder(block: Mapping[Any, Any]) -> str:
    """The holder of a block in one line."""
    return ", ".join(filter(None, (block["holder_organisation"], block["holder_name"])))


def name_slot(slot: Mapping[Any, Any]) -> str:
    """Who has a place, or how it was handed out."""
    return slot["name"] or VIA_LABELS[slot["via"]] or "Free place"


def describe_invoice(invoice: Mapping[str, Any] | None) -> str:
    """The number of a block's invoice, and whether it is paid; empty if none is issued."""
    if invoice is None:
        return ""
    if invoice["due_minor"] > 0:
        return f"{invoice['number']}, open"
    return f"{invoice['number']}, {'to be paid back in part' if invoice['due_minor'] else 'settled'}"


def _describe_shortage(error: AppError) -> str:
    if error.code == errors.InsufficientTickets.code:
        return f"Only {error.data['available']} tickets of this type are free."
    if error.code == errors.InsufficientSlots.code:
        return f"Only {error.data['available']} places of this block are free."
    if error.code == CapacityExceeded.code:
        return "The event's capacity has no room for so many places."
    if error.code == errors.PartyTooSmall.code:
        return f"Only {error.data['remaining']} of this party are still outside."
    return ""
