"""Actions on accounts. Each is one transaction."""

from app.accounts.actions.address_change import (
    confirm_address_change,
    find_undoable_change,
    request_address_change,
    undo_address_change,
)
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
    "begin_second_factor",
    "change_password",
    "confirm_address_change",
    "confirm_second_factor",
    "find_undoable_change",
    "request_address_change",
    "undo_address_change",
    "renew_recovery_codes",
    "reset_second_factor",
    "restore_enrolment",
    "turn_off_second_factor",
    "update_profile",
    "RESET_TOKEN_LIFETIME",
    "check_new_password",
    "complete_reset",
    "create_admin",
    "end_other_sessions",
    "end_session",
    "log_in",
    "log_in_with_second_factor",
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
