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

OF_A_PROFILE = "fk_merchant_profile_id_merchant_profile"
LOCKED = """
    SELECT status, payout_details, settings FROM merchant
     WHERE account_id = %s AND profile_id IS NOT NULL FOR UPDATE
"""


def claimed(session: OrmSession, account_id: str) -> Merchant:
    """The account's row, locked. One that was left behind by an earlier profile starts afresh."""
    row: Merchant = _first(session, account_id, _claim(account_id).returning(Merchant))[0]
    return row


@dataclass(frozen=True)
class Purpose:
    """What asking for money needs to know of a merchant."""

    status: str
    payout_details: bytes | None
    settings: dict[str, Any]


def claimed_briefly(session: OrmSession, account_id: str) -> Purpose:
    """The same, without an object and, where there is a row already, without writing it: for what is done often."""
    row = fetch_row(LOCKED, [account_id])
    if row is not None:
        return Purpose(*row)
    made = claimed(session, account_id)
    return Purpose(made.status, made.payout_details, made.settings)


def claimed_with_profile(session: OrmSession, account_id: str) -> tuple[Merchant, Account, MerchantProfile]:
    """The same with the account and the profile, all locked, in one statement."""
    own = aliased(Merchant, _claim(account_id).returning(Merchant).cte("own"))
    statement = (
        select(own, Account, MerchantProfile)
        .join(Account, Account.id == own.account_id)
        .join(MerchantProfile, MerchantProfile.account_id == own.account_id)
        .with_for_update(of=[Account, MerchantProfile])
    )
    row = _first(session, account_id, statement)
    return row[0], row[1], row[2]


def claimed_active(session: OrmSession, account_id: str) -> Merchant:
    """The same for what a paused merchant may not do. Raises MerchantPaused."""
    merchant = claimed(session, account_id)
    if merchant.status == PAUSED:
        raise MerchantPaused()
    return merchant


def hold_merchant(session: OrmSession, account_id: str) -> None:
    """Keeps a merchant from being deleted until the transaction ends, so a deletion finds what it writes about them.

    Raises MerchantDeleted.
    """
    statement = select(Account.id).where(Account.id == account_id, Account.roles.contains(["merchant"]))
    if session.scalar(statement.with_for_update(read=True)) is None:
        raise MerchantDeleted()


def _first(session: OrmSession, account_id: str, statement: Any) -> Any:
    """The one row; an account with the role but without a profile gets one first, by its own name.

    Raises MerchantDeleted when a deletion was faster. The account is locked before its role is looked at, so that a
    deleted merchant gets no new profile.
    """
    row = _row(session, statement)
    if row is not None:
        return row
    merchant = (Account.id == account_id, Account.roles.contains(["merchant"]))
    own_name = select(Account.id, Account.name).where(*merchant).with_for_update(read=True)
    profile = insert(MerchantProfile).from_select(["account_id", "business_name"], own_name)
    session.execute(profile.on_conflict_do_nothing())
    row = _row(session, statement)
    if row is None:
        raise MerchantDeleted()
    return row


def _row(session: OrmSession, statement: Any) -> Any:
    try:
        return session.execute(statement, execution_options={"populate_existing": True}).first()
    except IntegrityError as error:
        if _profile_is_gone(error):
            raise MerchantDeleted() from error
        raise


def _profile_is_gone(error: IntegrityError) -> bool:
    """Whether a deletion that the statement waited for has taken the profile away under it."""
    diagnosis = getattr(error.orig, "diag", None)
    return diagnosis is not None and diagnosis.constraint_name == OF_A_PROFILE


def _claim(account_id: str) -> Insert:
    void = Merchant.profile_id.is_(None)
    profile = select(MerchantProfile.account_id, MerchantProfile.account_id.label("profile_id"))
    statement = insert(Merchant).from_select(
        ["account_id", "profile_id"], profile.where(MerchantProfile.account_id == account_id)
    )
    return statement.on_conflict_do_update(
        index_elements=["account_id"],
        set_={
            "profile_id": account_id,
            "status": case((void, ACTIVE), else_=Merchant.status),
            "payout_details": case((void, null()), else_=Merchant.payout_details),
            "settings": case((void, text("'{}'::jsonb")), else_=Merchant.settings),
            "floor_status": case((void, CLOSED), else_=Merchant.floor_status),
            "version": case((void, 0), else_=Merchant.version),
        },
    )
