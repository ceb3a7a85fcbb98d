"""Reads of accounts."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.accounts.errors import ResetTokenInvalid
from app.accounts.models import PROFILES, Account, ExternalIdentity, ResetToken
from app.core.db import db, fetch_row, fetch_rows
from app.core.tokens import fingerprint

CALLER = """
    SELECT a.id, s.id, a.email, a.name, a.phone, a.email_verified_at IS NOT NULL, a.roles, a.admin_tier,
           a.admin_title, a.version
      FROM account_session s JOIN account a ON a.id = s.account_id
     WHERE s.id = %s AND s.ended_at IS NULL AND s.idle_until > now() AND s.ends_at > now()
"""
CALLERS = CALLER.replace("s.id = %s", "s.id = ANY(%s)")


def caller_of_session(session_id: str) -> Caller | None:
    """The account behind a living session; None when the session has ended."""
    row = fetch_row(CALLER, (session_id,))
    return None if row is None else _caller(row)


def callers_of_sessions(session_ids: Sequence[str]) -> dict[str, Caller]:
    """The same for many sessions in one query; those that have ended are left out."""
    return {row[1]: _caller(row) for row in fetch_rows(CALLERS, (list(session_ids),))}


def _caller(row: tuple[Any, ...]) -> Caller:
    account_id, session_id, email, name, phone, verified, roles, tier, title, version = row
    return Caller(account_id, session_id, email, name, phone, verified, frozenset(roles), tier, title, version)


def by_email(email: str) -> Account | None:
    return db.session.scalar(select(Account).where(Account.email == email))


def by_id(account_id: str) -> Account | None:
    return db.session.get(Account, account_id)


def profile(caller: Caller) -> dict[str, Any]:
    """What `me` answers: the account, and the profile of each role it holds."""
    found: dict[str, Any] = {
        "id": caller.id,
        "name": caller.name,
        "email": caller.email,
        "roles": sorted(caller.roles),
        "email_verified": caller.email_verified,
        "version": caller.version,
    }
    if caller.phone:
        found["phone"] = caller.phone
    for role, model in PROFILES.items():
        own = db.session.get(model, caller.id) if role in caller.roles else None
        if own is not None:
            found[role] = own
    if "admin" in caller.roles:
        found["admin"] = {"tier": caller.tier, "title": caller.title}
    return found


def list_identities(caller: Caller) -> dict[str, Any]:
    """The providers that sign in to the caller's account, oldest first."""
    linked = select(ExternalIdentity).where(ExternalIdentity.account_id == caller.id)
    return {"identities": db.session.scalars(linked.order_by(ExternalIdentity.linked_at)).all()}


def email_of_reset_link(token: str) -> str:
    """The address whose password this token sets. Reading uses nothing up. Raises ResetTokenInvalid."""
    statement = (
        select(Account.email)
        .join(ResetToken, ResetToken.account_id == Account.id)
        .where(
            ResetToken.token_hash == fingerprint(token),
            ResetToken.used_at.is_(None),
            ResetToken.expires_at > func.now(),
            ResetToken.password_version == Account.password_version,
        )
    )
    email = db.session.scalar(statement)
    if email is None:
        raise ResetTokenInvalid()
    return email
