"""Taking hold of one's own merchant row inside a transaction, whether or not it was there before."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import case, null, select, text
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.orm import aliased

from app.accounts.models import Account
from app.core.db import fetch_row
from app.merchants.errors import MerchantDeleted, MerchantPaused
from app.merchants.models import Merchant, MerchantProfile
from app.merchants.states import ACTIVE, CLOSED, PAUSED

PROFILE_FOREIGN_KEY = "fk_merchant_profile_id_merchant_profile"
LOCK_MERCHANT_SQL = """
    SELECT status, payout_details, settings FROM merchant
     WHERE account_id = %s AND profile_id IS NOT NULL FOR UPDATE
"""


def lock_merchant(session: OrmSession, account_id: str) -> Merchant:
    """The account's row, locked. One that was left behind by an earlier profile starts afresh."""
    merchant: Merchant = _lock_or_create_row(
        session, account_id, _upsert_merchant_statement(account_id).returning(Merchant)
    )[0]
    return merchant


@dataclass(frozen=True)
class MerchantPayoutInfo:
    """What asking for money needs to know of a merchant."""

    status: str
    payout_details: bytes | None
    settings: dict[str, Any]


def lock_merchant_columns(session: OrmSession, account_id: str) -> MerchantPayoutInfo:
    """The same, without an object and, where there is a row already, without writing it: for what is done often."""
    row = fetch_row(LOCK_MERCHANT_SQL, [account_id])
    if row is not None:
        return MerchantPayoutInfo(*row)
    merchant = lock_merchant(session, account_id)
    return MerchantPayoutInfo(merchant.status, merchant.payout_details, merchant.settings)


def lock_merchant_with_profile(session: OrmSession, account_id: str) -> tuple[Merchant, Account, MerchantProfile]:
    """The same with the account and the profile, all locked, in one statement."""
    locked_merchant = aliased(Merchant, _upsert_merchant_statement(account_id).returning(Merchant).cte("own"))
    statement = (
        select(locked_merchant, Account, MerchantProfile)
        .join(Account, Account.id == locked_merchant.account_id)
        .join(MerchantProfile, MerchantProfile.account_id == locked_merchant.account_id)
        .with_for_update(of=[Account, MerchantProfile])
    )
    row = _lock_or_create_row(session, account_id, statement)
    return row[0], row[1], row[2]


def lock_active_merchant(session: OrmSession, account_id: str) -> Merchant:
    """The same for what a paused merchant may not do. Raises MerchantPaused."""
    merchant = lock_merchant(session, account_id)
    if merchant.status == PAUSED:
        raise MerchantPaused()
    return merchant


def lock_against_deletion(session: OrmSession, account_id: str) -> None:
    """Keeps a merchant from being deleted until the transaction ends, so a deletion finds what it writes about them.

    Raises MerchantDeleted.
    """
    statement = select(Account.id).where(Account.id == account_id, Account.roles.contains(["merchant"]))
    if session.scalar(statement.with_for_update(read=True)) is None:
        raise MerchantDeleted()


def _lock_or_create_row(session: OrmSession, account_id: str, statement: Any) -> Any:
    """The one row; an account with the role but without a profile gets one first, by its own name.

    Raises MerchantDeleted when a deletion was faster. The account is locked before its role is looked at, so that a
    deleted merchant gets no new profile.
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


def _execute_lock(session: OrmSession, statement: Any) -> Any:
    try:
        return session.execute(statement, execution_options={"populate_existing": True}).first()
    except IntegrityError as error:
        if _is_profile_deleted(error):
            raise MerchantDeleted() from error
        raise


def _is_profile_deleted(error: IntegrityError) -> bool:
    """Whether a deletion that the statement waited for has taken the profile away under it."""
    diagnosis = getattr(error.orig, "diag", None)
    return diagnosis is not None and diagnosis.constraint_name == PROFILE_FOREIGN_KEY


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
