"""Integrity checks behind `flask ledger verify`: what follows from the entries is computed again and compared.

Each check is one statement, so it reads one snapshot of the database and may run while money moves. Domains above the
ledger add checks with `register_check`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session as OrmSession

from app.core.db import db
from app.core.transaction import transaction
from app.ledger import sql
from app.ledger.models import LedgerEntry

MAX_DIFFERENCES = 100


@dataclass(frozen=True)
class IntegrityCheck:
    """A rule, and the query that returns a sentence for each case that breaks it."""

    rule: str
    differences_sql: str


_checks: list[IntegrityCheck] = []


def register_check(rule: str, differences_sql: str) -> None:
    """Add a check. Its query returns one column: a sentence for each difference."""
    _checks.append(IntegrityCheck(rule, differences_sql))


def list_checks() -> tuple[IntegrityCheck, ...]:
    """Every check, those of other domains included."""
    return tuple(_checks)


def list_differences(on_check: Callable[[str], None] = lambda rule: None) -> Iterator[str]:
    """A sentence for each difference, at most 100 per rule. `on_check` gets each rule before it is checked."""
    for check in _checks:
        on_check(check.rule)
        with transaction() as session:
            yield from _run_check(session, check)


def _run_check(session: OrmSession, check: IntegrityCheck) -> Sequence[str]:
    for setting in sql.CHECK_TIMEOUTS:
        session.execute(text(setting))
    return list(session.scalars(text(f"SELECT * FROM ({check.differences_sql}) difference LIMIT {MAX_DIFFERENCES}")))


def count_entries() -> int:
    """The number of ledger entries."""
    return db.session.scalar(select(func.count()).select_from(LedgerEntry)) or 0


register_check("every transaction sums to zero", sql.UNBALANCED_TRANSACTIONS)
register_check("all entries sum to zero", sql.UNBALANCED_LEDGER)
register_check(
    "every transaction has its entries, of its merchant and its amount", sql.TRANSACTIONS_UNLIKE_THEIR_ENTRIES
)
register_check("every balance is the sum of its entries", sql.BALANCES_UNLIKE_THEIR_ENTRIES)
register_check("every running balance is the sum of the entries up to it", sql.WRONG_RUNNING_BALANCES)
