"""`flask ledger verify`: everything that follows from the entries, worked out again and compared.

Each check is one statement, so one snapshot of the database, and may run while money moves. Domains above add their
own with `@also_verifies`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.core.db import db
from app.core.transaction import transaction

TIMEOUTS_SQL = ("SET LOCAL statement_timeout = '30min'", "SET LOCAL idle_in_transaction_session_timeout = '30min'")
MAX_DIFFERENCES = 100


@dataclass(frozen=True)
class IntegrityCheck:
    """A law, and the query that gives a sentence for each case that breaks it."""

    rule: str
    differences_sql: str


_checks: list[IntegrityCheck] = []


def register_check(rule: str, differences_sql: str) -> None:
    """Adds a check; its query gives one column: a sentence for each difference."""
    _checks.append(IntegrityCheck(rule, differences_sql))


def list_checks() -> tuple[IntegrityCheck, ...]:
    """Every law with its query, those of domains above among them."""
    return tuple(_checks)


def list_differences(on_check: Callable[[str], None] = lambda law: None) -> Iterator[str]:
    """A sentence for each difference, at most a hundred of each law; `seen` is told each law before it is checked."""
    for check in _checks:
        on_check(check.rule)
        with transaction() as session:
            yield from _run_check(session, check)


def _run_check(session: OrmSession, check: IntegrityCheck) -> Sequence[str]:
    for setting in TIMEOUTS_SQL:
        session.execute(text(setting))
    return list(session.scalars(text(f"SELECT * FROM ({check.differences_sql}) found LIMIT {MAX_DIFFERENCES}")))


def count_entries() -> int:
    """How many entries there are."""
    return db.session.scalar(text("SELECT count(*) FROM ledger_entry")) or 0


register_check(
    "every transaction sums to zero",
    """SELECT format('transaction %s sums to %s', transaction_id, sum(amount_minor))
         FROM ledger_entry GROUP BY transaction_id HAVING sum(amount_minor) <> 0""",
)
register_check(
    "all entries sum to zero",
    "SELECT format('all entries sum to %s', sum(amount_minor)) FROM ledger_entry HAVING sum(amount_minor) <> 0",
)
register_check(
    "every transaction has its entries, of its merchant and its amount",
    """SELECT format('transaction %s (%s %s) says %s, its entries %s', t.id, t.kind, t.reference, t.amount_minor,
                     coalesce(sum(e.amount_minor) FILTER (WHERE e.amount_minor > 0), 0))
         FROM ledger_transaction t LEFT JOIN ledger_entry e ON e.transaction_id = t.id AND e.owner_id = t.owner_id
        GROUP BY t.id
       HAVING coalesce(sum(e.amount_minor) FILTER (WHERE e.amount_minor > 0), 0) <> t.amount_minor""",
)
register_check(
    "every balance is the sum of its entries",
    """SELECT format('merchant %s has %s available and %s held, by the entries %s and %s',
                     owner_id, p.available_minor, p.held_minor, coalesce(e.available, 0), coalesce(e.held, 0))
         FROM ledger_purse p FULL JOIN (
              SELECT owner_id, coalesce(sum(amount_minor) FILTER (WHERE account = 'merchant_balance'), 0) AS available,
                     coalesce(sum(amount_minor) FILTER (WHERE account = 'merchant_held'), 0) AS held
                FROM ledger_entry GROUP BY owner_id) e USING (owner_id)
        WHERE (coalesce(p.available_minor, 0), coalesce(p.held_minor, 0))
              <> (coalesce(e.available, 0), coalesce(e.held, 0))""",
)
register_check(
    "every running balance is the sum of the entries up to it",
    """SELECT format('entry %s of merchant %s says %s on %s, the entries up to it %s',
                     id, owner_id, balance_after_minor, account, so_far)
         FROM (SELECT id, owner_id, account, balance_after_minor,
                      sum(amount_minor) OVER (PARTITION BY owner_id, account ORDER BY id) AS so_far
                 FROM ledger_entry WHERE account IN ('merchant_balance', 'merchant_held')) e
        WHERE so_far <> balance_after_minor""",
)
