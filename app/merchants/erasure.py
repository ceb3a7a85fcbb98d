"""Erasing what the domains above know of a merchant who goes, by deleting themselves or by losing their address.

    @erases_with_merchant
    def erase(session, leaving):
        session.execute(update(…))

It runs in the transaction of the deletion, so no later job can meet a profile that the same account has made since.
The rows of account and profile are locked by then: whoever writes for a merchant locks one of them before, and so comes
first or finds nobody. What is slow or may fail, such as removing files, leaves by a job that names the files.

A retired account is erased by a job; nobody signs in to it again. Register such functions in the domain's `jobs.py`, or
in what it imports, and let them bear being run twice.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session as OrmSession


@dataclass(frozen=True)
class Leaving:
    """Who goes: the account, its address if it is verified, and whether it was retired."""

    account_id: str
    email: str | None = None
    retired: bool = False


Erase = Callable[[OrmSession, Leaving], None]
_erasing: list[Erase] = []


def erases_with_merchant(erase: Erase) -> Erase:
    """Registers what a domain erases."""
    _erasing.append(erase)
    return erase


def erase_above(session: OrmSession, leaving: Leaving) -> None:
    """Erases personal data in the domains above, in the open transaction."""
    for erase in _erasing:
        erase(session, leaving)
