"""How often a password may be guessed: ten times in a quarter of an hour per address, fifty per network.

Failures are counted, not sign-ins, and sessions that exist go on. A known device (see `devices`) counts for the address
alone: what others on its network get wrong does not hold it up.

Known devices: those that have signed in to an account before.

A browser keeps a mark in a cookie, an app its last refresh token. Either exempts a sign-in from the count of its
network, which many people may share, and from nothing else: the ten failures of an address count wherever they come
from. So a stolen mark gains nothing, and a forged one is no mark.

Confirmation: an operation that a bearer token alone must not do needs the password, or a recent sign-in.
"""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import select

from app.accounts import passwords, sessions
from app.accounts.caller import Caller
from app.accounts.errors import ConfirmationRequired, CurrentPasswordWrong
from app.accounts.models import Account, AccountSession
from app.accounts.notices import enqueue_notice
from app.core import throttle
from app.core.db import db, fetch_row, release_connection
from app.core.errors import Throttled
from app.core.throttle import Rule, Subject
from app.core.tokens import same
from app.core.transaction import transaction

FAILURE_WINDOW = timedelta(minutes=15)
FAILURES_PER_ADDRESS = Rule("login-address", 10, FAILURE_WINDOW)
FAILURES_PER_NETWORK = Rule("login-network", 50, FAILURE_WINDOW)
OWN_PASSWORD_SQL = f"""
    SELECT a.password_hash, a.password_version, s.hits, s.seconds
      FROM account a LEFT JOIN ({throttle.STANDING}) AS s(key, hits, seconds) ON true
     WHERE a.id = %s
"""
TOO_MANY_FAILURES_MESSAGE = "Too many failed attempts; wait for the seconds in Retry-After, or reset the password."


def check_login_limits(email: str, network: str | None) -> bool:
    """Whether there are failures to remember. Raises Throttled when the address or the network has used them up."""
    limit_statuses = throttle.get_status(*_build_limit_subjects(email, network))
    exhausted_limits = [limit_status for limit_status in limit_statuses if limit_status.spent]
    if exhausted_limits:
        raise Throttled(
            TOO_MANY_FAILURES_MESSAGE, retry_after=max(limit_status.seconds for limit_status in exhausted_limits)
        )
    return bool(limit_statuses)


def count_login_failure(email: str, network: str | None, account_id: str | None) -> None:
    """Remembers a failure, and tells the owner of the address when it was the last one allowed.

    Raises Throttled for failures that were under way while others used the count up.
    """
    with transaction() as session:
        limit_statuses = throttle.hit_all(session, *_build_limit_subjects(email, network))
        if account_id is not None and limit_statuses[0].hits == limit_statuses[0].rule.allowed:
            enqueue_notice(
                "login_throttled",
                account_id,
                failures=limit_statuses[0].hits,
                minutes=int(FAILURE_WINDOW.total_seconds() // 60),
            )
    exceeded_limits = [limit_status for limit_status in limit_statuses if limit_status.exceeded]
    if exceeded_limits:
        raise Throttled(
            TOO_MANY_FAILURES_MESSAGE, retry_after=max(limit_status.seconds for limit_status in exceeded_limits)
        )


def verify_own_password(caller: Caller, password: str) -> bool:
    """Whether it is the caller's password; failures count like failed sign-ins. Raises Throttled."""
    return find_own_password_version(caller, password) is not None


def find_own_password_version(caller: Caller, password: str) -> int | None:
    """The same, answering which password it was, so that its owner can be sure it is still the present one."""
    row = fetch_row(OWN_PASSWORD_SQL, ([throttle.key_of(FAILURES_PER_ADDRESS, caller.email)], caller.id))
    if row is None:
        return None
    password_hash, version, hits, seconds = row
    if hits is not None and hits >= FAILURES_PER_ADDRESS.allowed:
        raise Throttled(TOO_MANY_FAILURES_MESSAGE, retry_after=seconds)
    if passwords.verify_password(password_hash, password):
        return int(version)
    count_login_failure(caller.email, None, caller.id)
    return None


def verify_account_password(account: Account, password: str) -> bool:
    """Whether it is the password of an account that was read already; failures count. Raises Throttled."""
    check_login_limits(account.email, None)
    release_connection()
    if passwords.verify_password(account.password_hash, password):
        return True
    count_login_failure(account.email, None, account.id)
    return False


def _build_limit_subjects(email: str, network: str | None) -> list[Subject]:
    return [(FAILURES_PER_ADDRESS, email), *(throttle.by_network(FAILURES_PER_NETWORK, network) if network else [])]


def is_known_device(account: Account | None, *, marks: Sequence[str], refresh_token: str | None) -> bool:
    """Whether one of the marks, or the refresh token, comes from an earlier sign-in to this account.

    The refresh token may have expired: its session says whose device it was. An unknown address costs the same.
    """
    parsed_token = sessions.parse_refresh_token(refresh_token) if refresh_token else None
    owner_id = parsed_token and db.session.scalar(
        select(AccountSession.account_id).where(AccountSession.id == parsed_token[0])
    )
    if account is None:
        return False
    own_mark = sessions.derive_device_mark(account)
    return owner_id == account.id or any(same(mark, own_mark) for mark in marks)


RECENT_SIGN_IN_WINDOW = timedelta(minutes=10)
NEW_IDENTITY_DELAY = timedelta(hours=24)
"""How long an identity that was linked to an existing account confirms nothing: a stolen token can link one."""
RECENT_SIGN_IN_SQL = """
    SELECT a.password_hash IS NOT NULL,
           s.created_at > now() - %s::interval AND NOT EXISTS (
               SELECT FROM external_identity i WHERE i.account_id = a.id
                  AND i.linked_at > a.created_at AND i.linked_at > now() - %s::interval)
      FROM account a JOIN account_session s ON s.account_id = a.id
     WHERE a.id = %s AND s.id = %s
"""


def confirm_owner(caller: Caller, password: str | None) -> None:
    """Checks that the caller is the owner of the account: by the password, if there is one, else by a recent sign-in.

    Raises ConfirmationRequired, CurrentPasswordWrong (it counts like a failed sign-in), Throttled.
    """
    if password is not None:
        if not verify_own_password(caller, password):
            raise CurrentPasswordWrong()
        return
    has_password, signed_in_recently = fetch_row(
        RECENT_SIGN_IN_SQL, (RECENT_SIGN_IN_WINDOW, NEW_IDENTITY_DELAY, caller.id, caller.session_id)
    ) or (True, False)
    if not signed_in_recently:
        raise ConfirmationRequired(methods=["password", "sign_in"] if has_password else ["sign_in"])
