"""Errors of blocks, links, claims, admission, invoices and ticket packs."""

from app.core.errors import SHARED_NUMBER, Conflict
from app.core.languages import mark_for_translation


class InsufficientTickets(Conflict):
    number, code = 40936, "INSUFFICIENT_TICKETS"
    message = "Fewer tickets of this type are free than the block needs; data.available says how many there are."


class InsufficientSlots(Conflict):
    number, code = 40937, "INSUFFICIENT_SLOTS"
    message = "Fewer places of the block are free than that; data.available says how many there are."


class PromoCodeExhausted(Conflict):
    number, code = 40926, "PROMO_CODE_EXHAUSTED"
    message = "This promo code has reached its limit of uses; data says what the limit is."


class NoSlotsLeft(Conflict):
    number, code = 40938, "NO_SLOTS_LEFT"
    message = "All places of this link have been given out."


class AlreadyClaimed(Conflict):
    number, code = 40939, "ALREADY_CLAIMED"
    message = "This e-mail address has a place on this link already; look for the ticket in its mailbox."


class AlreadyAdmitted(Conflict):
    number, code = 40940, "ALREADY_ADMITTED"
    message = "This ticket has been admitted already; data says when, where and by whom."


class SlotRevoked(Conflict):
    number, code = 40941, "SLOT_REVOKED"
    message = "This ticket was revoked, so nobody can be admitted on it; data.revokedAt says when."


class NotClaimed(Conflict):
    number, code = 40942, "NOT_CLAIMED"
    message = "This place has not been claimed, so nobody can be admitted on it; data.status says its state."


class SlotReleased(Conflict):
    number, code = 40943, "SLOT_RELEASED"
    message = "This place was released to the public, so it cannot be revoked."


class BlockMismatch(Conflict):
    number, code = 40944, "BLOCK_MISMATCH"
    message = "Places move only between blocks of one ticket type; make the other block with the same ticketTypeId."


class ReleaseTimePassed(Conflict):
    number, code = 40917, "RELEASE_TIME_PASSED"
    message = "The release time of this block has passed, so its links and codes open nothing; use another block."


class PartyTooSmall(Conflict):
    number, code = 40964, "PARTY_TOO_SMALL"
    message = "Fewer of this party are still outside than that; data.remaining says how many."


class GuestChangeNotAllowed(Conflict):
    number, code = 40928, "GUEST_CHANGE_NOT_ALLOWED"
    message = mark_for_translation("This ticket cannot be passed on. Ask the person who gave it to you.")


class NothingToInvoice(Conflict):
    number, code = 40973, "NOTHING_TO_INVOICE"
    message = "This block costs nothing, or holds no places, so there is nothing to invoice."


class InvoiceNotIssued(Conflict):
    number, code = 40974, "INVOICE_NOT_ISSUED"
    message = mark_for_translation(
        "No invoice has been issued for this block; the organiser issues it by opening it for the first time."
    )


class InvoiceSettled(Conflict):
    number, code = 40904, "INVOICE_SETTLED"
    message = "Nothing is due for this invoice: its payment is recorded, or it is credited in full."


class PaymentTakenBack(Conflict):
    number, code = SHARED_NUMBER, "PAYMENT_TAKEN_BACK"
    message = "This payment was taken back before."


class MoneyPaidBack(Conflict):
    number, code = SHARED_NUMBER, "MONEY_PAID_BACK"
    message = "Money was paid back for this invoice, so its payments stay. If that was recorded wrongly too, take it back first."


class EventNotCancelled(Conflict):
    number, code = SHARED_NUMBER, "EVENT_NOT_CANCELLED"
    message = "The event takes place. Give places of the block back, and the invoice is credited for them."


class InvoiceCredited(Conflict):
    number, code = SHARED_NUMBER, "INVOICE_CREDITED"
    message = (
        "This invoice is credited in full, so nothing can be due for it again. Record what is owed back as paid back, and "
        "say in its reference that it never came."
    )


class InvoiceAddressMissing(Conflict):
    number, code = 40975, "INVOICE_ADDRESS_MISSING"
    message = "The holder of this block has no e-mail address; name one in `to`."


class BlockInvoiced(Conflict):
    number, code = 40977, "BLOCK_INVOICED"
    message = "The invoice of that block is issued, so another place would not be charged; create a new block for it."


class PackNotReady(Conflict):
    number, code = 40976, "PACK_NOT_READY"
    message = "The tickets are still being drawn; data.progress says how far. Ask again after Retry-After."
