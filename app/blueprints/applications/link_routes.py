"""The links of an applicant: `/api/merchant-applications/{docs,files,offer,pay}/{token}`, `/api/merchant-activation`."""

from datetime import date
from typing import Unpack
from urllib.parse import quote

from flask import Response
from werkzeug.datastructures import FileStorage

from app.accounts.errors import (
    AccountSuspended,
    AddressReserved,
    CurrentPasswordWrong,
    SecondFactorRequired,
)
from app.accounts.second_factor import require_session
from app.applications import actions, errors, link_queries
from app.applications.documents import MAX_BYTES
from app.applications.stall_payments import PaymentStatus
from app.blueprints.applications import response_schemas, schemas
from app.core.errors import Throttled
from app.web.access import (
    PUBLIC,
    serialize_sign_in,
)
from app.web.blueprint import Blueprint
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, Limit, limit_failed_lookups
from app.web.session_origin import get_session_origin

blp = Blueprint(
    "application_links",
    __name__,
    url_prefix="/api/merchant-applications",
    description="What an applicant does by the links in their mails: documents, stall fee, offer",
)
activation = Blueprint(
    "activation", __name__, url_prefix="/api/merchant-activation", description="The merchant's account"
)
LINK_LIMIT = Limit(120)
MAX_UPLOAD_BYTES = 41 * 1024 * 1024
FILE_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
}


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
        errors.ApplicationsClosed,
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
    """Read a document by the link in the application, which is valid for five minutes. A browser shows pictures."""
    document, data = actions.open_document(token)
    kind = "inline" if document.content_type.startswith("image/") else "attachment"
    disposition = f"{kind}; filename*=UTF-8''{quote(document.file_name)}"
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
    errors=[errors.ApplicationsClosed, errors.LinkUsed, errors.PlaceOfferChanged, errors.PlaceOfferEnded],
)
@limit_failed_lookups
def answer_offer(token: str, answer: str, amount_minor: int | None = None) -> link_queries.PlaceOfferPage:
    """Accept or decline an offered place.

    Accepting approves the application and mails the due links. Declining ends it; the next in line gets an offer. The
    same answer again changes nothing. With `amountMinor`, a fee that has changed since is not accepted.
    """
    return actions.answer_offer(token=token, answer=answer, fee_minor=amount_minor)


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
        errors.ApplicationsClosed,
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
