"""Whether money of a merchant is still open: asked before a merchant goes.

Money lives above this domain, so whoever keeps some registers how to find it:

    @asks_for_open_money
    def balance(session, account_id):
        if …: raise BalanceNotZero(balanceMinor=…)
        return moment

The answer is until when money that was paid out may come back, or None. A check runs inside the deletion, with the
merchant's row and the account's locked, and locks what it looks at.
"""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy.orm import Session as OrmSession

Check = Callable[[OrmSession, str], datetime | None]
_checks: list[Check] = []


def asks_for_open_money(check: Check) -> Check:
    """Registers a check, which raises BalanceNotZero or PayoutInProgress."""
    _checks.append(check)
    return check


def open_money(session: OrmSession, account_id: str) -> datetime | None:
    """Until when money that was paid out may come back; None when none may.

    Raises BalanceNotZero or PayoutInProgress while there is money to come or to go.
    """
    moments = [check(session, account_id) for check in _checks]
    return max((moment for moment in moments if moment is not None), default=None)
