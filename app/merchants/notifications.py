"""How the service writes to a merchant: the language, and which messages the merchant can switch off.

`settings.notifications` of a merchant stops messages on a channel, but only those that KINDS calls optional.
"""

from sqlalchemy import select

from app.accounts.languages import account_language_source
from app.core.db import db, fetch_row
from app.merchants.models import Merchant
from app.merchants.sql import HAS_SWITCHED_MAIL_OFF

SECURITY, MONEY, DECISION, TICKET, OPERATIONS = "security", "money", "decision", "ticket", "operations"
OPTIONAL = "optional"
KINDS = {
    "account_deleted": SECURITY,
    "account_kept": SECURITY,
    "account_not_deleted": SECURITY,
    "account_restored": SECURITY,
    "account_suspended": SECURITY,
    "address_changed": SECURITY,
    "address_in_use": SECURITY,
    "address_reserved": SECURITY,
    "address_restored": SECURITY,
    "already_registered": SECURITY,
    "api_key_created": SECURITY,
    "change_email": SECURITY,
    "contact_changed": SECURITY,
    "contact_confirm": SECURITY,
    "codes_blocked": SECURITY,
    "data_export": SECURITY,
    "bank_details_changed": SECURITY,
    "deletion_requested": SECURITY,
    "identity_linked": SECURITY,
    "identity_unlinked": SECURITY,
    "login_throttled": SECURITY,
    "merchant_deleted": SECURITY,
    "merchant_paused": SECURITY,
    "password_changed": SECURITY,
    "payout_details_changed": SECURITY,
    "payout_new_destination": SECURITY,
    "reset_code": SECURITY,
    "role_added": SECURITY,
    "second_factor_changed": SECURITY,
    "sessions_ended": SECURITY,
    "sessions_ended_by_admin": SECURITY,
    "team_joined": SECURITY,
    "verify_email": SECURITY,
    "welcome_admin": SECURITY,
    "allocation_invoice": MONEY,
    "allocation_payment": MONEY,
    "allocation_payment_taken_back": MONEY,
    "application_fee_due": MONEY,
    "application_paid": MONEY,
    "application_refund_refused": MONEY,
    "application_refunded": MONEY,
    "application_waived": MONEY,
    "payout_failed": MONEY,
    "payout_paid": MONEY,
    "payout_returned": MONEY,
    "payout_statement": MONEY,
    "application_activated": DECISION,
    "application_activation": DECISION,
    "application_approved": DECISION,
    "application_declined": DECISION,
    "application_documents": DECISION,
    "application_documents_again": DECISION,
    "application_document_expiry": DECISION,
    "application_draft": DECISION,
    "application_link": DECISION,
    "application_offer_ended": DECISION,
    "application_place_offer": DECISION,
    "application_ready_organiser": DECISION,
    "application_received": DECISION,
    "application_reminder": DECISION,
    "application_waitlisted": DECISION,
    "event_joined": DECISION,
    "event_moved": DECISION,
    "invite_answered": DECISION,
    "merchant_invite": DECISION,
    "team_invite": DECISION,
    "allocation_allocator_link": TICKET,
    "allocation_given_back": TICKET,
    "allocation_invite": TICKET,
    "allocation_passed_on": TICKET,
    "allocation_report": TICKET,
    "allocation_taken_back": TICKET,
    "allocation_ticket": TICKET,
    "allocation_will_call": TICKET,
    "payout_review": OPERATIONS,
    "stall_payment_review": OPERATIONS,
    "applications_new": OPTIONAL,
    "campaign": OPTIONAL,
    "event_invite": OPTIONAL,
    "inventory_alert": OPTIONAL,
    "inventory_digest": OPTIONAL,
}
"""Why each message is always sent, or that it is OPTIONAL, by the name of its mail template. A campaign also goes by SMS
and push. A `merchant_invite` is always sent, because the invitation can be found nowhere else; an `event_invite` is in
the merchant's list too."""


def may_send(template: str, address: str) -> bool:
    """Whether this mail may go to the address: it is essential, or no merchant with that address has switched mail off."""
    if KINDS[template] != OPTIONAL:
        return True
    row = fetch_row(HAS_SWITCHED_MAIL_OFF, {"address": address})
    return row is None or not row[0]


@account_language_source
def find_merchant_language(account_id: str) -> str | None:
    """The language tag in the settings of a merchant; None when they have not set one."""
    language = Merchant.settings["language"].astext
    return db.session.scalar(
        select(language).where(Merchant.account_id == account_id, Merchant.profile_id.is_not(None))
    )
