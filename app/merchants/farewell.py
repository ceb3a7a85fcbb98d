"""What becomes of a deleted merchant in the domains above: each says how it forgets.

    @forgets_merchants
    def forget(session, erased):
        session.execute(update(Thing).where(Thing.account_id == erased.account_id, erased.covers(Thing.created_at)))

They run in one transaction, in a job that the deletion enqueues. The same account may have registered as a merchant
again before the job runs: only rows of the profile that was erased may be touched. Register them in the domain's
`jobs.py`, which every worker imports.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, exists
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import MerchantProfile


@dataclass(frozen=True)
class Erased:
    """A merchant profile that is gone: of which account, and the moment by the database's clock.

    `at` is None in jobs of a version that did not know it: they touch nothing once there is a profile again.
    """

    account_id: str
    at: datetime | None

    def covers(self, written_at: Any) -> ColumnElement[bool]:
        """The condition that a row written at that moment belongs to this profile, and not to a later one."""
        nobody_came_back: ColumnElement[bool] = ~exists().where(MerchantProfile.account_id == self.account_id)
        return nobody_came_back if self.at is None else nobody_came_back | (written_at <= self.at)


Forget = Callable[[OrmSession, Erased], None]
_forgetting: list[Forget] = []


def forgets_merchants(forget: Forget) -> Forget:
    """Registers what a domain does when a merchant is gone. It must bear being run twice."""
    _forgetting.append(forget)
    return forget


def forget_everywhere(session: OrmSession, erased: Erased) -> None:
    """Erases what the domains above know of a person who was a merchant."""
    for forget in _forgetting:
        forget(session, erased)
