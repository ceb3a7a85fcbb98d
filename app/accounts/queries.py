"""Reads of accounts, and the lock of an e-mail address."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Select,
    SQLColumnExpression,
    and_,
    bindparam,
    column,
    exists,
    false,
    func,
    inspect,
    or_,
    select,
)
from sqlalchemy.orm import QueryableAttribute
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.errors import ResetTokenInvalid
from app.accounts.models import PROFILES, TIERS, Account, AccountSession, ExternalIdentity, ResetToken
from app.accounts.own_account_models import RecoveryCode
from app.accounts.permissions import DEVICES, KEYS, NOTHING, ORGANISER, OWNER, PERMISSIONS, Membership, resolve_grant
from app.accounts.sessions import LAST_SEEN_INTERVAL, PAGE_IDLE_LIFETIME
from app.accounts.sql import CALLER_SQL, CALLERS_SQL, DEVICE_SQL, KEY_SQL, PAGE_CALLER_SQL, WORKING_ACCESS_SQL
from app.accounts.team_models import TeamMember
from app.core.db import db, fetch_mapping, fetch_row, fetch_rows
from app.core.tokens import fingerprint
from app.core.transaction import lock_name, write_row

OPERATOR_TIERS = ("admin", "super_admin")
DEVICE_TOKEN_PREFIX, KEY_PREFIXES = "ecd_", ("eck_live_", "eck_test_")


def find_caller(session_id: str, permission: str | None = None, team_id: str | None = None) -> Caller | None:
    """The account of an active session of the API, and where it has the permission, in all its teams or in this one;
    None when the session has ended."""
    row = fetch_row(CALLER_SQL, (session_id,))
    return None if row is None else _parse_caller_row(row, permission, team_id)


def find_token_caller(token: str, permission: str | None, team_id: str | None = None) -> Caller | None:
    """The device or the API key of a token; None when it has ended or never existed."""
    statement = DEVICE_SQL if token.startswith(DEVICE_TOKEN_PREFIX) else KEY_SQL
    row = write_row(statement, {"hash": fingerprint(token)})
    return None if row is None else _parse_caller_row(row, permission, team_id)


def find_page_caller(session_id: str) -> Caller | None:
    """The account of an active session of the pages; None when the session has ended. Its use extends the session."""
    params = {"id": session_id, "idle_lifetime": PAGE_IDLE_LIFETIME, "interval": LAST_SEEN_INTERVAL}
    row = write_row(PAGE_CALLER_SQL, params)
    return None if row is None else _parse_caller_row(row, None)


def find_viewer(session_id: str, permission: str) -> Caller | None:
    """The person (in a browser or an app), device or API key for which a download link was signed, as they are now; None
    when they have ended."""
    row = fetch_row(CALLERS_SQL, {"ids": [session_id]})
    return None if row is None else _parse_caller_row(row, permission)


def reload_callers(callers: Sequence[Caller]) -> list[Caller | None]:
    """The same callers as they are now, in one query; None for those whose session has ended."""
    rows = {row[1]: row for row in fetch_rows(CALLERS_SQL, {"ids": sorted({caller.session_id for caller in callers})})}
    return [
        _parse_caller_row(rows[caller.session_id], caller.permission, caller.team_id)
        if caller.session_id in rows
        else None
        for caller in callers
    ]


def _parse_caller_row(row: tuple[Any, ...], permission: str | None, team_id: str | None = None) -> Caller:
    account_id, session_id, email, name, phone, verified, roles, tier, title, version, kind, *own = row
    entries, language, has_second_factor = own
    memberships = [Membership(*entry) for entry in entries or ()]
    usable = [entry for entry in memberships if has_second_factor or not entry.requires_second_factor]
    return Caller(
        account_id,
        session_id,
        email,
        name,
        phone,
        verified,
        frozenset(roles),
        tier,
        title,
        version,
        kind,
        permission,
        resolve_grant(permission, account_id, roles, usable, team_id) if permission is not None else NOTHING,
        usable,
        language,
        has_second_factor,
        lacks_second_factor=len(usable) < len(memberships),
        team_id=team_id,
    )


def find_account_by_email(email: str) -> Account | None:
    return db.session.scalar(select(Account).where(Account.email == email))


def find_account(account_id: str) -> Account | None:
    return db.session.get(Account, account_id)


def load_account_profile(caller: Caller) -> dict[str, object]:
    """The caller's account with the profile of each of its roles. `phone` and `language` are missing when not set."""
    account_profile: dict[str, object] = {
        "id": caller.id,
        "name": caller.name,
        "email": caller.email,
        "roles": sorted(caller.roles),
        "email_verified": caller.email_verified,
        "version": caller.version,
    }
    for name in ("phone", "language"):
        if value := getattr(caller, name):
            account_profile[name] = value
    for role in PROFILES.keys() & caller.roles:
        role_profile = fetch_mapping(_select_role_profile(role), {"account_id": caller.id})
        if role_profile is not None:
            account_profile[role] = role_profile
    if "admin" in caller.roles:
        account_profile["admin"] = {"tier": caller.tier, "title": caller.title}
    return account_profile


@cache
def _select_role_profile(role: str) -> Select[*tuple[Any, ...]]:
    columns = [attribute.columns[0] for attribute in inspect(PROFILES[role]).column_attrs if not attribute.deferred]
    return select(*columns).where(column("account_id") == bindparam("account_id", required=False))


@dataclass(frozen=True)
class ActiveSession:
    """A session that its owner can see and end. `is_current` marks the one that asks."""

    id: str
    kind: str
    device: str | None
    network: str | None
    created_at: datetime
    last_seen_at: datetime
    is_current: bool


def list_sessions(caller: Caller) -> list[ActiveSession]:
    """The active sessions of the caller's account: this one first, then by last use, newest first."""
    table = AccountSession
    last_seen_at = func.coalesce(table.last_seen_at, table.rotated_at)
    is_current = table.id == caller.session_id
    query = (
        select(table.id, table.kind, table.device, table.network, table.created_at, last_seen_at, is_current)
        .where(
            table.account_id == caller.id,
            table.ended_at.is_(None),
            table.idle_until > func.now(),
            table.ends_at > func.now(),
        )
        .order_by(is_current.desc(), last_seen_at.desc(), table.id)
    )
    return [ActiveSession(*row) for row in db.session.execute(query)]


@dataclass(frozen=True)
class SecondFactorStatus:
    """Whether the second factor is on, since when, and how many recovery codes are left. `version` is the account's."""

    enabled: bool
    since: datetime | None
    recovery_codes_left: int
    version: int


def get_second_factor(caller: Caller) -> SecondFactorStatus:
    """The second factor of the caller's account."""
    unused_codes = (
        select(func.count())
        .where(RecoveryCode.account_id == Account.id, RecoveryCode.used_at.is_(None))
        .scalar_subquery()
    )
    query = select(Account.second_factor_since, unused_codes, Account.version).where(Account.id == caller.id)
    since, codes_left, version = db.session.execute(query).one()
    return SecondFactorStatus(since is not None, since, codes_left, version)


def list_identities(caller: Caller) -> Sequence[ExternalIdentity]:
    """The identities that sign in to the caller's account, oldest first."""
    query = select(ExternalIdentity).where(ExternalIdentity.account_id == caller.id)
    return db.session.scalars(query.order_by(ExternalIdentity.linked_at)).all()


def get_reset_link_email(token: str) -> str:
    """The address whose password this token sets; the token stays usable. Raises ResetTokenInvalid."""
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


def lock_address(session: OrmSession, email: str) -> None:
    """Locks an e-mail address until the transaction ends; changes of its account and codes wait.

    The address needs no account. Take this lock before row locks of accounts and codes.
    """
    lock_name(session, f"account-address:{email}")


def lock_account_by_email(session: OrmSession, email: str) -> Account | None:
    """The account with this address, its row locked; None when there is none. Locks the address too."""
    lock_address(session, email)
    statement = select(Account).where(Account.email == email).with_for_update()
    return session.scalars(statement, execution_options={"populate_existing": True}).one_or_none()


class WorkingAccess(NamedTuple):
    """Whether devices, and API keys, of the organisations of a person work."""

    devices: bool
    api_keys: bool


def find_working_access(session: OrmSession, account_id: str) -> WorkingAccess:
    """What works without the password of this account in the organisations in which it may see devices or keys.

    After a theft of the password the owner has to end what the thief may have made.
    """
    params = {
        "account_id": account_id,
        "device_roles": sorted(PERMISSIONS[DEVICES].roles),
        "key_roles": sorted(PERMISSIONS[KEYS].roles),
    }
    return WorkingAccess(*session.execute(WORKING_ACCESS_SQL, params).one())


def may_in_organisation(
    permission: str, organisation_id: SQLColumnExpression[Any], event_id: SQLColumnExpression[Any]
) -> ColumnElement[bool]:
    """Whether the `Account` of the query has the permission for this event of this organisation, by its own team, by a
    membership, or as an admin, and is not suspended. The callers of routes are checked by `resolve_grant` instead.
    """
    tier = PERMISSIONS[permission].tier
    is_admin = Account.admin_tier.in_(TIERS[TIERS.index(tier) :]) if tier else false()
    return or_(
        works_in_organisation(permission, organisation_id, event_id), and_(Account.suspended_at.is_(None), is_admin)
    )


def works_in_organisation(
    permission: str, organisation_id: SQLColumnExpression[Any], event_id: SQLColumnExpression[Any]
) -> ColumnElement[bool]:
    """`may_in_organisation` without admins: whether the `Account` is in the team, with the permission."""
    is_owner = and_(Account.id == organisation_id, Account.roles.contains([ORGANISER]))
    is_member = exists().where(
        TeamMember.account_id == Account.id,
        TeamMember.team_id == organisation_id,
        TeamMember.kind == ORGANISER,
        TeamMember.role.in_(PERMISSIONS[permission].roles),
        or_(TeamMember.event_ids.is_(None), event_id == func.any(TeamMember.event_ids)),
    )
    return and_(Account.suspended_at.is_(None), or_(is_owner, is_member))


def owner_id_sql(organisation_id: ColumnElement[Any] | QueryableAttribute[Any]) -> ColumnElement[str]:
    """The account of an organisation's present owner, whose address is the contact and sends its mails."""
    passed_to = select(TeamMember.account_id).where(
        TeamMember.team_id == organisation_id, TeamMember.kind == ORGANISER, TeamMember.role == OWNER
    )
    return func.coalesce(passed_to.correlate_except(TeamMember).scalar_subquery(), organisation_id)


def owned_organisations(account_id: str) -> CompoundSelect[Any]:
    """The ids of the organisations whose present owner is the account."""
    own = select(Account.id).where(Account.id == account_id, Account.roles.contains([ORGANISER]))
    passed_on = select(TeamMember.team_id).where(
        TeamMember.account_id == account_id, TeamMember.kind == ORGANISER, TeamMember.role == OWNER
    )
    return own.union_all(passed_on)


def list_operator_ids(session: OrmSession) -> list[str]:
    """The ids of the admins who get mails about work for operators: upper tiers with a verified address, not suspended."""
    is_operator, is_verified = Account.admin_tier.in_(OPERATOR_TIERS), Account.email_verified_at.is_not(None)
    query = select(Account.id).where(is_operator, is_verified, Account.suspended_at.is_(None))
    return list(session.scalars(query.order_by(Account.id)))
