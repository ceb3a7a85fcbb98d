"""Locks the row of a merchant in a transaction, and creates it when it is missing."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Executable, case, null, select, text
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.orm import aliased

from app.accounts.models import Account
from app.core.db import fetch_row
from app.merchants.errors import MerchantDeleted
from app.merchants.models import Merchant, MerchantProfile
from app.merchants.states import ACTIVE, CLOSED

PROFILE_FOREIGN_KEY = "fk_merchant_profile_id_merchant_profile"
LOCK_MERCHANT_SQL = """
    SELECT status, payout_details, settings FROM merchant
     WHERE account_id = %s AND profile_id IS NOT NULL FOR UPDATE
"""


def lock_merchant(session: OrmSession, account_id: str) -> Merchant:
    """The merchant row of the account, locked. A row of an earlier, deleted profile is reset. Raises MerchantDeleted."""
    merchant: Merchant = _lock_or_create_row(
        session, account_id, _upsert_merchant_statement(account_id).returning(Merchant)
    )[0]
    return merchant


@dataclass(frozen=True)
class MerchantPayoutInfo:
    """The columns of a merchant that a payout request needs."""

    status: str
    payout_details: bytes | None
    settings: dict[str, object]


def lock_merchant_columns(session: OrmSession, account_id: str) -> MerchantPayoutInfo:
    """Locks the merchant and returns only these columns. An existing row is not written, which is faster."""
    row = fetch_row(LOCK_MERCHANT_SQL, [account_id])
    if row is not None:
        return MerchantPayoutInfo(*row)
    merchant = lock_merchant(session, account_id)
    return MerchantPayoutInfo(merchant.status, merchant.payout_details, merchant.settings)


def lock_merchant_with_profile(session: OrmSession, account_id: str) -> tuple[Merchant, Account, MerchantProfile]:
    """Locks merchant, account and profile in one statement. Raises MerchantDeleted."""
    locked_merchant = aliased(
        Merchant, _upsert_merchant_statement(account_id).returning(Merchant).cte("locked_merchant")
    )
    statement = (
        select(locked_merchant, Account, MerchantProfile)
        .join(Account, Account.id == locked_merchant.account_id)
        .join(MerchantProfile, MerchantProfile.account_id == locked_merchant.account_id)
        .with_for_update(of=[Account, MerchantProfile])
    )
    row = _lock_or_create_row(session, account_id, statement)
    return row[0], row[1], row[2]


def lock_against_deletion(session: OrmSession, account_id: str) -> None:
    """Blocks the deletion of a merchant until the transaction ends, so that the deletion sees what it has written.

    Raises MerchantDeleted.
    """
    statement = select(Account.id).where(Account.id == account_id, Account.roles.contains(["merchant"]))
    if session.scalar(statement.with_for_update(read=True)) is None:
        raise MerchantDeleted()


def _lock_or_create_row(session: OrmSession, account_id: str, statement: Executable) -> tuple[Any, ...]:
    """The row of the statement. An account with the role but without a profile first gets a profile with its name.

    The account is locked before its roles are read, so that a deleted merchant gets no new profile. Raises
    MerchantDeleted.
    """
    row = _execute_lock(session, statement)
    if row is not None:
        return row
    is_merchant = (Account.id == account_id, Account.roles.contains(["merchant"]))
    account_name_query = select(Account.id, Account.name).where(*is_merchant).with_for_update(read=True)
    profile = insert(MerchantProfile).from_select(["account_id", "business_name"], account_name_query)
    session.execute(profile.on_conflict_do_nothing())
    row = _execute_lock(session, statement)
    if row is None:
        raise MerchantDeleted()
    return row


def _execute_lock(session: OrmSession, statement: Executable) -> tuple[Any, ...] | None:
    try:
        return session.execute(statement, execution_options={"populate_existing": True}).first()
    except IntegrityError as error:
        if _is_profile_deleted(error):
            raise MerchantDeleted() from error
        raise


def _is_profile_deleted(error: IntegrityError) -> bool:
    """Whether a concurrent deletion, for which the statement waited, has deleted the profile."""
    diagnostics = getattr(error.orig, "diag", None)
    return diagnostics is not None and diagnostics.constraint_name == PROFILE_FOREIGN_KEY


def _upsert_merchant_statement(account_id: str) -> Insert:
    is_abandoned = Merchant.profile_id.is_(None)
    profile = select(MerchantProfile.account_id, MerchantProfile.account_id.label("profile_id"))
    statement = insert(Merchant).from_select(
        ["account_id", "profile_id"], profile.where(MerchantProfile.account_id == account_id)
    )
    return statement.on_conflict_do_update(
        index_elements=["account_id"],
        set_={
            "profile_id": account_id,
            "status": case((is_abandoned, ACTIVE), else_=Merchant.status),
            "payout_details": case((is_abandoned, null()), else_=Merchant.payout_details),
            "settings": case((is_abandoned, text("'{}'::jsonb")), else_=Merchant.settings),
            "floor_status": case((is_abandoned, CLOSED), else_=Merchant.floor_status),
            "version": case((is_abandoned, 0), else_=Merchant.version),
        },
    )
