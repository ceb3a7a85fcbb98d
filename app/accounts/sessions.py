"""Sessions and their refresh tokens.

A refresh token is `<session id>.<counter>.<keyed hash of both>`. The database has only the counter: a stolen copy of it
contains no token, and the same successor of a token can be built again.

A session of the pages ("console") has a cookie instead, `<session id>.<keyed hash>`. The kind of a session is checked
wherever it is loaded, so that neither can be used as the other.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, NamedTuple, NotRequired, TypedDict

from flask import current_app
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import PERSON
from app.accounts.errors import AccountSuspended, InvalidCredentials
from app.accounts.models import Account, AccountSession
from app.accounts.own_account_models import SignInChallenge
from app.accounts.sql import CREATE_SESSION_SQL
from app.audit.actions import Action
from app.audit.log import entry_params
from app.core.context import Actor
from app.core.ids import is_id, new_id
from app.core.tokens import derived_text, same

ACCESS_TOKEN_SECONDS = 900
IDLE_LIFETIME = timedelta(days=30)
LIFETIME = timedelta(days=90)
PAGE_IDLE_LIFETIME = timedelta(hours=12)
PAGE_LIFETIME = timedelta(days=30)
LAST_SEEN_INTERVAL = timedelta(minutes=5)
"""The use of a page extends its session, and is recorded, at most this often."""
MAX_SESSIONS_PER_ACCOUNT = 20
SessionKind = Literal["api", "console"]


class SessionOrigin(NamedTuple):
    """Where a session is used: by the API or on the pages, the device in words, and its truncated network."""

    kind: SessionKind = "api"
    device: str | None = None
    network: str | None = None


UNKNOWN_ORIGIN = SessionOrigin()


class SessionOwner(NamedTuple):
    """What `build_login_result` reads of an account."""

    id: str
    name: str
    email: str
    phone: str | None
    roles: list[str]
    admin_tier: str | None


class SessionUser(TypedDict):
    """The account of a session. `phone` is missing when it is not set."""

    id: str
    name: str
    email: str
    roles: list[str]
    phone: NotRequired[str]


@dataclass(frozen=True)
class LoginResult:
    """A new or refreshed session. A new one has the mark that makes its device known at the next sign-in.

    The refresh token of a session of the pages is not valid.
    """

    session_id: str
    refresh_token: str
    user: SessionUser
    tier: str | None
    device_mark: str | None = None


def create_session(
    session: OrmSession,
    account: Account,
    origin: SessionOrigin = UNKNOWN_ORIGIN,
    *,
    second_factor_passed: bool = False,
) -> LoginResult:
    """Starts a session, and ends the oldest one beyond MAX_SESSIONS_PER_ACCOUNT.

    Sign-ins call `second_factor.start_session`, which asks for the second factor of an account that has one.

    Raises InvalidCredentials when the password has changed, or a second factor was turned on, since `account` was read:
    a sign-in with the old password must not survive the change. Raises AccountSuspended for the right password of a
    suspended account.
    """
    session.flush()
    new_session_id = new_id()
    params = {
        **entry_params(Action.SIGNED_IN, Actor(PERSON, account.id, new_session_id)),
        "id": new_session_id,
        "account_id": account.id,
        "password_version": account.password_version,
        "second_factor_passed": second_factor_passed,
        "others": MAX_SESSIONS_PER_ACCOUNT - 1,
        "idle_lifetime": PAGE_IDLE_LIFETIME if origin.kind == "console" else IDLE_LIFETIME,
        "lifetime": PAGE_LIFETIME if origin.kind == "console" else LIFETIME,
        **origin._asdict(),
    }
    session_id = session.execute(CREATE_SESSION_SQL, params).scalar()
    if session_id is None:
        raise find_refusal(session, account)
    return replace(build_login_result(account, session_id, 0), device_mark=derive_device_mark(account))


def find_refusal(session: OrmSession, account: Account) -> InvalidCredentials | AccountSuspended:
    """Why an account whose owner has proven who they are gets no session."""
    query = select(Account.suspended_at).where(
        Account.id == account.id, Account.password_version == account.password_version
    )
    if session.scalar(query) is None:
        return InvalidCredentials()
    contact = current_app.extensions["settings"].CONTACT_EMAIL
    if contact is None:
        return AccountSuspended()
    return AccountSuspended(f"This account is suspended. Write to {contact} to ask why.", contact=contact)


def build_login_result(account: SessionOwner | Account, session_id: str, counter: int) -> LoginResult:
    """The session with its refresh token and its account."""
    user: SessionUser = {
        "id": account.id,
        "name": account.name,
        "email": account.email,
        "roles": sorted(account.roles),
    }
    if account.phone:
        user["phone"] = account.phone
    return LoginResult(session_id, build_refresh_token(session_id, counter), user, account.admin_tier)


def derive_device_mark(account: Account) -> str:
    """The mark that makes a device known after a sign-in (see `authentication`). A new password voids all marks."""
    return derived_text("known-device", account.id, account.password_version)


def end_all_sessions(
    session: OrmSession, account_id: str, reason: str, *, except_session_id: str | None = None
) -> None:
    """Ends every active session of an account, except one, and every sign-in that waits for its second step."""
    ended_challenges = delete(SignInChallenge).where(SignInChallenge.account_id == account_id)
    conditions = [AccountSession.account_id == account_id, AccountSession.ended_at.is_(None)]
    if except_session_id is not None:
        conditions.append(AccountSession.id != except_session_id)
    session.execute(
        update(AccountSession)
        .where(*conditions)
        .values(ended_at=func.now(), end_reason=reason)
        .add_cte(ended_challenges.cte("ended_challenges"))
        .execution_options(synchronize_session=False)
    )


def is_session_active(session: OrmSession, session_id: str) -> bool:
    """Whether the session has not ended, as the open transaction sees it."""
    query = select(AccountSession.id).where(AccountSession.id == session_id, AccountSession.ended_at.is_(None))
    return session.scalar(query) is not None


def build_page_token(session_id: str) -> str:
    """The value of the cookie of a session of the pages."""
    return f"{session_id}.{derived_text('page-session', session_id)}"


def parse_page_token(token: str) -> str | None:
    """The session id of a cookie of the pages; None when this service has not signed it."""
    session_id, _, _ = token.partition(".")
    is_own = token.isascii() and is_id(session_id) and same(token, build_page_token(session_id))
    return session_id if is_own else None


def build_refresh_token(session_id: str, counter: int) -> str:
    return f"{session_id}.{counter}.{derived_text('refresh-token', session_id, counter)}"


def parse_refresh_token(token: str) -> tuple[str, int] | None:
    """The session id and the counter of a refresh token; None when this service has not signed it."""
    session_id, _, counter_and_hash = token.partition(".")
    counter, _, _ = counter_and_hash.partition(".")
    if not is_id(session_id) or not (counter.isascii() and counter.isdigit()) or len(counter) > 9:
        return None
    return (session_id, int(counter)) if same(token, build_refresh_token(session_id, int(counter))) else None
