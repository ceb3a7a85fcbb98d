"""Retires an unverified account whose address goes to another person.

The row keeps its id and loses its address and everything that can sign in. A job then runs the cleanups of the other
domains, which end what the account has created:

    @on_account_retired
    def end_events(session, account_id):
        session.execute(update(…))

Register such functions in the domain's `jobs.py`, which every worker imports.
"""

from collections.abc import Callable

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.accounts import one_time_codes
from app.accounts.models import Account
from app.core.outbox import enqueue

Cleanup = Callable[[OrmSession, str], None]
_cleanups: list[Cleanup] = []

RETIRE_ACCOUNT_SQL = text("""
    WITH ended_sessions AS (
        UPDATE account_session SET ended_at = now(), end_reason = 'address_reassigned'
         WHERE account_id = :id AND ended_at IS NULL
    ), unlinked_identities AS (
        DELETE FROM external_identity WHERE account_id = :id
    ), deleted_organiser_profile AS (
        DELETE FROM organiser_profile WHERE account_id = :id
    ), deleted_merchant_profile AS (
        DELETE FROM merchant_profile WHERE account_id = :id
    ), voided_codes AS (
        UPDATE one_time_code SET used = true WHERE purpose = :purpose AND email = :email
    )
    UPDATE account
       SET email = id || '@retired.invalid', name = 'Retired account', phone = NULL, roles = '{}',
           admin_tier = NULL, admin_title = NULL, password_hash = NULL, password_version = password_version + 1,
           version = version + 1, retired_at = now(), updated_at = now()
     WHERE id = :id
""")


def on_account_retired(cleanup: Cleanup) -> Cleanup:
    """Registers a domain's cleanup of a retired account. It may run twice."""
    _cleanups.append(cleanup)
    return cleanup


def retire_account(session: OrmSession, account: Account | None) -> None:
    """Frees the address of an unverified account, and ends its sessions and identities. Its row must be locked.

    For None the same statement runs and changes nothing, so that addresses with and without an account take the same
    time.
    """
    params = {
        "id": account.id if account else "",
        "email": account.email if account else "",
        "purpose": one_time_codes.VERIFY_EMAIL,
    }
    session.execute(RETIRE_ACCOUNT_SQL, params)
    if account is not None:
        enqueue("accounts.clean_up_retired_account", account_id=account.id)
        session.expunge(account)


def clean_up_retired_account(session: OrmSession, account_id: str) -> None:
    """Runs all registered cleanups for a retired account."""
    for cleanup in _cleanups:
        cleanup(session, account_id)
