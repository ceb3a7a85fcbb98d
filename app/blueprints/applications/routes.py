"""Merchant applications: `/api/merchant-applications` and `/api/merchant-activation`."""

from datetime import date
from typing import Unpack
from urllib.parse import quote

from flask import Response
from werkzeug.datastructures import FileStorage

from app.accounts.errors import (
    MAIL_ERRORS,
    AccountSuspended,
    AddressReserved,
    CurrentPasswordWrong,
    SecondFactorRequired,
)
from app.accounts.permissions import MONEY_WRITE, STALL_OWN, STALLS_DECIDE
from app.accounts.second_factor import require_session
from app.applications import actions, errors, fee_invoices, link_queries, queries
from app.applications.actions.decisions import SentLink
from app.applications.actions.submission import ApplicationFields, SubmittedApplication
from app.applications.documents import MAX_BYTES
from app.applications.stall_payments import PaymentStatus
from app.applications.states import StepNotAllowed
from app.blueprints.applications import response_schemas, schemas
from app.core.errors import NotFound, Throttled
from app.invitations.errors import InviteDeclined, InviteExpired, InviteUsed, InviteWithdrawn
from app.merchants.errors import MerchantDeleted
from app.web.access import (
    APPLICATION_READERS,
    INVOICE_READERS,
    PUBLIC,
    PUBLIC_OR_SIGNED_IN,
    find_current_caller,
    get_current_caller,
    may,
    serialize_sign_in,
)
from app.web.blueprint import Blueprint
from app.web.paging import Listing
from app.web.pdf_response import build_pdf_response
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, EMAIL_REQUEST_LIMIT, Limit, limit_failed_lookups
from app.web.session_origin import get_session_origin

blp = Blueprint(
    "applications",
    __name__,
    url_prefix="/api/merchant-applications",
    description="Merchant applications: submit, decide, documents, stall fee",
)
activation = Blueprint(
    "activation", __name__, url_prefix="/api/merchant-activation", description="The merchant's account"
)
APPLICATION_LISTING = Listing("applications", response_schemas.ApplicationRow, queries.SORTS, "-createdAt")
LINK_LIMIT = Limit(120)
MAX_UPLOAD_BYTES = 41 * 1024 * 1024
FILE_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
}


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
        errors.NoWaitlist,
        errors.PaymentInProgress,
        errors.StallTypeFull,
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
    reason, and while nothing is paid, an approval can become a refusal, and a refusal can be taken back. When a place
    of the stall type is free, the next in line on the waitlist gets an offer by mail.
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
    returns=response_schemas.ApplicationRow,
    idempotent=True,
    errors=[errors.NothingDue, errors.PaymentInProgress],
)
def receive_fee(application_id: str, amount_minor: int, reference: str, received_on: date) -> queries.ApplicationRecord:
    """Record the stall fee as received by bank transfer: the whole fee at once. The applicant gets a mail."""
    caller = get_current_caller()
    actions.receive_fee(caller, application_id, amount_minor=amount_minor, reference=reference, received_on=received_on)
    return queries.get_application(caller, application_id)


@blp.get(
    "/<applicationId>/invoice",
    access=INVOICE_READERS,
    content_type="application/pdf",
    limit=LINK_LIMIT,
    errors=[errors.InvoiceNotAvailable],
)
def fee_invoice(application_id: str) -> Response:
    """Get the invoice of a stall fee as a PDF, once the fee is paid; before that a pro forma invoice.

    The invoice is issued once, under the organisation's next number, and never changes. It is a tax invoice if the
    organisation has a VAT number.
    """
    document, data = fee_invoices.get_fee_document_pdf(get_current_caller(), application_id)
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
    """Waive the stall fee. The applicant goes on without paying; the audit trail has the reason."""
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
    rail has confirmed it. A fee that was received by transfer is sent back by the organiser, who records it here. With
    `reference` so is a refund that the rail has refused, or a part.
    """
    caller = get_current_caller()
    actions.refund_fee(caller, application_id, reason=reason, amount_minor=amount_minor, reference=reference)
    return queries.get_application(caller, application_id)


@blp.post(
    "/<applicationId>/links",
    access=may(STALLS_DECIDE).with_verified_email(),
    body=schemas.LinkBody,
    returns=response_schemas.ApplicationLinkData,
    status=201,
    idempotent=True,
    errors=[errors.NothingDue, *MAIL_ERRORS],
)
def send_link(application_id: str, purpose: str) -> SentLink:
    """Make a new link in place of the old one, and mail it."""
    return actions.send_link(get_current_caller(), application_id, purpose=purpose)


@blp.get(
    "/docs/<token>",
    access=PUBLIC,
    returns=response_schemas.DocumentsData,
    etag=True,
    limit=LINK_LIMIT,
    errors=[errors.LinkExpired],
)
@limit_failed_lookups
def documents(token: str) -> link_queries.DocumentsPage:
    """Read which documents are required, and which are uploaded."""
    return link_queries.get_documents(token)


@blp.post(
    "/docs/<token>",
    access=PUBLIC,
    files=schemas.Documents,
    returns=response_schemas.DocumentsData,
    limit=LINK_LIMIT,
    max_bytes=MAX_UPLOAD_BYTES,
    errors=[
        errors.LinkExpired,
        errors.DocumentTooLarge,
        errors.DocumentKindUnsupported,
        errors.DocumentsMissing,
        errors.DocumentsClosed,
    ],
)
@limit_failed_lookups
def hand_in(token: str, submit: bool, **values: FileStorage | date) -> link_queries.DocumentsPage:
    """Upload documents; the name of a field is the kind. An empty body hands all documents in.

    A document that expires before the event is over does not count; another one has to be uploaded.
    """
    files = {kind: file for kind, file in values.items() if isinstance(file, FileStorage)}
    expiry_days = {
        name.removesuffix("_expires_on"): day for name, day in values.items() if not isinstance(day, FileStorage)
    }
    uploads = {kind: (file.filename or kind, file.read(MAX_BYTES + 1)) for kind, file in files.items()}
    return actions.upload_documents(token=token, files=uploads, expiry_days=expiry_days, submit=submit or not values)


@blp.get(
    "/files/<token>",
    access=PUBLIC,
    content_type="*/*",
    limit=LINK_LIMIT,
    errors=[errors.LinkExpired],
)
@limit_failed_lookups
def read_document(token: str) -> Response:
    """Read a document by the link in the application, which is valid for five minutes."""
    document, data = queries.get_document(token)
    disposition = f"attachment; filename*=UTF-8''{quote(document.file_name)}"
    return Response(data, mimetype=document.content_type, headers={**FILE_HEADERS, "Content-Disposition": disposition})


@blp.get(
    "/offer/<token>",
    access=PUBLIC,
    returns=response_schemas.PlaceOfferData,
    etag=True,
    limit=LINK_LIMIT,
    errors=[errors.PlaceOfferEnded],
)
@limit_failed_lookups
def place_offer(token: str) -> link_queries.PlaceOfferPage:
    """Read the offer of a place."""
    return link_queries.get_place_offer(token)


@blp.post(
    "/offer/<token>",
    access=PUBLIC,
    body=schemas.AnswerBody,
    returns=response_schemas.PlaceOfferData,
    limit=LINK_LIMIT,
    errors=[errors.ApplicationsClosed, errors.LinkUsed, errors.PlaceOfferEnded],
)
@limit_failed_lookups
def answer_offer(token: str, answer: str) -> link_queries.PlaceOfferPage:
    """Accept or decline an offered place.

    Accepting approves the application and mails the due links. Declining ends it; the next in line gets an offer. The
    same answer again changes nothing.
    """
    return actions.answer_offer(token=token, answer=answer)


@blp.get(
    "/pay/<token>",
    access=PUBLIC,
    returns=response_schemas.PaymentData,
    etag=True,
    limit=LINK_LIMIT,
    errors=[errors.LinkExpired],
)
@limit_failed_lookups
def fee(token: str) -> link_queries.FeePage:
    """Read the stall fee: amount, state and due date."""
    return link_queries.get_fee(token)


@blp.post(
    "/pay/<token>",
    access=PUBLIC,
    body=schemas.PayBody,
    returns=response_schemas.StartedData,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[
        errors.ApplicationsClosed,
        errors.LinkExpired,
        errors.NothingDue,
        errors.PaymentDeclined,
        errors.PaymentInProgress,
        Throttled,
    ],
)
@limit_failed_lookups
def pay(token: str, payrail_msisdn: str | None = None) -> PaymentStatus:
    """Start the payment of the stall fee: the rail sends a code to the wallet's owner.

    A payment that is paid, or waits for its code with the same wallet, is returned again. While the outcome of a
    payment is unknown, no other one starts, from any wallet.
    """
    return actions.start_payment(token=token, payrail_msisdn=payrail_msisdn)


@blp.patch(
    "/pay/<token>",
    access=PUBLIC,
    body=schemas.BillingBody,
    returns=response_schemas.PaymentData,
    limit=LINK_LIMIT,
    errors=[errors.LinkExpired, errors.InvoiceIssued],
)
@limit_failed_lookups
def change_billing(token: str, **changes: Unpack[actions.BillingChanges]) -> link_queries.FeePage:
    """Set address and VAT number of the buyer on the invoice.

    The invoice is issued when the fee is paid; after that they cannot change.
    """
    actions.update_billing(token=token, **changes)
    return link_queries.get_fee(token)


@blp.post(
    "/pay/<token>/payrail/verify-otp",
    access=PUBLIC,
    body=schemas.OtpBody,
    returns=response_schemas.StartedData,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[
        errors.ApplicationsClosed,
        errors.LinkExpired,
        errors.OtpWrong,
        errors.PaymentExpired,
        errors.PaymentDeclined,
        errors.PaymentNotStarted,
        errors.PaymentInProgress,
    ],
)
@limit_failed_lookups
def verify_otp(token: str, code: str | None = None, otp: str | None = None) -> PaymentStatus:
    """Confirm the payment with the code; `processing` until the outcome is final."""
    return actions.verify_otp(token=token, code=code or otp or "")


@activation.get(
    "/<token>",
    access=PUBLIC,
    query=schemas.ActivationQuery,
    returns=response_schemas.ActivationData,
    etag=True,
    limit=LINK_LIMIT,
    errors=[errors.LinkExpired, errors.LinkUsed],
)
@limit_failed_lookups
def activation_of(token: str, path: str = "/", **_: object) -> dict[str, object]:
    """Read the account that an activation is for; reading does not use the link.

    The data are those of the application. They do not say whether the email has an account.
    """
    return {**link_queries.get_activation(token), "path": path}


@activation.post(
    "/<token>",
    access=PUBLIC,
    body=schemas.ActivationBody,
    returns=response_schemas.ActivatedData,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[
        errors.LinkExpired,
        errors.LinkUsed,
        AccountSuspended,
        AddressReserved,
        CurrentPasswordWrong,
        SecondFactorRequired,
        Throttled,
    ],
)
@limit_failed_lookups
def activate(
    token: str, name: str, password: str, confirm_password: str, message: str, path: str, email: str | None = None
) -> dict[str, object]:
    """Activate the merchant's account and sign in.

    Opens an account, or links the one with this email. Then the password must be that account's, and a wrong one
    counts as a failed sign-in. Works once. If that account has a second factor, the activation is complete with the
    response 401, and `login/second-factor` signs in.
    """
    result = actions.activate_account(
        token=token,
        name=name,
        password=password,
        message=message,
        path=path,
        email=email,
        origin=get_session_origin(),
    )
    return {**serialize_sign_in(require_session(result.login_result)), "path": result.path}
