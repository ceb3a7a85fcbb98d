"""Actions on accounts. Each is one transaction."""

from app.accounts.actions.address_change import (
    confirm_address_change,
    find_undoable_change,
    request_address_change,
    undo_address_change,
)
from app.accounts.actions.administration import (
    build_justification,
    end_account_sessions,
    restore_account,
    suspend_account,
)
from app.accounts.actions.data_export import request_export
from app.accounts.actions.deletion import keep_account, request_deletion
from app.accounts.actions.external_login import sign_in_with_provider, unlink_identity
from app.accounts.actions.login import (
    end_other_sessions,
    end_session,
    log_in,
    log_in_with_second_factor,
    log_out,
    refresh_session,
)
from app.accounts.actions.password_reset import (
    RESET_TOKEN_LIFETIME,
    check_new_password,
    complete_reset,
    request_reset,
    verify_reset,
)
from app.accounts.actions.profile import change_password, update_profile
from app.accounts.actions.registration import (
    create_admin,
    register_admin,
    register_customer,
    register_merchant,
    register_organiser,
    resend_verification,
    verify_email,
)
from app.accounts.actions.second_factor import (
    Enrolment,
    begin_second_factor,
    confirm_second_factor,
    renew_recovery_codes,
    reset_second_factor,
    restore_enrolment,
    turn_off_second_factor,
)

__all__ = [
    "Enrolment",
    "RESET_TOKEN_LIFETIME",
    "begin_second_factor",
    "build_justification",
    "change_password",
    "check_new_password",
    "complete_reset",
    "confirm_address_change",
    "confirm_second_factor",
    "create_admin",
    "end_account_sessions",
    "end_other_sessions",
    "end_session",
    "find_undoable_change",
    "keep_account",
    "log_in",
    "log_in_with_second_factor",
    "log_out",
    "refresh_session",
    "register_admin",
    "register_customer",
    "register_merchant",
    "register_organiser",
    "renew_recovery_codes",
    "request_address_change",
    "request_deletion",
    "request_export",
    "request_reset",
    "resend_verification",
    "reset_second_factor",
    "restore_account",
    "restore_enrolment",
    "sign_in_with_provider",
    "suspend_account",
    "turn_off_second_factor",
    "undo_address_change",
    "unlink_identity",
    "update_profile",
    "verify_email",
    "verify_reset",
]
