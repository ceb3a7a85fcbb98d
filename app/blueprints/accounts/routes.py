"""Sign-in and accounts: `/api/auth/*`."""

from collections.abc import Mapping
from typing import Any

from app.accounts import actions, errors, queries
from app.accounts.sessions import LoginResult
from app.blueprints.accounts import schemas
from app.core.errors import NotFound, Throttled
from app.web.access import (
    PUBLIC,
    PUBLIC_OR_SIGNED_IN,
    SECOND_FACTOR_SETUP,
    SIGNED_IN,
    find_current_caller,
    get_current_caller,
    serialize_sign_in,
)
from app.web.blueprint import Blueprint
from app.web.cookies import list_device_marks, set_device_cookie
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, EMAIL_REQUEST_LIMIT, get_client_network
from app.web.session_origin import get_session_origin

SignInData = Mapping[str, object]
blp = Blueprint("accounts", __name__, url_prefix="/api/auth", description="Accounts, sign-in and sessions")

IDENTITY_ACCESS = PUBLIC_OR_SIGNED_IN.with_verified_email()
IDENTITY_ERRORS = [
    errors.AccountSuspended,
    errors.AddressReserved,
    errors.IdentityRejected,
    errors.IdentityLinkedElsewhere,
    errors.EmailNotVerifiedByProvider,
    errors.ProviderNotConfigured,
    errors.ProviderUnavailable,
    errors.SecondFactorRequired,
]


@blp.post(
    "/login",
    access=PUBLIC,
    body=schemas.LoginBody,
    returns=schemas.SignedInData,
    errors=[errors.InvalidCredentials, errors.AccountSuspended, errors.SecondFactorRequired, Throttled],
)
def login(**body: Any) -> SignInData:
    """Sign in with a password.

    The failure limit of the network does not apply to a device that has signed in before. A browser is recognised by
    its cookie, an app by its last `refreshToken`, even an expired one. An account with a second factor gets 401
    `SECOND_FACTOR_REQUIRED` with a challenge for `login/second-factor`.
    """
    return build_login_response(
        actions.log_in(
            network=get_client_network(), device_marks=list_device_marks(), origin=get_session_origin(), **body
        )
    )


@blp.post("/logout", access=PUBLIC, body=schemas.RefreshBody)
def logout(refresh_token: str) -> None:
    """End the session of a refresh token.

    Its access tokens become invalid immediately. An invalid token gets the same response.
    """
    actions.log_out(refresh_token=refresh_token)


@blp.post(
    "/refresh",
    access=PUBLIC,
    body=schemas.RefreshBody,
    returns=schemas.SignedInData,
    errors=[errors.RefreshInvalid, errors.RefreshReused],
)
def refresh(refresh_token: str) -> SignInData:
    """Exchange a refresh token for a new pair.

    The same token gets the same successor again for ten seconds. An older token ends the session.
    """
    return serialize_sign_in(actions.refresh_session(refresh_token=refresh_token))


@blp.get("/me", access=SECOND_FACTOR_SETUP, returns=schemas.Me, etag=True)
def me() -> dict[str, object]:
    """Read the signed-in account."""
    return queries.load_account_profile(get_current_caller())


@blp.get("/identities", access=SIGNED_IN, returns=schemas.IdentitiesData)
def list_identities() -> dict[str, object]:
    """List the providers that sign in to the account."""
    return {"identities": queries.list_identities(get_current_caller())}


@blp.delete("/identities/<provider>", access=SIGNED_IN, errors=[errors.LastSignInMethod, NotFound])
def unlink_identity(provider: str) -> None:
    """Unlink a provider: `apple` or `google`.

    Every other session ends. The last sign-in method cannot be removed; reset the password first to set one.
    """
    actions.unlink_identity(caller=get_current_caller(), provider=provider)


@blp.post(
    "/apple",
    access=IDENTITY_ACCESS,
    body=schemas.AppleBody,
    returns=schemas.SignedInData,
    limit=CODE_ATTEMPT_LIMIT,
    errors=IDENTITY_ERRORS,
)
def apple(
    identity_token: str, email: str | None = None, full_name: str | None = None, nonce: str | None = None
) -> SignInData:
    """Sign in, or link the account, with Apple.

    With a Bearer token the identity is linked to that account, whose address must be verified.
    """
    return build_login_response(
        actions.sign_in_with_provider(
            "apple",
            caller=find_current_caller(),
            token=identity_token,
            nonce=nonce,
            full_name=full_name,
            origin=get_session_origin(),
        )
    )


@blp.post(
    "/google",
    access=IDENTITY_ACCESS,
    body=schemas.GoogleBody,
    returns=schemas.SignedInData,
    limit=CODE_ATTEMPT_LIMIT,
    errors=IDENTITY_ERRORS,
)
def google(id_token: str, nonce: str | None = None) -> SignInData:
    """Sign in, or link the account, with Google.

    With a Bearer token the identity is linked to that account, whose address must be verified.
    """
    return build_login_response(
        actions.sign_in_with_provider(
            "google", caller=find_current_caller(), token=id_token, nonce=nonce, origin=get_session_origin()
        )
    )


@blp.post(
    "/register/customer",
    access=PUBLIC_OR_SIGNED_IN,
    body=schemas.CustomerBody,
    status=201,
    limit=EMAIL_REQUEST_LIMIT,
    idempotent=True,
    errors=[errors.CurrentPasswordWrong],
)
def register_customer(**body: Any) -> None:
    """Register as a customer.

    Next: look in the mailbox for the code, and send it to `verify-email`. The response is the same whether or
    not the address has an account; the mail differs.
    """
    actions.register_customer(caller=find_current_caller(), **body)


@blp.post(
    "/register/merchant",
    access=PUBLIC_OR_SIGNED_IN,
    body=schemas.MerchantBody,
    status=201,
    limit=EMAIL_REQUEST_LIMIT,
    idempotent=True,
    errors=[errors.CurrentPasswordWrong],
)
def register_merchant(**body: Any) -> None:
    """Register as a merchant.

    Next: look in the mailbox for the code, and send it to `verify-email`.
    """
    actions.register_merchant(caller=find_current_caller(), **body)


@blp.post(
    "/register/organiser",
    access=PUBLIC_OR_SIGNED_IN,
    body=schemas.OrganiserBody,
    status=201,
    limit=EMAIL_REQUEST_LIMIT,
    idempotent=True,
    errors=[errors.CurrentPasswordWrong, errors.OwnershipPassed],
)
def register_organiser(**body: Any) -> None:
    """Register as an organiser.

    Next: look in the mailbox for the code, and send it to `verify-email`.
    """
    actions.register_organiser(caller=find_current_caller(), **body)


@blp.post(
    "/register/admin",
    access=PUBLIC_OR_SIGNED_IN,
    body=schemas.AdminBody,
    status=201,
    limit=EMAIL_REQUEST_LIMIT,
    idempotent=True,
    errors=[errors.BootstrapRefused, errors.TierTooHigh, errors.CurrentPasswordWrong],
)
def register_admin(**body: Any) -> None:
    """Register an admin.

    The first admin needs the bootstrap secret. Every other one needs the token of an admin, and gets at most their tier.
    Next: the new admin looks in their mailbox for the code, and sends it to `verify-email`.
    """
    actions.register_admin(caller=find_current_caller(), network=get_client_network(), **body)


@blp.post("/verify-email", access=PUBLIC, body=schemas.CodeBody, limit=CODE_ATTEMPT_LIMIT, errors=[errors.CodeInvalid])
def verify_email(email: str, code: str) -> None:
    """Confirm an address with the code that was mailed to it.

    Next: sign in with `login`.
    """
    actions.verify_email(email=email, code=code)


@blp.post("/resend-verification", access=PUBLIC, body=schemas.EmailBody, limit=EMAIL_REQUEST_LIMIT, errors=[Throttled])
def resend_verification(email: str) -> None:
    """Mail a new verification code.

    Next: look in the mailbox for the code, and send it to `verify-email`.
    """
    actions.resend_verification(email=email)


@blp.post(
    "/password-reset/request", access=PUBLIC, body=schemas.EmailBody, limit=EMAIL_REQUEST_LIMIT, errors=[Throttled]
)
def request_reset(email: str) -> None:
    """Mail a code to set a new password.

    Next: look in the mailbox for the code, and send it to `password-reset/verify`; or open the link in the mail.
    """
    actions.request_reset(email=email)


@blp.post(
    "/password-reset/verify",
    access=PUBLIC,
    body=schemas.CodeBody,
    returns=schemas.ResetTokenData,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[errors.CodeInvalid],
)
def verify_reset(email: str, code: str) -> dict[str, object]:
    """Exchange the code for a reset token.

    Next: send the token with the new password to `password-reset/complete`.
    """
    reset_token = actions.verify_reset(email=email, code=code)
    return {"reset_token": reset_token, "expires_in": int(actions.RESET_TOKEN_LIFETIME.total_seconds())}


@blp.post(
    "/password-reset/complete",
    access=PUBLIC,
    body=schemas.CompleteResetBody,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[errors.ResetTokenInvalid],
)
def complete_reset(email: str, reset_token: str, password: str) -> None:
    """Set a new password with the reset token; every session ends, and every provider is unlinked.

    The token comes from `password-reset/verify` or from the link in the mail. An unverified account is replaced by a
    new account that keeps only the roles.
    """
    actions.complete_reset(email=email, reset_token=reset_token, password=password)


def build_login_response(login_result: LoginResult) -> SignInData:
    """The response to a sign-in. It sets the device cookie too."""
    set_device_cookie(login_result)
    return serialize_sign_in(login_result)
