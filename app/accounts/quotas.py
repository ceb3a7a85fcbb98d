"""Quotas of accounts without a verified e-mail address.

Anybody can register any address, so an unverified account may create only a few things in its lifetime; deleting them
does not give the quota back. Verifying the address removes the limits.
"""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.errors import EmailNotVerified
from app.accounts.models import UnverifiedUse
from app.accounts.sql import COUNT_USE_SQL


@dataclass(frozen=True)
class Quota:
    """A limit of how many things an account may create. `plural` names them in the error message."""

    name: str
    limit: int
    plural: str


EVENTS_QUOTA = Quota("events", 3, "events")
SLOTS_QUOTA = Quota("places", 200, "places in blocks")
ADDRESS_QUOTA = Quota("addresses", 3, "codes for a new address")
IMPORTS_QUOTA = Quota("imports", 10, "imports")


def count_unverified_use(session: Session, caller: Caller, quota: Quota, count: int = 1) -> None:
    """Counts what an unverified caller is about to create; does nothing for verified callers.

    Raises EmailNotVerified beyond the quota. One conditional statement counts and checks, so concurrent requests
    cannot exceed the quota together.
    """
    if caller.email_verified:
        return
    params = {"account_id": caller.id, "quota": quota.name, "count": count, "limit": quota.limit}
    if session.scalar(COUNT_USE_SQL, params) is None:
        used_query = select(UnverifiedUse.used).where(
            UnverifiedUse.account_id == caller.id, UnverifiedUse.quota == quota.name
        )
        raise EmailNotVerified(
            f"An account has {quota.limit} {quota.plural} until its e-mail address is verified; "
            "/api/auth/resend-verification sends a new code.",
            quota=quota.name,
            limit=quota.limit,
            used=session.scalar(used_query) or 0,
            requested=count,
        )
