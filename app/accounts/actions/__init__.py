"""Actions on accounts. Each is one transaction."""

from app.accounts.actions.external_login import sign_in_with_provider, unlink_identity
from app.accounts.actions.login import end_other_sessions, end_session, log_in, log_out, refresh_session
from app.accounts.actions.password_reset import (
    RESET_TOKEN_LIFETIME,
    check_new_password,
    complete_reset,
    request_reset,
    verify_reset,
)
from app.accounts.actions.registration import (
    create_admin,
    register_admin,
    register_customer,
    register_merchant,
    register_organiser,
    resend_verification,
    verify_email,
)

__all__ = [
    "RESET_TOKEN_LIFETIME",
    "check_new_password",
    "complete_reset",
    "create_admin",
    "end_other_sessions",
    "end_session",
    "log_in",
    "log_out",
    "refresh_session",
    "register_admin",
    "register_customer",
    "register_merchant",
    "register_organiser",
    "request_reset",
    "resend_verification",
    "sign_in_with_provider",
    "unlink_identity",
    "verify_email",
    "verify_reset",
]
