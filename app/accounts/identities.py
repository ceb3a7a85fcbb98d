"""The Apple and Google accounts that sign in to an account."""

from sqlalchemy import delete
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import ExternalIdentity


def unlink_all(session: OrmSession, account_id: str) -> bool:
    """Unlinks every identity of an account, whoever linked it; whether there was one."""
    unlinked = delete(ExternalIdentity).where(ExternalIdentity.account_id == account_id)
    return bool(session.scalars(unlinked.returning(ExternalIdentity.subject)).all())
