"""Actions on applications. Each is one transaction; those on payments are two, with the call to the rail between."""

from app.applications.actions.activation import activate_account
from app.applications.actions.billing import BillingChanges, update_billing
from app.applications.actions.contact import ContactChanges, change_contact
from app.applications.actions.decisions import (
    DecisionFields,
    decide_application,
    request_links,
    send_link,
    withdraw_application,
)
from app.applications.actions.document_acceptance import accept_documents
from app.applications.actions.document_access import open_document
from app.applications.actions.document_requests import ask_again
from app.applications.actions.document_upload import upload_documents
from app.applications.actions.drafts import save_draft
from app.applications.actions.fee_refunds import refund_fee
from app.applications.actions.fees import receive_fee, waive_fee
from app.applications.actions.payments import start_payment, verify_otp
from app.applications.actions.picture_upload import upload_pictures
from app.applications.actions.place_offers import answer_offer, offer_place
from app.applications.actions.submission import find_submitted_form, submit_application

__all__ = [
    "BillingChanges",
    "ContactChanges",
    "DecisionFields",
    "activate_account",
    "answer_offer",
    "accept_documents",
    "ask_again",
    "change_contact",
    "decide_application",
    "find_submitted_form",
    "offer_place",
    "open_document",
    "receive_fee",
    "refund_fee",
    "request_links",
    "save_draft",
    "send_link",
    "start_payment",
    "submit_application",
    "update_billing",
    "upload_documents",
    "upload_pictures",
    "verify_otp",
    "waive_fee",
    "withdraw_application",
]
