"""The table of all acts that the audit trail records. `make docs` writes it to docs/audit.md.

The value of an action is `area.verb`. Its name, subject and area are stored with each entry, so a name never gets another
meaning.
"""

from enum import StrEnum


class Action(StrEnum):
    """An act: its name, the kind of thing that it was done on, and a sentence for the documentation."""

    subject_kind: str
    meaning: str

    def __new__(cls, name: str, subject_kind: str, meaning: str) -> "Action":
        action = str.__new__(cls, name)
        action._value_ = name
        action.subject_kind, action.meaning = subject_kind, meaning
        return action

    PAYOUT_REQUESTED = "money.payout_requested", "payout", "A merchant requested a payout."
    PAYOUT_CANCELLED = "money.payout_cancelled", "payout", "A merchant cancelled a payout."
    PAYOUT_STOPPED = "money.payout_stopped", "payout", "The link of the mail about a new destination stopped a payout."
    PAYOUT_RESOLVED = "money.payout_resolved", "payout", "An operator ended a payout that needed a review."
    PAYOUT_DETAILS_CHANGED = "money.payout_details_changed", "account", "A merchant changed where payouts go."
    SETTLEMENT_IMPORTED = "money.settlement_imported", "settlement", "An operator credited merchants with earnings."
    STALL_FEE_SET = "money.stall_fee_set", "application", "A decider set another stall fee."
    STALL_FEE_RECEIVED = "money.stall_fee_received", "application", "A stall fee was recorded as received by transfer."
    STALL_FEE_WAIVED = "money.stall_fee_waived", "application", "A stall fee was waived."
    STALL_FEE_REFUNDED = "money.stall_fee_refunded", "application", "A stall fee, or a part of it, was sent back."
    STALL_FEE_PAID = "money.stall_fee_paid", "application", "The rail confirmed the payment of a stall fee."
    STALL_FEE_INVOICED = "money.stall_fee_invoiced", "application", "The invoice of a paid stall fee was issued."
    STALL_FEE_CREDITED = (
        "money.stall_fee_credited",
        "application",
        "The credit note for a refunded stall fee was issued.",
    )
    STALL_FEE_RESOLVED = "money.stall_fee_resolved", "payment", "An operator ended a payment without an outcome."
    REVIEW_CLOSED = "money.review_closed", "review", "An operator closed the reviews of a payout or payment."
    INVOICE_ISSUED = "money.invoice_issued", "invoice", "The invoice of a block was issued."
    CREDIT_NOTE_ISSUED = "money.credit_note_issued", "invoice", "A credit note for an invoice was issued."
    INVOICE_RECEIVED = "money.invoice_received", "invoice", "The payment of a block's invoice was recorded."
    PAYMENT_TAKEN_BACK = (
        "money.payment_taken_back",
        "invoice",
        "A recorded payment of a block's invoice was taken back.",
    )
    INVOICE_MAILED = "money.invoice_mailed", "invoice", "An invoice was sent by mail."

    REGISTERED = "access.registered", "account", "An account was created."
    ADMIN_CREATED = "access.admin_created", "account", "An account of an admin was created."
    ROLE_ADDED = "access.role_added", "account", "An account got another role."
    EMAIL_VERIFIED = "access.email_verified", "account", "A code verified the address of an account."
    SIGNED_IN = "access.signed_in", "session", "A session began."
    SIGNED_OUT = "access.signed_out", "session", "A session was ended by signing out."
    SIGN_IN_LOCKED = "access.sign_in_locked", "account", "Too many wrong passwords locked the sign-in for a while."
    SESSION_ENDED = "access.session_ended", "session", "A person ended another session of their account."
    OTHER_SESSIONS_ENDED = "access.other_sessions_ended", "account", "A person ended all other sessions."
    SESSION_REUSED = "access.session_reused", "session", "A session ended, because an old refresh token was used again."
    PASSWORD_RESET = "access.password_reset", "account", "A password was set by a mailed code."
    PASSWORD_CHANGED = "access.password_changed", "account", "A password was changed."
    PROFILE_CHANGED = "access.profile_changed", "account", "A person changed their name, telephone number or language."
    ADDRESS_CHANGED = (
        "access.address_changed",
        "account",
        "A code from the new mailbox changed the address of an account.",
    )
    ADDRESS_RESTORED = "access.address_restored", "account", "The link of the mail to the old address restored it."
    SECOND_FACTOR_ON = "access.second_factor_on", "account", "A second factor was turned on."
    SECOND_FACTOR_OFF = "access.second_factor_off", "account", "A second factor was turned off."
    SECOND_FACTOR_RESET = (
        "access.second_factor_reset",
        "account",
        "An operator turned off the second factor of a person.",
    )
    SECOND_FACTOR_LOCKED = "access.second_factor_locked", "account", "Too many wrong codes blocked those of the app."
    RECOVERY_CODES_RENEWED = "access.recovery_codes_renewed", "account", "The recovery codes were replaced."
    RECOVERY_CODE_USED = "access.recovery_code_used", "account", "A recovery code was used to sign in."
    IDENTITY_LINKED = "access.identity_linked", "account", "An identity of Apple or Google was linked."
    IDENTITY_UNLINKED = "access.identity_unlinked", "account", "An identity of Apple or Google was unlinked."
    DELETION_REQUESTED = "access.deletion_requested", "account", "A person asked for the deletion of their account."
    ACCOUNT_KEPT = "access.account_kept", "account", "A person cancelled the deletion of their account."
    ACCOUNT_DELETED = "access.account_deleted", "account", "An account was erased after its grace period."
    ACCOUNT_SUSPENDED = "access.account_suspended", "account", "An admin suspended an account."
    ACCOUNT_RESTORED = "access.account_restored", "account", "An admin restored a suspended account."
    ACCOUNT_SESSIONS_ENDED = "access.account_sessions_ended", "account", "An admin ended all sessions of an account."
    MERCHANT_PAUSED = "access.merchant_paused", "account", "A merchant paused the business."
    MERCHANT_RESUMED = "access.merchant_resumed", "account", "A merchant resumed the business."
    MERCHANT_DELETED = "access.merchant_deleted", "account", "A merchant deleted the business."
    MEMBER_INVITED = "access.member_invited", "invitation", "A person was invited to a team, or offered the ownership."
    MEMBER_JOINED = "access.member_joined", "invitation", "A person joined a team, or took over the ownership."
    MEMBER_CHANGED = "access.member_changed", "member", "The role or the events of a member were changed."
    MEMBER_REMOVED = "access.member_removed", "member", "A member left a team or was removed."
    MEMBER_INVITE_WITHDRAWN = "access.member_invite_withdrawn", "invitation", "An invitation to a team was withdrawn."
    ORGANISATION_CHANGED = "access.organisation_changed", "account", "The settings of an organisation were changed."
    DEVICE_ADDED = "access.device_added", "device", "A device was added to an event."
    DEVICE_PAIRED = "access.device_paired", "device", "A device was paired."
    DEVICE_ENDED = "access.device_ended", "device", "A device was ended."
    API_KEY_CREATED = "access.api_key_created", "key", "An API key was created."
    API_KEY_ENDED = "access.api_key_ended", "key", "An API key was ended."

    APPLICATION_APPROVED = "decisions.application_approved", "application", "An application was approved."
    APPLICATION_DECLINED = "decisions.application_declined", "application", "An application was declined."
    APPLICATION_REOPENED = "decisions.application_reopened", "application", "A refusal was taken back."
    APPLICATION_WAITLISTED = "decisions.application_waitlisted", "application", "An application got a place in line."
    PLACE_OFFERED = "decisions.place_offered", "application", "A free place was offered to the next in line."
    PLACE_ACCEPTED = "decisions.place_accepted", "application", "The applicant accepted the offered place."
    PLACE_DECLINED = "decisions.place_declined", "application", "The applicant did not want the offered place."
    PLACE_OFFER_LAPSED = "decisions.place_offer_lapsed", "application", "An offered place was not accepted in time."
    APPLICATION_WITHDRAWN = "decisions.application_withdrawn", "application", "The applicant withdrew an application."
    APPLICANT_CHANGED = (
        "decisions.applicant_changed",
        "application",
        "A decider corrected how an applicant is reached; the data has the names of the fields.",
    )
    APPLICATION_LINK_SHOWN = "decisions.application_link_shown", "application", "A decider made and saw a new link."
    MERCHANTS_INVITED = "decisions.merchants_invited", "event", "Merchants of the directory were invited."
    STALL_PLACED = "decisions.stall_placed", "event", "The number, power, water or note of a stall was changed."
    INVITE_ACCEPTED = "decisions.invite_accepted", "invitation", "A merchant accepted an invitation."
    INVITE_DECLINED = "decisions.invite_declined", "invitation", "A merchant declined an invitation."
    INVITE_WITHDRAWN = "decisions.invite_withdrawn", "invitation", "An invitation of a merchant was withdrawn."
    INVITE_LINK_CREATED = "decisions.invite_link_created", "link", "A link to apply for a stall was made."
    INVITE_LINK_DECLINED = "decisions.invite_link_declined", "link", "The mailed invitation to apply was declined."
    INVITE_LINK_WITHDRAWN = "decisions.invite_link_withdrawn", "link", "A link to apply for a stall was withdrawn."

    STOCK_EXPORTED = "exports.stock", "event", "The stock was downloaded as CSV."
    VARIANCE_EXPORTED = "exports.variance", "event", "The variances of the stock were downloaded as CSV."
    REPORT_EXPORTED = "exports.report", "event", "A report of the stock was downloaded as CSV or PDF."
    PURCHASE_ORDER_EXPORTED = "exports.purchase_order", "order", "The sheet of a purchase order was downloaded."
    BLOCKS_EXPORTED = "exports.blocks", "event", "The blocks of an event were downloaded as CSV."
    CODES_EXPORTED = "exports.codes", "block", "The claim codes of a block were listed or downloaded."
    TICKETS_EXPORTED = "exports.tickets", "pack", "The tickets of a pack were downloaded."
    FEE_INVOICE_EXPORTED = "exports.stall_fee_invoice", "application", "The invoice of a stall fee was downloaded."
    GUEST_REPORT_EXPORTED = "exports.guest_report", "block", "The report of a block was read or downloaded."
    INVOICE_EXPORTED = "exports.invoice", "block", "An invoice or credit note was downloaded."
    OWN_DATA_EXPORTED = "exports.own_data", "account", "A person asked for a copy of their data."
    ADMISSIONS_EXPORTED = "exports.admissions", "event", "Scans or conflicts of the gate were downloaded as CSV."
    APPLICATIONS_EXPORTED = "exports.applications", "event", "The applications to an event were downloaded as CSV."
    SALES_EXPORTED = "exports.sales", "event", "The imported tickets of an event were downloaded as CSV."
    STALL_FEES_EXPORTED = "exports.stall_fees", "event", "The stall fees of an event were downloaded as CSV."
    JOURNAL_EXPORTED = "exports.journal", "account", "The journal of an organisation was downloaded as CSV."
    MESSAGE_ADDRESSES_EXPORTED = (
        "exports.message_addresses",
        "event",
        "Recipients, undelivered messages, or addresses without messages were downloaded as CSV.",
    )
    FILE_EXPORTED = "exports.file", "file", "A file that a worker has made was downloaded."
    AUDIT_EXPORTED = "exports.audit", "audit", "The audit trail was downloaded as CSV."

    ADMITTED = "admissions.admitted", "slot", "A ticket was admitted at the gate, or its guest left."
    ADMISSION_UNDONE = "admissions.undone", "admission", "A scan at the gate was undone."

    DOCUMENTS_REOPENED = (
        "documents.reopened",
        "application",
        "Documents were asked for again: the event has moved, and one is not valid any more at its end.",
    )
    DOCUMENTS_ASKED_AGAIN = (
        "documents.asked_again",
        "application",
        "A decider asked for documents again; the data has the kinds and the reason.",
    )
    DOCUMENTS_ACCEPTED = "documents.accepted", "application", "A decider accepted documents; the data has the kinds."
    DOCUMENTS_SUBMITTED = "documents.submitted", "application", "An applicant submitted all documents."
    DOCUMENT_READ = "documents.read", "document", "A decider read a document of an applicant."

    BLOCK_CREATED = "allocations.block_created", "block", "A block was created."
    BLOCK_CHANGED = "allocations.block_changed", "block", "A block was changed."
    SLOTS_MOVED = "allocations.slots_moved", "block", "Places were moved from a block to another."
    SLOTS_RELEASED = "allocations.slots_released", "block", "Places of a block were released to the public."
    SLOT_REVOKED = (
        "allocations.slot_revoked",
        "slot",
        "A place was revoked, taken back by the holder or given back by its guest.",
    )
    SLOT_REASSIGNED = "allocations.slot_reassigned", "slot", "The holder or the guest gave a place to another guest."
    LINK_CHANGED = "allocations.link_changed", "block", "A link of a block was turned on, changed, replaced or ended."
    CODES_CREATED = "allocations.codes_created", "block", "Claim codes of a block were made."
    GUESTS_INVITED = "allocations.guests_invited", "block", "Guests were invited to places of a block."
    GUEST_REPORT_MAILED = "allocations.report_mailed", "block", "The report of a block was sent by mail."
    PACK_CREATED = "allocations.pack_created", "pack", "A pack of unnamed tickets was made."

    CAMPAIGN_SENT = "messages.campaign_sent", "campaign", "A message to many was sent, or scheduled."
    CAMPAIGN_CANCELLED = "messages.campaign_cancelled", "campaign", "A scheduled message was cancelled."
    CAMPAIGN_RESENT = "messages.campaign_resent", "campaign", "Messages of uncertain arrival were sent again."
    ADDRESS_STOPPED = "messages.address_stopped", "address", "An organisation stopped its messages to an address."
    ADDRESS_ALLOWED = "messages.address_allowed", "address", "An organisation allowed its messages to an address again."

    EVENT_CREATED = "events.created", "event", "An event was created, with its ticket types and stall types, or copied."
    EVENT_CHANGED = (
        "events.changed",
        "event",
        "Facts of an event were changed: `fields`, and `from` and `to` for what is short.",
    )
    TICKET_TYPE_CREATED = "events.ticket_type_created", "ticket_type", "A ticket type was added to an event."
    TICKET_TYPE_CHANGED = (
        "events.ticket_type_changed",
        "ticket_type",
        "A ticket type was changed: its price, its quantity, its phases or another field.",
    )
    TICKET_TYPE_REMOVED = "events.ticket_type_removed", "ticket_type", "A ticket type was removed from an event."
    STALL_TYPE_CREATED = "events.stall_type_created", "stall_type", "A stall type was added to an event."
    STALL_TYPE_CHANGED = (
        "events.stall_type_changed",
        "stall_type",
        "The name, fee or places of a stall type were changed.",
    )
    STALL_TYPE_REMOVED = "events.stall_type_removed", "stall_type", "A stall type was removed from an event."
    PROMO_CODES_CHANGED = (
        "events.promo_codes_changed",
        "event",
        "Promo codes of an event were added, changed or removed: how many, without the codes.",
    )
    EVENT_PUBLISHED = "events.published", "event", "An event was published, listed or unlisted."
    EVENT_CANCELLED = "events.cancelled", "event", "An event was cancelled."
    EVENT_ARCHIVED = "events.archived", "event", "An event was archived."
    EVENT_DELETED = "events.deleted", "event", "An event was deleted."
    FILE_DELETED = "events.file_deleted", "file", "A file that a worker has made or was to make was deleted."
    TICKETS_IMPORTED = "events.tickets_imported", "event", "Sold tickets were imported."
    TICKET_IMPORT_UNDONE = "events.ticket_import_undone", "event", "An import of sold tickets was undone."

    @property
    def area(self) -> str:
        """The part of the name before the dot."""
        return self.partition(".")[0]


AREAS = tuple(dict.fromkeys(action.area for action in Action))
ACTOR_KINDS = ("person", "device", "key", "system", "guest")
"""Who acts. `system` is a job or a command, and `guest` a person without a sign-in."""
