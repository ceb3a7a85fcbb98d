"""One at a time for what belongs to an account."""

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.core.errors import Unauthorised

CLAIM = text("SELECT id FROM account WHERE id = :id AND roles <> '{}' FOR NO KEY UPDATE")


def claim(session: OrmSession, account_id: str) -> None:
    """Lets others wait who change the wishes or devices of this account, until the transaction ends.

    Raises Unauthorised when the account was deleted meanwhile: nothing may be written for it any more.
    """
    if session.scalar(CLAIM, {"id": account_id}) is None:
        raise Unauthorised()
