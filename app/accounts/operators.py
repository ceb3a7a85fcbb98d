"""Operators: the admins who are told by mail about what needs a person."""

from sqlalchemy import select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account

MAILED_TIERS = ("admin", "super_admin")


def list_operator_ids(session: OrmSession) -> list[str]:
    """The ids of admins of the upper tiers with a verified address."""
    tiers, verified = Account.admin_tier.in_(MAILED_TIERS), Account.email_verified_at.is_not(None)
    return list(session.scalars(select(Account.id).where(tiers, verified).order_by(Account.id)))
