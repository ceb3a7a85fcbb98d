"""One at a time for what belongs to an account."""

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

CLAIM = text("SELECT FROM account WHERE id = :id FOR NO KEY UPDATE")


def claim(session: OrmSession, account_id: str) -> None:
    """Lets others wait who change the wishes or devices of this account, until the transaction ends."""
    session.execute(CLAIM, {"id": account_id})
