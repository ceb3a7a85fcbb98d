"""Reads of accounts."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from app.accounts.caller import Caller
from app.accounts.models import Account, MerchantProfile, OrganiserProfile
from app.core.db import db, fetch_row, fetch_rows

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
    if "organiser" in caller.roles:
        found["organiser"] = db.session.get(OrganiserProfile, caller.id)
    if "merchant" in caller.roles:
        found["merchant"] = db.session.get(MerchantProfile, caller.id)
    if "admin" in caller.roles:
        found["admin"] = {"tier": caller.tier, "title": caller.title}
    return found
