"""Merchant applications for applicants and deciders: `/api/merchant-applications`."""

from collections.abc import Sequence
from datetime import date
from typing import Unpack

from flask import Response

from app.accounts.errors import (
    MAIL_ERRORS,
)
from app.accounts.permissions import MONEY_WRITE, STALL_OWN, STALLS_DECIDE
from app.applications import actions, errors, fee_invoices, queries
from app.applications.actions.decisions import SentLink
from app.applications.actions.submission import ApplicationFields, SubmittedApplication
from app.applications.states import StepNotAllowed
from app.blueprints.applications import response_schemas, schemas
from app.core.errors import NotFound
from app.crew.errors import StallHasShifts
from app.invitations.errors import InviteDeclined, InviteExpired, InviteUsed, InviteWithdrawn
from app.merchants.errors import MerchantDeleted
from app.web.access import (
    APPLICATION_READERS,
    INVOICE_READERS,
    PUBLIC_OR_SIGNED_IN,
    find_current_caller,
    get_current_caller,
    may,
)
from app.web.blueprint import Blueprint
from app.web.file_responses import build_pdf_response
from app.web.paging import Listing
from app.web.rate_limits import EMAIL_REQUEST_LIMIT, Limit

blp = Blueprint(
    "applications",
    __name__,
    url_prefix="/api/merchant-applications",
    description="Merchant applications: submit, decide, stall fee",
)
INVOICE_LIMIT = Limit(120)
APPLICATION_LISTING = Listing("applications", response_schemas.ApplicationRow, queries.APPLICATION_SORTS, "-createdAt")


@blp.post(
    "",
    access=PUBLIC_OR_SIGNED_IN,
    body=schemas.ApplicationBody,
    returns=response_schemas.Submitted,
    status=201,
    idempotent=True,
    limit=EMAIL_REQUEST_LIMIT,
    errors=[
        NotFound,
        errors.ApplicationsClosed,
        InviteDeclined,
        InviteExpired,
        InviteUsed,
        InviteWithdrawn,
        MerchantDeleted,
    ],
)
def submit(
    event_id: str | None = None, invite_slug: str | None = None, **fields: Unpack[ApplicationFields]
) -> SubmittedApplication:
    """Apply for a stall.

    With a merchant's token, missing contact fields come from the account. An application without any contact is
    accepted too; then the deciders pass the links on themselves.
    """
    return actions.submit_application(
        caller=find_current_caller(), event_id=event_id, invite_slug=invite_slug, **fields
    )


@blp.get("", access=APPLICATION_READERS, query=schemas.Filters, returns=APPLICATION_LISTING)
def list_applications(**filters: Unpack[queries.ApplicationFilters]) -> queries.ListQuery:
    """List applications: a merchant's own, those for an organiser's events, all for admins."""
    return queries.list_applications_query(get_current_caller(), **filters)


@blp.get("/<applicationId>", access=APPLICATION_READERS, returns=response_schemas.ApplicationRow, etag=True)
def read_application(application_id: str) -> queries.ApplicationRecord:
    """Read one application."""
    return queries.get_application(get_current_caller(), application_id)


@blp.patch(
    "/<applicationId>",
    access=may(STALLS_DECIDE).with_verified_email(),
    body=schemas.DecisionBody,
    returns=response_schemas.ApplicationRow,
    etag=True,
    errors=[
        errors.AlreadyDecided,
        errors.ApplicationsClosed,
        errors.NoWaitlist,
        errors.PaymentInProgress,
        errors.StallTypeFull,
        StallHasShifts,
        StepNotAllowed,
        *MAIL_ERRORS,
    ],
)
def decide(
    application_id: str,
    decision: str,
    expected_version: int | None,
    **fields: Unpack[actions.DecisionFields],
) -> queries.ApplicationRecord:
    """Approve or decline an application, put it on the waitlist, or set its fee.

    An approval takes a place of the stall type and mails the due links. The same decision again changes nothing. With a
    reason, and while nothing is paid, an approval can become a refusal, and a refusal can be taken back. The refusal
    of an activated application ends the stall, unless its crew has recorded shifts. When a place of the stall type is
    free, the next in line on the waitlist gets an offer by mail.
    """
    actions.decide_application(
        get_current_caller(),
        application_id,
        decision=decision,
        expected_version=expected_version,
        **fields,
    )
    return queries.get_application(get_current_caller(), application_id)


@blp.post(
    "/<applicationId>/withdraw",
    access=may(STALL_OWN),
    returns=response_schemas.ApplicationRow,
    idempotent=True,
    errors=[errors.NotWithdrawable, errors.PaymentInProgress, StepNotAllowed],
)
def withdraw(application_id: str) -> queries.ApplicationRecord:
    """Withdraw one's own application; not while a payment is processing."""
    actions.withdraw_application(get_current_caller(), application_id)
    return queries.get_application(get_current_caller(), application_id)


@blp.post(
    "/<applicationId>/fee/received",
    access=may(MONEY_WRITE).with_verified_email(),
    body=schemas.ReceivedBody,
    returns=response_schemas.ReceivedFee,
    idempotent=True,
    errors=[errors.NothingDue, errors.PaymentInProgress],
)
def receive_fee(application_id: str, amount_minor: int, reference: str, received_on: date) -> dict[str, object]:
    """Record the stall fee as received by bank transfer: the whole fee at once. The applicant gets a mail.

    One transfer can pay several fees. `sameTransfer` names the other applications with its reference and day, in case
    one of them was recorded by mistake.
    """
    caller = get_current_caller()
    same_transfer = actions.receive_fee(
        caller, application_id, amount_minor=amount_minor, reference=reference, received_on=received_on
    )
    return {"application": queries.get_application(caller, application_id), "same_transfer": same_transfer}


@blp.get(
    "/<applicationId>/invoice",
    access=INVOICE_READERS,
    query=schemas.FeeDocumentQuery,
    content_type="application/pdf",
    limit=INVOICE_LIMIT,
    errors=[errors.InvoiceNotAvailable],
)
def fee_invoice(application_id: str, number: str | None = None) -> Response:
    """Get the invoice of a stall fee as a PDF, once the fee is paid; before that a pro forma invoice.

    The invoice is issued once, under the organisation's next number, and never changes. It is a tax invoice if the
    organisation has a VAT number. With `number` the response is that credit note, which a refunded fee has.
    """
    document, data = fee_invoices.get_fee_document_pdf(get_current_caller(), application_id, number=number)
    return build_pdf_response(data, document.number)


@blp.post(
    "/<applicationId>/fee/waive",
    access=may(MONEY_WRITE).with_verified_email(),
    body=schemas.WaiveBody,
    returns=response_schemas.ApplicationRow,
    idempotent=True,
    errors=[errors.NothingDue, errors.PaymentInProgress],
)
def waive_fee(application_id: str, reason: str) -> queries.ApplicationRecord:
    """Waive the stall fee. The applicant gets a mail and goes on without paying; the audit trail has the reason."""
    caller = get_current_caller()
    actions.waive_fee(caller, application_id, reason=reason)
    return queries.get_application(caller, application_id)


@blp.post(
    "/<applicationId>/fee/refund",
    access=may(MONEY_WRITE).with_verified_email(),
    body=schemas.RefundBody,
    returns=response_schemas.ApplicationRow,
    idempotent=True,
    errors=[errors.NothingToRefund, errors.FeeRefunded],
)
def refund_fee(
    application_id: str, reason: str, amount_minor: int | None = None, reference: str | None = None
) -> queries.ApplicationRecord:
    """Refund the stall fee, once. The applicant gets a mail when the money is sent.

    A fee that was paid by the rail goes back to the wallet, as a whole; `payment.refund.status` is `requested` until the
    rail has confirmed it. If it is `refused` there, those who may refund fees get a mail. A fee that was received by
    transfer is sent back by the organiser, who records it here, also a part; so is, with `reference`, a refund that the
    rail has refused.
    """
    caller = get_current_caller()
    actions.refund_fee(caller, application_id, reason=reason, amount_minor=amount_minor, reference=reference)
    return queries.get_application(caller, application_id)


@blp.patch(
    "/<applicationId>/contact",
    access=may(STALLS_DECIDE).with_verified_email(),
    body=schemas.ContactBody,
    returns=response_schemas.ApplicationRow,
    errors=[errors.ApplicationsClosed, StepNotAllowed, *MAIL_ERRORS],
)
def change_contact(application_id: str, **changes: Unpack[actions.ContactChanges]) -> queries.ApplicationRecord:
    """Correct the address, name or phone number of an applicant.

    With another address the links that were mailed end, and the new address gets new ones for what is due; an application
    that waits for a decision is acknowledged again. Fields that are absent stay.
    """
    caller = get_current_caller()
    actions.change_contact(caller, application_id, **changes)
    return queries.get_application(caller, application_id)


@blp.post(
    "/<applicationId>/documents/ask-again",
    access=may(STALLS_DECIDE).with_verified_email(),
    body=schemas.DocumentRequestBody,
    returns=response_schemas.ApplicationRow,
    idempotent=True,
    errors=[errors.ApplicationsClosed, StepNotAllowed, *MAIL_ERRORS],
)
def ask_again(application_id: str, kinds: Sequence[str], reason: str) -> queries.ApplicationRecord:
    """Ask an approved applicant for documents again that are there already.

    The applicant gets one mail with the reason and a new link. The application waits for documents again, also after
    payment, and an activation link ends; an activated one stays so. A file is kept until another one replaces it, and
    does not count any more. The same kinds with the same reason again change nothing.
    """
    caller = get_current_caller()
    actions.ask_again(caller, application_id, kinds=kinds, reason=reason)
    return queries.get_application(caller, application_id)


@blp.post(
    "/<applicationId>/documents/accept",
    access=may(STALLS_DECIDE).with_verified_email(),
    body=schemas.AcceptedDocumentsBody,
    returns=response_schemas.ApplicationRow,
    idempotent=True,
    etag=True,
    errors=[StepNotAllowed],
)
def accept_documents(
    application_id: str, kinds: Sequence[str], expected_version: int | None
) -> queries.ApplicationRecord:
    """Accept documents of an approved applicant, after a look at them.

    Documents count as soon as they are handed in; accepting takes them off the list of new documents. A file that
    replaces one is not accepted. Documents that are accepted already stay so. A kind without a file, and one that is
    asked for again, is an error. With `If-Match`, no file is accepted that came after the version that the client has.
    """
    caller = get_current_caller()
    actions.accept_documents(caller, application_id, kinds=kinds, expected_version=expected_version)
    return queries.get_application(caller, application_id)


@blp.post(
    "/<applicationId>/offer-place",
    access=may(STALLS_DECIDE).with_verified_email(),
    returns=response_schemas.ApplicationRow,
    idempotent=True,
    errors=[errors.StallTypeFull, StepNotAllowed, *MAIL_ERRORS],
)
def offer_place(application_id: str) -> queries.ApplicationRecord:
    """Offer a free place to the application that is next in line, by mail.

    The service does this by itself within a minute. An application that has an open offer keeps it.
    """
    actions.offer_place(get_current_caller(), application_id)
    return queries.get_application(get_current_caller(), application_id)


@blp.post(
    "/<applicationId>/links",
    access=may(STALLS_DECIDE).with_verified_email(),
    body=schemas.LinkBody,
    returns=response_schemas.ApplicationLinkData,
    status=201,
    idempotent=True,
    errors=[errors.ApplicationsClosed, errors.NothingDue, *MAIL_ERRORS],
)
def send_link(application_id: str, purpose: str) -> SentLink:
    """Make a new link in place of the old one, and mail it."""
    return actions.send_link(get_current_caller(), application_id, purpose=purpose)
