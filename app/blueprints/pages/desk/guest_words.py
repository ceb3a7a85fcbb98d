"""How the desk names blocks, their states and their places, and what it says when an act on them is refused."""

from collections.abc import Mapping
from typing import Any

from app.allocations import errors, link_summaries, states
from app.allocations.pricing import calculate_place_price
from app.core.errors import AppError, ValidationFailed
from app.core.formatting import format_money
from app.core.languages import gettext, lazy_gettext, lazy_pgettext, mark_plural, ngettext
from app.events.errors import CapacityExceeded
from app.invitations.errors import EventClosed

KIND_LABELS = {
    "sponsor": lazy_gettext("Sponsor"),
    "artist": lazy_gettext("Artist"),
    "press": lazy_gettext("Press"),
    "staff": lazy_gettext("Staff"),
    "group": lazy_gettext("Group"),
}
BLOCK_LABELS = {
    states.OPEN: lazy_gettext("Open"),
    states.EXHAUSTED: lazy_gettext("All handed out"),
    states.RELEASED: lazy_gettext("Given back"),
    states.CANCELLED: lazy_gettext("Cancelled"),
}
IN_USE = "in_use"
"""What the desk calls a released block that holds places: the others went to the public, and these are handed out."""
BLOCK_STATE_LABELS = {**BLOCK_LABELS, IN_USE: lazy_gettext("In use, the rest given back")}
ENDED_PLACES = (
    (
        "revoked",
        lazy_gettext("Taken back: you, the holder or the guest ended the ticket or the invitation."),
    ),
    (
        "released",
        lazy_gettext(
            "Given back: nobody had a ticket for the place, and it went to the public. An invitation for it has ended."
        ),
    ),
)
"""What the two counters of places that ended mean; each is explained where it is not zero."""
SLOT_LABELS = {
    states.INVITED: lazy_gettext("Invited"),
    states.CLAIMED: lazy_gettext("Has a ticket"),
    states.ADMITTED: lazy_gettext("Admitted"),
    states.REVOKED: lazy_gettext("Taken back"),
    states.RELEASED: lazy_gettext("Given back"),
    states.AVAILABLE: lazy_pgettext("places", "Free"),
}
VIA_LABELS = {
    states.CODE: lazy_gettext("Claim code"),
    states.INVITE: lazy_gettext("Invitation"),
    states.ALLOCATOR: lazy_gettext("Holder"),
    states.OPEN_LINK: lazy_gettext("Link for guests"),
    states.PACK: lazy_gettext("Printed"),
    None: "",
}
LINK_LABELS = {
    link_summaries.ACTIVE: lazy_gettext("Works"),
    link_summaries.EXPIRED: lazy_gettext("Ended: the event or the block is over, or its time has passed"),
    link_summaries.USED_UP: lazy_gettext("All its places are taken"),
    link_summaries.REVOKED: lazy_gettext("Ended by you"),
    link_summaries.NONE: lazy_gettext("None yet"),
}
REFUSALS = {
    "ALREADY_INVITED": lazy_gettext("has a place of this block"),
    "LISTED_TWICE": lazy_gettext("is in your list twice"),
}
WORDS = {
    errors.AlreadyAdmitted.code: lazy_gettext("A guest with this place was admitted, so it stays as it is."),
    errors.SlotReleased.code: lazy_gettext("This place was given back to the public before."),
    errors.SlotRevoked.code: lazy_gettext("This place was taken back, so nobody can come in with its ticket."),
    errors.NotClaimed.code: lazy_gettext("Nobody has claimed this place yet, so nobody can come in with it."),
    errors.BlockInvoiced.code: lazy_gettext(
        "The invoice of this block is issued, so you cannot change its price or buyer, or move its places. Make another block."
    ),
    errors.BlockMismatch.code: lazy_gettext("Choose a block of the same ticket type."),
    errors.AlreadyClaimed.code: lazy_gettext(
        "A guest of these places has a place by the link for guests of the other block already. Choose other places."
    ),
    errors.ReleaseTimePassed.code: lazy_gettext(
        "The block's release time has passed, so its links and codes no longer work. Set a later one first."
    ),
    errors.NothingToInvoice.code: lazy_gettext(
        "This block costs nothing, or holds no places, so there is nothing to invoice."
    ),
    errors.InvoiceNotIssued.code: lazy_gettext("The invoice is not issued yet."),
    errors.InvoiceSettled.code: lazy_gettext("Nothing is due for this invoice: it is paid, or credited in full."),
    errors.PaymentTakenBack.code: lazy_gettext("This payment was taken back before."),
    errors.MoneyPaidBack.code: lazy_gettext(
        "You have paid money back for this invoice, so its payments stay. If you recorded that by mistake too, take it back first."
    ),
    errors.InvoiceCredited.code: lazy_gettext(
        "This invoice is credited in full, so nothing can be due for it again. If the money never came, record what you owe back "
        "as paid back, and say so in its text."
    ),
    errors.InvoiceAddressMissing.code: lazy_gettext("The holder has no e-mail address. Enter one."),
    errors.PromoCodeExhausted.code: lazy_gettext(
        "This promo code is used up. Enter another one, or leave the field empty."
    ),
    EventClosed.code: lazy_gettext(
        "The event is over, archived or cancelled, so you can no longer hand out its places."
    ),
}
FREE_TICKETS = mark_plural("Only %(num)s ticket of this type is free.", "Only %(num)s tickets of this type are free.")
FREE_PLACES = mark_plural("Only %(num)s place of this block is free.", "Only %(num)s places of this block are free.")
PARTY_OUTSIDE = mark_plural(
    "Only %(num)s person of this party is still outside.", "Only %(num)s people of this party are still outside."
)


PLAN_WORDS = {
    "Must be before the event ends.": lazy_gettext("Choose a time before the event ends."),
    "Must be before releaseAt.": lazy_gettext("Choose a time before the one at which the whole block is released."),
    "Another step has this time.": lazy_gettext("Another step has this time. Choose another one."),
}
"""Why a step does not fit into the release plan, by the sentences of the API."""


def reword(error: AppError) -> AppError:
    """The error with the words for an organiser; those of other pages are for guests and holders."""
    if isinstance(error, ValidationFailed):
        return ValidationFailed([_reword_problem(**problem) for problem in error.data["errors"]])
    text = str(WORDS.get(error.code, "")) or _describe_shortage(error)
    return type(error)(text, **error.data) if text else error


def _reword_problem(path: str, code: str, message: str) -> dict[str, str]:
    words = PLAN_WORDS.get(message)
    return {"path": path, "code": "wrong_step" if words else code, "message": str(words or message)}


def name_block(block: Mapping[Any, Any]) -> str:
    """What a block is called: its name, or that of its holder, or its kind."""
    return block["name"] or block["holder_organisation"] or block["holder_name"] or str(KIND_LABELS[block["kind"]])


def name_holder(block: Mapping[Any, Any]) -> str:
    """The holder of a block in one line."""
    return ", ".join(filter(None, (block["holder_organisation"], block["holder_name"])))


def find_block_state(block: Mapping[Any, Any]) -> str:
    """The state of a block as people see it, a key of BLOCK_STATE_LABELS."""
    return IN_USE if block["status"] == states.RELEASED and block["held"] else str(block["status"])


def name_slot(slot: Mapping[Any, Any]) -> str:
    """Who has a place, or how it was handed out."""
    return slot["name"] or str(VIA_LABELS[slot["via"]]) or gettext("Free place")


def describe_invoice(invoice: Mapping[str, Any] | None) -> str:
    """The number of a block's invoice, and whether it is paid or money is owed back; empty if none is issued."""
    if invoice is None:
        return ""
    if invoice["due_minor"] > 0 and invoice["paid_minor"] > 0:
        paid_minor, charged_minor = invoice["paid_minor"], invoice["paid_minor"] + invoice["due_minor"]
        return gettext(
            "%(number)s, %(paid)s of %(total)s paid",
            number=invoice["number"],
            paid=format_money(paid_minor),
            total=format_money(charged_minor),
        )
    if invoice["due_minor"] > 0:
        return gettext("%(number)s, open", number=invoice["number"])
    if invoice["due_minor"]:
        owed_back = format_money(-invoice["due_minor"])
        return gettext("%(number)s, you owe back %(amount)s", number=invoice["number"], amount=owed_back)
    return gettext("%(number)s, settled", number=invoice["number"])


def describe_credit(block: Mapping[Any, Any]) -> str:
    """What giving places back changes of the invoice of a block, and who hears of it; empty if it charges nothing."""
    invoice = block["invoice"]
    if invoice is None or invoice["paid_minor"] + invoice["due_minor"] <= 0:
        return ""
    credited = gettext(
        "Invoice %(number)s is credited with %(amount)s for each place that is given back.",
        number=invoice["number"],
        amount=format_money(calculate_place_price(block)),
    )
    if block["holder_email"]:
        mailing = gettext("%(email)s gets the credit note by mail.", email=block["holder_email"])
    else:
        mailing = gettext("The holder has no e-mail address: send the credit note yourself.")
    return f"{credited} {mailing}"


def _describe_shortage(error: AppError) -> str:
    if error.code == errors.InsufficientTickets.code:
        return ngettext(*FREE_TICKETS, error.data["available"])
    if error.code == errors.InsufficientSlots.code:
        return ngettext(*FREE_PLACES, error.data["available"])
    if error.code == CapacityExceeded.code:
        return gettext("The capacity of the event has no room for so many places. Enter fewer, or raise the capacity.")
    if error.code == errors.PartyTooSmall.code:
        return ngettext(*PARTY_OUTSIDE, error.data["remaining"])
    return ""
