"""Merchant applications: `/api/merchant-applications` and `/api/merchant-activation`."""

from typing import Any
from urllib.parse import quote

from flask import Response

from app.accounts.errors import MAIL_ERRORS, CurrentPasswordWrong
from app.applications import actions, errors, queries, visits
from app.applications.documents import MAX_BYTES
from app.applications.states import MoveNotAllowed
from app.blueprints.applications import answers, schemas
from app.core.errors import NotFound, Throttled
from app.invitations.errors import InviteExpired, InviteUsed, InviteWithdrawn
from app.merchants.errors import MerchantDeleted
from app.web.access import APPLICATION_READERS, MERCHANT, PUBLIC, PUBLIC_OR_SIGNED_IN, VERIFIED_ORGANISER_OR_SUPPORT
from app.web.auth import find_current_caller, get_current_caller, serialize_sign_in
from app.web.blueprint import Blueprint
from app.web.paging import Listing
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, EMAIL_REQUEST_LIMIT, Limit, limit_failed_lookups

blp = Blueprint(
    "applications",
    __name__,
    url_prefix="/api/merchant-applications",
    description="Merchant applications: submit, decide, documents, stall fee",
)
activation = Blueprint(
    "activation", __name__, url_prefix="/api/merchant-activation", description="The merchant's account"
)
LISTED = Listing("applications", answers.ApplicationRow, queries.SORTS, "-createdAt")
FOLLOWING = Limit(120)
UPLOADS = 41 * 1024 * 1024
FILE_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
}


@blp.post(
    "",
    access=PUBLIC_OR_SIGNED_IN,
    body=schemas.ApplicationBody,
    returns=answers.Submitted,
    status=201,
    idempotent=True,
    limit=EMAIL_REQUEST_LIMIT,
    errors=[NotFound, errors.ApplicationsClosed, InviteExpired, InviteUsed, InviteWithdrawn, MerchantDeleted],
)
def submit(**body: Any) -> Any:
    """Apply for a stall.

    With a merchant's token the contact comes from the account, where none is given. Without any contact the
    application is taken all the same; then the deciders hand the links over themselves.
    """
    return actions.submit(caller=find_current_caller(), **body)


@blp.get("", access=APPLICATION_READERS, query=schemas.Filters, returns=LISTED)
def list_applications(**filters: Any) -> Any:
    """List applications: a merchant's own, those for an organiser's events, all for admins."""
    return queries.listed(get_current_caller(), **filters)


@blp.get("/<applicationId>", access=APPLICATION_READERS, returns=answers.ApplicationRow, etag=True)
def read_application(application_id: str) -> Any:
    """Read one application."""
    return queries.one(get_current_caller(), application_id)


@blp.patch(
    "/<applicationId>",
    access=VERIFIED_ORGANISER_OR_SUPPORT,
    body=schemas.DecisionBody,
    returns=answers.ApplicationRow,
    etag=True,
    errors=[errors.AlreadyDecided, MoveNotAllowed, *MAIL_ERRORS],
)
def decide(application_id: str, **body: Any) -> Any:
    """Approve or decline an application.

    The approval mails the links that are due. The same decision again changes nothing.
    """
    actions.decide(get_current_caller(), application_id, **body)
    return queries.one(get_current_caller(), application_id)


@blp.post(
    "/<applicationId>/withdraw",
    access=MERCHANT,
    returns=answers.ApplicationRow,
    idempotent=True,
    errors=[errors.NotWithdrawable, errors.PaymentInProgress, MoveNotAllowed],
)
def withdraw(application_id: str) -> Any:
    """Take one's own application back; not while a payment is processing."""
    actions.withdraw(get_current_caller(), application_id)
    return queries.one(get_current_caller(), application_id)


@blp.post(
    "/<applicationId>/links",
    access=VERIFIED_ORGANISER_OR_SUPPORT,
    body=schemas.LinkBody,
    returns=answers.ApplicationLinkData,
    status=201,
    idempotent=True,
    errors=[errors.NothingDue, *MAIL_ERRORS],
)
def send_link(application_id: str, **body: Any) -> Any:
    """Make a fresh link in place of the old one, and mail it."""
    return actions.send_link(get_current_caller(), application_id, **body)


@blp.get(
    "/docs/<token>",
    access=PUBLIC,
    returns=answers.DocumentsData,
    etag=True,
    limit=FOLLOWING,
    errors=[errors.LinkExpired],
)
@limit_failed_lookups
def documents(token: str) -> Any:
    """See which documents are required, and which are there."""
    return visits.documents(token)


@blp.post(
    "/docs/<token>",
    access=PUBLIC,
    files=schemas.Documents,
    returns=answers.DocumentsData,
    limit=FOLLOWING,
    max_bytes=UPLOADS,
    errors=[
        errors.LinkExpired,
        errors.DocumentTooLarge,
        errors.DocumentKindUnsupported,
        errors.DocumentsMissing,
        errors.DocumentsClosed,
    ],
)
@limit_failed_lookups
def hand_in(token: str, submit: bool, **files: Any) -> Any:
    """Upload documents, the field's name being the kind; an empty body hands them in."""
    sent = {kind: (file.filename or kind, file.read(MAX_BYTES + 1)) for kind, file in files.items()}
    return actions.hand_in(token=token, files=sent, submit=submit or not sent)


@blp.get(
    "/files/<token>",
    access=PUBLIC,
    content_type="*/*",
    limit=FOLLOWING,
    errors=[errors.LinkExpired],
)
@limit_failed_lookups
def read_document(token: str) -> Any:
    """Read a document through the link that an application shows to its deciders for five minutes."""
    found, data = queries.document(token)
    named = f"attachment; filename*=UTF-8''{quote(found.file_name)}"
    return Response(data, mimetype=found.content_type, headers={**FILE_HEADERS, "Content-Disposition": named})


@blp.get(
    "/pay/<token>",
    access=PUBLIC,
    returns=answers.PaymentData,
    etag=True,
    limit=FOLLOWING,
    errors=[errors.LinkExpired],
)
@limit_failed_lookups
def fee(token: str) -> Any:
    """See the stall fee: amount, state and due date."""
    return visits.fee(token)


@blp.post(
    "/pay/<token>",
    access=PUBLIC,
    body=schemas.PayBody,
    returns=answers.StartedData,
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
def pay(token: str, **body: Any) -> Any:
    """Start paying the stall fee: a code goes to the wallet's owner.

    A payment that is paid or awaits its code from the same wallet is answered again. While the outcome of one is
    not known, none begins, from whichever wallet.
    """
    return actions.start_payment(token=token, **body)


@blp.post(
    "/pay/<token>/payrail/verify-otp",
    access=PUBLIC,
    body=schemas.OtpBody,
    returns=answers.StartedData,
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
def verify_otp(token: str, code: str | None = None, otp: str | None = None) -> Any:
    """Confirm the payment with the code; `processing` while the rail has not said how it ended."""
    return actions.verify_otp(token=token, code=code or otp or "")


@activation.get(
    "/<token>",
    access=PUBLIC,
    query=schemas.ActivationQuery,
    returns=answers.ActivationData,
    etag=True,
    limit=FOLLOWING,
    errors=[errors.LinkExpired, errors.LinkUsed],
)
@limit_failed_lookups
def activation_of(token: str, path: str = "/", **_: Any) -> Any:
    """See for whom an activation is; looking does not use it up.

    It says what the application says, and not whether the address has an account.
    """
    return {**visits.activation(token), "path": path}


@activation.post(
    "/<token>",
    access=PUBLIC,
    body=schemas.ActivationBody,
    returns=answers.ActivatedData,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[errors.LinkExpired, errors.LinkUsed, CurrentPasswordWrong, Throttled],
)
@limit_failed_lookups
def activate(token: str, confirm_password: str, **body: Any) -> Any:
    """Activate the merchant's account and sign in.

    Opens an account, or links the one that has the address: then the password must be that account's, and a wrong one
    counts as a failed sign-in. Works once.
    """
    done = actions.activate(token=token, **body)
    return {**serialize_sign_in(done.signed_in), "path": done.path}
