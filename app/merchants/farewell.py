"""What becomes of a deleted merchant in the domains above: each says how it forgets.

    @forgets_merchants
    def forget(session, account_id):
        session.execute(update(…))

They run in one transaction, in a job that the deletion enqueues. Register them in the domain's `jobs.py`, which every
worker imports.
"""

from collections.abc import Callable

from sqlalchemy.orm import Session as OrmSession

Forget = Callable[[OrmSession, str], None]
_forgetting: list[Forget] = []


def forgets_merchants(forget: Forget) -> Forget:
    """Registers what a domain does when a merchant is gone. It must bear being run twice."""
    _forgetting.append(forget)
    return forget


def forget_everywhere(session: OrmSession, account_id: str) -> None:
    """Erases what the domains above know of a person who was a merchant."""
    for forget in _forgetting:
        forget(session, account_id)
