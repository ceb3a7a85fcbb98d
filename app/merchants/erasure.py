"""Erasing what the domains above keep of a merchant, within the deletion itself.

    @erases_with_merchant
    def erase(session, account_id, email):
        session.execute(update(…))

It commits with the deletion, so no later job can meet a profile that the same account has made since. What is slow or
may fail, such as removing files, leaves by a job that names the files.
"""

from collections.abc import Callable

from sqlalchemy.orm import Session as OrmSession

Erase = Callable[[OrmSession, str, str | None], None]
_erasing: list[Erase] = []


def erases_with_merchant(erase: Erase) -> Erase:
    """Registers what a domain erases; `email` is the account's address if it is verified, else None."""
    _erasing.append(erase)
    return erase


def erase_above(session: OrmSession, account_id: str, email: str | None) -> None:
    """Erases personal data in the domains above, in the open transaction."""
    for erase in _erasing:
        erase(session, account_id, email)
