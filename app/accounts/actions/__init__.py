"""What accounts do: one verb, one transaction."""

from app.accounts.actions.admins import create_admin, register_admin
from app.accounts.actions.external import sign_in_externally
from app.accounts.actions.identities import unlink_identity
from app.accounts.actions.passwords import check_new_password, complete_reset, request_reset, verify_reset
from app.accounts.actions.refresh import refresh
from app.accounts.actions.register import register_customer, register_merchant, register_organiser
from app.accounts.actions.sign_in import log_in
from app.accounts.actions.sign_out import log_out
from app.accounts.actions.verification import resend_verification, verify_email

__all__ = [
    "check_new_password",
    "complete_reset",
    "create_admin",
    "log_in",
    "log_out",
    "refresh",
    "register_admin",
    "register_customer",
    "register_merchant",
    "register_organiser",
    "request_reset",
    "resend_verification",
    "sign_in_externally",
    "unlink_identity",
    "verify_email",
    "verify_reset",
]
