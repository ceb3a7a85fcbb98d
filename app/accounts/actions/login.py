"""Signs in with a password and a second factor, refreshes sessions and ends them."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts import authentication, second_factor, sessions
from app.accounts.authentication import is_known_device
from app.accounts.caller import PERSON, Caller
from app.accounts.errors import ChallengeInvalid, InvalidCredentials, RefreshInvalid, RefreshReused
from app.accounts.models import Account, AccountSession
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.queries import find_account_by_email
from app.accounts.sessions import IDLE_LIFETIME, UNKNOWN_ORIGIN, LoginResult, SessionOrigin, SessionOwner
from app.accounts.sql import ADVANCE_REFRESH_COUNTER_SQL
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.context import Actor
from app.core.db import release_connection
from app.core.errors import NotFound
from app.core.transaction import transaction, write_row

REUSE_GRACE_PERIOD = timedelta(seconds=10)


def log_in(
    *,
    email: str,
    password: str,
    network: str,
    refresh_token: str | None = None,
    device_marks: Sequence[str] = (),
    origin: SessionOrigin = UNKNOWN_ORIGIN,
) -> LoginResult:
    """A new session. The failure limit of the network does not apply to a known device.

    Raises Throttled, InvalidCredentials, which takes the same time for a wrong password and an unknown address, and
    AccountSuspended and SecondFactorRequired, with the challenge for `log_in_with_second_factor`, after the right
    password.
    """
    account = find_account_by_email(email)
    is_known = is_known_device(account, marks=device_marks, refresh_token=refresh_token)
    counted_network = None if is_known else network
    has_failures = authentication.check_login_limits(email, counted_network)
    release_connection()
    if not authentication.verify_password(account.password_hash if account else None, password) or account is None:
        authentication.count_login_failure(email, counted_network, account.id if account else None)
        raise InvalidCredentials()
    new_hash = (
        authentication.hash_password(password) if authentication.needs_rehash(account.password_hash or "") else None
    )
    with transaction() as session:
        if new_hash:
            session.execute(update(Account).where(Account.id == account.id).values(password_hash=new_hash))
        login_result = second_factor.start_session(session, account, origin)
        # After the account, in the order in which a reset locks them.
        if has_failures and account.second_factor_since is None:
            throttle.clear(session, authentication.FAILURES_PER_ADDRESS, email)
    return second_factor.require_session(login_result)


def log_in_with_second_factor(
    *,
    challenge: str,
    code: str,
    network: str,
    device_marks: Sequence[str] = (),
    origin: SessionOrigin = UNKNOWN_ORIGIN,
) -> LoginResult:
    """A new session, by the challenge of the first step and a code of the app or a recovery code.

    A wrong code counts for the challenge, the account and, unless the device is known, the network. Raises
    ChallengeInvalid, CodeInvalid, Throttled. Of concurrent requests with one challenge or one code, one succeeds.
    """
    with transaction() as session:
        account = second_factor.open_challenge(session, challenge)
        error = ChallengeInvalid() if account is None else second_factor.find_code_error(session, account.id, code)
        if account is not None and error is None:
            second_factor.close_challenge(session, challenge)
            throttle.clear(session, authentication.FAILURES_PER_ADDRESS, account.email)
            return sessions.create_session(session, account, origin, second_factor_passed=True)
        if account is None or not is_known_device(account, marks=device_marks, refresh_token=None):
            throttle.hit_all(session, *throttle.by_network(authentication.FAILURES_PER_NETWORK, network))
    assert error is not None
    raise error


def log_out(*, refresh_token: str) -> None:
    """Ends the token's session and its access tokens immediately. An invalid token is no error."""
    parsed_token = sessions.parse_refresh_token(refresh_token)
    if parsed_token is None:
        return
    session_id = parsed_token[0]
    with transaction() as session:
        account_id = session.scalar(
            update(AccountSession)
            .where(AccountSession.id == session_id, AccountSession.ended_at.is_(None))
            .values(ended_at=func.now(), end_reason="logged_out")
            .returning(AccountSession.account_id)
        )
        if account_id is not None:
            actor = Actor(PERSON, account_id, session_id)
            record(session, Action.SIGNED_OUT, caller=actor, account_id=account_id, subject=session_id)


def end_session(*, caller: Caller, session_id: str) -> None:
    """Ends a session of the caller's account immediately; ending it again changes nothing.

    Raises NotFound, also for a session of another account.
    """
    with transaction() as session:
        ended_now = session.scalar(
            update(AccountSession)
            .where(AccountSession.id == session_id, AccountSession.account_id == caller.id)
            .values(
                ended_at=func.coalesce(AccountSession.ended_at, func.now()),
                end_reason=func.coalesce(AccountSession.end_reason, "ended_by_owner"),
            )
            .returning(AccountSession.ended_at == func.now())
            .execution_options(synchronize_session=False)
        )
        if ended_now is None:
            raise NotFound()
        if ended_now:
            action = Action.SIGNED_OUT if session_id == caller.session_id else Action.SESSION_ENDED
            record(session, action, caller=caller, account_id=caller.id, subject=session_id)


def end_other_sessions(*, caller: Caller) -> None:
    """Ends every session of the caller's account but the caller's own."""
    with transaction() as session:
        sessions.end_all_sessions(session, caller.id, "ended_by_owner", except_session_id=caller.session_id)
        record(session, Action.OTHER_SESSIONS_ENDED, caller=caller, account_id=caller.id, subject=caller.id)


def refresh_session(*, refresh_token: str) -> LoginResult:
    """The session with the successor of a refresh token.

    The same token gets the same successor again for ten seconds (two tabs, a lost response). An older token ends the
    session and its owner gets a notice. Raises RefreshInvalid, RefreshReused.
    """
    parsed_token = sessions.parse_refresh_token(refresh_token)
    if parsed_token is None:
        raise RefreshInvalid()
    session_id, counter = parsed_token
    params = {"session_id": session_id, "counter": counter, "idle_lifetime": IDLE_LIFETIME}
    row = write_row(ADVANCE_REFRESH_COUNTER_SQL, params)
    if row is not None:
        return sessions.build_login_result(SessionOwner(*row), session_id, counter + 1)
    with transaction() as session:
        if _is_repeated_refresh(session, session_id, counter):
            return sessions.build_login_result(_get_owner(session, session_id), session_id, counter + 1)
        was_ended = _end_if_active(session, session_id)
    raise RefreshReused() if was_ended else RefreshInvalid()


def _is_repeated_refresh(session: OrmSession, session_id: str, counter: int) -> bool:
    query = select(AccountSession.id).where(
        *_active_session_conditions(session_id),
        AccountSession.counter == counter + 1,
        AccountSession.rotated_at >= func.now() - REUSE_GRACE_PERIOD,
    )
    return session.scalar(query) is not None


def _end_if_active(session: OrmSession, session_id: str) -> bool:
    account_id = session.scalar(
        update(AccountSession)
        .where(*_active_session_conditions(session_id))
        .values(ended_at=func.now(), end_reason="refresh_reused")
        .returning(AccountSession.account_id)
    )
    if account_id is not None:
        record(session, Action.SESSION_REUSED, account_id=account_id, subject=session_id)
        enqueue_notice("sessions_ended", account_id)
    return account_id is not None


def _get_owner(session: OrmSession, session_id: str) -> Account:
    return session.scalars(
        select(Account)
        .join(AccountSession, AccountSession.account_id == Account.id)
        .where(AccountSession.id == session_id)
    ).one()


def _active_session_conditions(session_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        AccountSession.id == session_id,
        AccountSession.kind == "api",
        AccountSession.ended_at.is_(None),
        AccountSession.idle_until > func.now(),
        AccountSession.ends_at > func.now(),
    )
