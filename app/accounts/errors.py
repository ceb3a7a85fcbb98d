"""Errors of accounts, sessions, codes and outgoing mail."""

from app.core.errors import AppError, Conflict, Forbidden, Throttled, Unauthorised, Unavailable, Unprocessable
from app.core.languages import mark_for_translation


class InvalidCredentials(Unauthorised):
    number, code = 40110, "INVALID_CREDENTIALS"
    message = "Address or password is wrong; try again, or reset the password."


class RefreshInvalid(Unauthorised):
    number, code = 40111, "REFRESH_INVALID"
    message = "The refresh token is not valid; sign in again."


class RefreshReused(Unauthorised):
    number, code = 40112, "REFRESH_REUSED"
    message = "This refresh token was used before. The session has been ended to be safe; sign in again."


class IdentityRejected(Unauthorised):
    number, code = 40113, "IDENTITY_REJECTED"
    message = "The provider's token is not valid; sign in with the provider again."


class SecondFactorRequired(Unauthorised):
    number, code = 40115, "SECOND_FACTOR_REQUIRED"
    message = (
        "This account has a second factor. Send data.challenge with a code of the app, or with a recovery code, to "
        "/api/auth/login/second-factor within 5 minutes."
    )


class ChallengeInvalid(Unauthorised):
    number, code = 40116, "CHALLENGE_INVALID"
    message = "This sign-in took too long, had too many wrong codes, or is complete; start again with the first step."


class EmailNotVerified(Forbidden):
    number, code = 40302, "EMAIL_NOT_VERIFIED"
    message = "Verify your e-mail address first; /api/auth/resend-verification sends a new code."


class BootstrapRefused(Forbidden):
    number, code = 40310, "BOOTSTRAP_REFUSED"
    message = "Creating an admin needs the token of an admin, or the bootstrap secret while there is none."


class TierTooHigh(Forbidden):
    number, code = 40311, "TIER_TOO_HIGH"
    message = "Admins can give at most their own tier."


class AccountSuspended(Forbidden):
    number, code = 40313, "ACCOUNT_SUSPENDED"
    message = mark_for_translation("This account is suspended; ask the operators of this service why.")


class SecondFactorSetupRequired(Forbidden):
    number, code = 40312, "SECOND_FACTOR_SETUP_REQUIRED"
    message = "You need a second factor here; turn it on first: POST /api/auth/second-factor."


class IdentityLinkedElsewhere(Conflict):
    number, code = 40910, "IDENTITY_LINKED_ELSEWHERE"
    message = "This identity signs in to another account; sign in with it, or unlink it there."


class OwnershipPassed(Conflict):
    number, code = 40920, "OWNERSHIP_PASSED"
    message = mark_for_translation(
        "You passed the ownership of your organisation on; register another account for a new organisation."
    )


class EmailNotVerifiedByProvider(Conflict):
    number, code = 40911, "EMAIL_NOT_VERIFIED_BY_PROVIDER"
    message = "The provider has not verified this e-mail address. Verify it there, or register with a password here."


class LastSignInMethod(Conflict):
    number, code = 40965, "LAST_SIGN_IN_METHOD"
    message = "This is the last way to sign in to the account; set a password first, by a reset."


class ConfirmationRequired(Conflict):
    number, code = 40912, "CONFIRMATION_REQUIRED"
    message = (
        "Confirm that it is you: send your password as password or in the header X-Confirm-Password, or sign in again "
        "and repeat this within 10 minutes."
    )


class OwnAccount(Conflict):
    number, code = 40914, "OWN_ACCOUNT"
    message = "This is your own account; another admin must do this."


class ExportInProgress(Conflict):
    number, code = 40966, "EXPORT_IN_PROGRESS"
    message = "A copy of your data is being made; its link comes by mail."


class LastSuperAdmin(Conflict):
    number, code = 40969, "LAST_SUPER_ADMIN"
    message = "This is the last super_admin; make another one first."


class SecondFactorOn(Conflict):
    number, code = 40905, "SECOND_FACTOR_ON"
    message = "The second factor is on; turn it off first to set up another app."


class SecondFactorOff(Conflict):
    number, code = 40906, "SECOND_FACTOR_OFF"
    message = "The second factor is off; turn it on first."


class AddressReserved(Conflict):
    number, code = 40907, "ADDRESS_RESERVED"
    message = "An account has given up this address a few days ago and can take it back for 7 days; try again later."


class AddressTaken(Conflict):
    number, code = 40908, "ADDRESS_TAKEN"
    message = "Another account has this address now, so it cannot be restored."


class SenderNotVerified(Conflict):
    number, code = 40983, "SENDER_NOT_VERIFIED"
    message = "The organiser of this event has not verified their e-mail address, so no mail can leave for it."


class MailLimitReached(Throttled):
    number, code = 42984, "MAIL_LIMIT_REACHED"
    message = "The mails of this account for today are used up; nothing was sent. Try again after Retry-After seconds."


class CodeInvalid(Unprocessable):
    number, code = 42210, "CODE_INVALID"
    message = "The code is wrong, used or expired; ask for a new one."


class ResetTokenInvalid(Unprocessable):
    number, code = 42211, "RESET_TOKEN_INVALID"
    message = "The reset token is wrong, used or expired; start again."


class CurrentPasswordWrong(Unprocessable):
    number, code = 42212, "CURRENT_PASSWORD_WRONG"
    message = "The current password is wrong."


class ProviderNotConfigured(Unavailable):
    number, code = 50310, "PROVIDER_NOT_CONFIGURED"
    message = mark_for_translation("Signing in with this provider is not set up here.")


class ProviderUnavailable(Unavailable):
    number, code = 50311, "PROVIDER_UNAVAILABLE"
    message = "The provider's keys cannot be read right now; try again in a moment."


MAIL_ERRORS: list[type[AppError]] = [SenderNotVerified, MailLimitReached]
