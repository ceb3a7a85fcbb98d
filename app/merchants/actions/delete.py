"""Deleting oneself as a merchant: the person goes, the books stay."""

from typing import Any

from sqlalchemy import case, delete, exists, func, null, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.errors import CurrentPasswordWrong
from app.accounts.models import Account, AccountSession, ExternalIdentity, OneTimeCode
from app.accounts.throttling import own_password_version
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.merchants.claiming import claimed_with_profile
from app.merchants.erasure import Leaving, erase_above
from app.merchants.models import Merchant, MerchantProfile
from app.merchants.money import open_money
from app.merchants.states import CLOSED, DELETED, check_step

ROLE = "merchant"
NOBODY = "Deleted merchant"


def delete_merchant(*, caller: Caller, current_password: str) -> dict[str, Any]:
    """Erases the merchant, and the person as well unless the account holds another role. Every session ends.

    The answer says until when the last payout may come back. Raises CurrentPasswordWrong, Throttled, BalanceNotZero,
    PayoutInProgress, MerchantDeleted.
    """
    seen = own_password_version(caller, current_password)
    if seen is None:
        raise CurrentPasswordWrong()
    with transaction() as session:
        # The account too, so that a settlement which names it comes before or finds no merchant.
        merchant, account, _ = claimed_with_profile(session, caller.id)
        if account.password_version != seen:
            # Somebody, perhaps the owner by a reset, has set another since it was looked at.
            raise CurrentPasswordWrong()
        returns_until = open_money(session, caller.id)
        check_step(merchant.status, DELETED)
        _erase(session, caller)
        erase_above(session, Leaving(caller.id, caller.email if caller.email_verified else None))
        if caller.email_verified:
            enqueue(
                "merchants.mail_farewell",
                account_id=caller.id,
                email=caller.email,
                name=caller.name,
                returns_until=returns_until.isoformat() if returns_until else None,
            )
    return {"status": DELETED, "money_may_return_until": returns_until}


def _erase(session: OrmSession, caller: Caller) -> None:
    """Takes the role away; when it was the last, everything that tells who this was. One statement does it all."""
    only_role = Account.roles.contained_by([ROLE])
    gone: dict[str, Any] = {
        "email": f"{caller.id}@deleted.invalid",
        "email_verified_at": null(),
        "password_hash": null(),
        "password_version": Account.password_version + 1,
        "name": NOBODY,
        "phone": null(),
    }
    statement = (
        update(Account)
        .where(Account.id == caller.id)
        .values(
            roles=func.array_remove(Account.roles, ROLE),
            version=Account.version + 1,
            **{name: case((only_role, value), else_=getattr(Account, name)) for name, value in gone.items()},
        )
    )
    alone = exists().where(Account.id == caller.id, only_role).correlate(None)
    for number, part in enumerate([*_of_merchant(caller), *(item.where(alone) for item in _of_person(caller))]):
        statement = statement.add_cte(part.cte(f"part{number}"))
    session.execute(statement.execution_options(synchronize_session=False))


def _of_merchant(caller: Caller) -> list[Any]:
    living = (AccountSession.account_id == caller.id, AccountSession.ended_at.is_(None))
    return [
        update(Merchant)
        .where(Merchant.account_id == caller.id)
        .values(status=DELETED, floor_status=CLOSED, payout_details=None, settings={}, version=Merchant.version + 1),
        delete(MerchantProfile).where(MerchantProfile.account_id == caller.id),
        update(AccountSession).where(*living).values(ended_at=func.now(), end_reason="merchant_deleted"),
    ]


def _of_person(caller: Caller) -> list[Any]:
    return [
        delete(ExternalIdentity).where(ExternalIdentity.account_id == caller.id),
        delete(OneTimeCode).where(OneTimeCode.email == caller.email),
    ]
