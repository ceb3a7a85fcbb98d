"""What admins see of accounts: never secrets, and nothing of payout destinations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, case, func, literal_column, or_, select

from app.accounts.models import DELETED_DOMAIN, Account, AccountSession
from app.accounts.personal_data_models import SUSPENDED, AccountAct
from app.core.db import db
from app.core.errors import NotFound
from app.core.ids import is_id

STATUSES = ("active", "suspended", "deletion_requested", "deleted", "retired")
STATUS_SQL = case(
    (Account.retired_at.is_not(None), "retired"),
    (Account.email == Account.id + f"@{DELETED_DOMAIN}", "deleted"),
    (Account.suspended_at.is_not(None), "suspended"),
    (Account.deletion_due_at.is_not(None), "deletion_requested"),
    else_="active",
)
ACCOUNT_SORTS: dict[str, ColumnElement[Any]] = {"createdAt": Account.id.expression}
"""Ids begin with the second of their creation, so their order is that of the creation, and it has an index."""
ROW_COLUMNS = (
    Account.id,
    Account.email,
    Account.email_verified_at.is_not(None).label("email_verified"),
    Account.name,
    Account.roles,
    Account.admin_tier.label("tier"),
    STATUS_SQL.label("status"),
    Account.created_at,
    Account.version,
)
MAX_SHOWN_ACTS = 50
_WORD = re.compile(r"[^\W_]+")
_SIMPLE: ColumnElement[Any] = literal_column("'simple'::regconfig")


@dataclass(frozen=True)
class AccountDetails:
    """An account as admins see it. `sessions` counts the active ones; `acts` are the newest."""

    id: str
    email: str
    email_verified: bool
    name: str
    roles: list[str]
    tier: str | None
    status: str
    created_at: datetime
    version: int
    phone: str | None
    title: str | None
    suspended_at: datetime | None
    deletes_at: datetime | None
    sessions: int
    suspended_because: str | None
    acts: Sequence[Row[*tuple[Any, ...]]]


def list_accounts_query(*, q: str | None = None) -> Select[tuple[Any, ...]]:
    """All accounts, or those with this id, this beginning of an address, or these beginnings of words in the name."""
    query = select(*ROW_COLUMNS)
    return query.where(_build_search_condition(q)) if q else query


def _build_search_condition(q: str) -> ColumnElement[bool]:
    if is_id(q):
        return Account.id == q
    # In the default collation the index of prefixes needs LIKE; a pattern in the address means itself.
    address_condition = Account.email.startswith(q.lower(), autoescape=True)
    words = _WORD.findall(q)
    if not words or "@" in q:
        return address_condition
    word_prefixes = func.to_tsquery("simple", " & ".join(f"'{word}':*" for word in words))
    name_vector = func.to_tsvector(_SIMPLE, Account.name)
    return or_(address_condition, name_vector.op("@@")(word_prefixes))


def get_account_details(account_id: str) -> AccountDetails:
    """An account with its sessions and acts. Raises NotFound."""
    active_sessions = (
        select(func.count())
        .where(
            AccountSession.account_id == Account.id,
            AccountSession.ended_at.is_(None),
            AccountSession.idle_until > func.now(),
            AccountSession.ends_at > func.now(),
        )
        .scalar_subquery()
    )
    query = select(
        *ROW_COLUMNS,
        Account.phone,
        Account.admin_title.label("title"),
        Account.suspended_at,
        Account.deletion_due_at.label("deletes_at"),
        active_sessions.label("sessions"),
    )
    row = db.session.execute(query.where(Account.id == account_id)).mappings().one_or_none()
    if row is None:
        raise NotFound()
    acts_query = (
        select(
            AccountAct.verb,
            AccountAct.admin_id,
            AccountAct.reason,
            AccountAct.owner_told,
            AccountAct.not_told_reason,
            AccountAct.at,
        )
        .where(AccountAct.account_id == account_id)
        .order_by(AccountAct.id.desc())
        .limit(MAX_SHOWN_ACTS)
    )
    acts: Sequence[Row[*tuple[Any, ...]]] = db.session.execute(acts_query).all()
    suspension = next((act for act in acts if act.verb == SUSPENDED), None) if row["suspended_at"] else None
    return AccountDetails(**row, suspended_because=suspension.reason if suspension else None, acts=acts)
