"""Unlink a provider from an account."""

from sqlalchemy import delete, exists, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts import sessions
from app.accounts.caller import Caller
from app.accounts.errors import LastSignInMethod
from app.accounts.models import Account, ExternalIdentity
from app.accounts.notices import enqueue_notice
from app.core.errors import NotFound
from app.core.transaction import transaction


def unlink_identity(*, caller: Caller, provider: str) -> None:
    """Removes every identity of the provider from the caller's account and ends all other sessions.

    Raises NotFound, and LastSignInMethod when neither a password nor another identity would be left.
    """
    with transaction() as session:
        account = session.get_one(Account, caller.id, with_for_update=True)
        unlinked = session.scalars(
            delete(ExternalIdentity)
            .where(ExternalIdentity.account_id == account.id, ExternalIdentity.provider == provider)
            .returning(ExternalIdentity.subject)
        ).all()
        if not unlinked:
            raise NotFound()
        if account.password_hash is None and not _has_identity(session, account):
            raise LastSignInMethod()
        sessions.end_all(session, account.id, "identity_unlinked", but=caller.session_id)
        enqueue_notice("identity_unlinked", account.id, provider=provider.title())


def _has_identity(session: OrmSession, account: Account) -> bool:
    return bool(session.scalar(select(exists().where(ExternalIdentity.account_id == account.id))))
