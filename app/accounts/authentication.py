"""Hashes and verifies passwords, limits failed attempts, recognises known devices, and confirms an account's owner.

Passwords: argon2id with OWASP's parameters. One hash at a time per process limits memory, and a thread of low priority
leaves the processor to other requests: public reads keep their rate while many people sign in (figures in
docs/decisions/password-hashing.md).

Limits: ten failures in 15 minutes per address, fifty per network. Only failures count, and existing sessions continue.

A known device has signed in to the account before: a browser has a mark in a cookie, an app has its last refresh token.
The limit of the network, which many people may share, does not apply to it; the limit of the address does. A stolen
mark therefore gains nothing.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import select

from app.accounts import sessions
from app.accounts.caller import Caller
from app.accounts.errors import ConfirmationRequired, CurrentPasswordWrong
from app.accounts.models import Account, AccountSession
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.sql import OWN_PASSWORD_SQL, RECENT_SIGN_IN_SQL
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.db import db, fetch_row, release_connection
from app.core.errors import Throttled, ValidationFailed
from app.core.low_priority_executor import LowPriorityExecutor
from app.core.throttle import Rule, Subject, ThrottleStatus
from app.core.tokens import same
from app.core.transaction import transaction

FAILURE_WINDOW = timedelta(minutes=15)
FAILURES_PER_ADDRESS = Rule("login-address", 10, FAILURE_WINDOW)
FAILURES_PER_NETWORK = Rule("login-network", 50, FAILURE_WINDOW)
RECENT_SIGN_IN_WINDOW = timedelta(minutes=10)
NEW_IDENTITY_DELAY = timedelta(hours=24)
"""A newly linked identity does not confirm the owner for this long, because a stolen token can link one."""
TOO_MANY_FAILURES_MESSAGE = "Too many failed attempts; wait, or reset the password."
HASHER = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
_hash_executor = LowPriorityExecutor()


def check_login_limits(email: str, network: str | None) -> bool:
    """Whether any failures are counted. Raises Throttled when the address or the network has reached its limit."""
    limit_statuses = throttle.get_status(*_build_limit_subjects(email, network))
    _raise_if_throttled([limit_status for limit_status in limit_statuses if limit_status.spent])
    return bool(limit_statuses)


def count_login_failure(email: str, network: str | None, account_id: str | None) -> None:
    """Counts a failure. The owner of the address gets a notice when the limit is reached.

    Raises Throttled for an attempt that started before others reached the limit.
    """
    with transaction() as session:
        limit_statuses = throttle.hit_all(session, *_build_limit_subjects(email, network))
        address_limit = limit_statuses[0]
        if account_id is not None and address_limit.hits == address_limit.rule.allowed:
            failures = {"failures": address_limit.hits}
            record(session, Action.SIGN_IN_LOCKED, account_id=account_id, subject=account_id, data=failures)
            enqueue_notice(
                "login_throttled",
                account_id,
                failures=address_limit.hits,
                minutes=int(FAILURE_WINDOW.total_seconds() // 60),
            )
    _raise_if_throttled([limit_status for limit_status in limit_statuses if limit_status.exceeded])


def verify_own_password(caller: Caller, password: str) -> bool:
    """Whether this is the caller's password. A failure counts like a failed sign-in. Raises Throttled."""
    return find_own_password_version(caller, password) is not None


def find_own_password_version(caller: Caller, password: str) -> int | None:
    """The version of the caller's password, to detect a change later; None when the password is wrong.

    A failure counts like a failed sign-in. Raises Throttled.
    """
    row = fetch_row(OWN_PASSWORD_SQL, (throttle.key_of(FAILURES_PER_ADDRESS, caller.email), caller.id))
    if row is None:
        return None
    password_hash, version, failures, retry_after = row
    if failures is not None and failures >= FAILURES_PER_ADDRESS.allowed:
        raise Throttled(TOO_MANY_FAILURES_MESSAGE, retry_after=retry_after)
    if verify_password(password_hash, password):
        return int(version)
    count_login_failure(caller.email, None, caller.id)
    return None


def verify_account_password(account: Account, password: str) -> bool:
    """Whether this is the password of a loaded account. A failure counts like a failed sign-in. Raises Throttled."""
    check_login_limits(account.email, None)
    release_connection()
    if verify_password(account.password_hash, password):
        return True
    count_login_failure(account.email, None, account.id)
    return False


def _raise_if_throttled(reached_limits: Sequence[ThrottleStatus]) -> None:
    if reached_limits:
        raise Throttled(
            TOO_MANY_FAILURES_MESSAGE, retry_after=max(limit_status.seconds for limit_status in reached_limits)
        )


def _build_limit_subjects(email: str, network: str | None) -> list[Subject]:
    return [(FAILURES_PER_ADDRESS, email), *(throttle.by_network(FAILURES_PER_NETWORK, network) if network else [])]


def is_known_device(account: Account | None, *, marks: Sequence[str], refresh_token: str | None) -> bool:
    """Whether one of the marks, or the refresh token, comes from an earlier sign-in to this account.

    The refresh token may have expired: its session names the account. An unknown address takes the same time.
    """
    parsed_token = sessions.parse_refresh_token(refresh_token) if refresh_token else None
    owner_id = parsed_token and db.session.scalar(
        select(AccountSession.account_id).where(AccountSession.id == parsed_token[0])
    )
    if account is None:
        return False
    own_mark = sessions.derive_device_mark(account)
    return owner_id == account.id or any(same(mark, own_mark) for mark in marks)


def confirm_owner(caller: Caller, password: str | None) -> None:
    """Checks that the caller owns the account: by the password if one was sent, otherwise by a recent sign-in.

    Raises ConfirmationRequired, CurrentPasswordWrong (it counts like a failed sign-in), Throttled.
    """
    if password is not None:
        if not verify_own_password(caller, password):
            raise CurrentPasswordWrong()
        return
    methods = list_confirmation_methods(caller)
    if methods:
        raise ConfirmationRequired(methods=methods)


def list_confirmation_methods(caller: Caller) -> list[str]:
    """How the caller can confirm that they own the account; empty after a recent sign-in, when they need not."""
    _, has_password, signed_in_recently = _load_recent_sign_in(caller)
    if signed_in_recently:
        return []
    return ["password", "sign_in"] if has_password else ["sign_in"]


def has_password(caller: Caller) -> bool:
    """Whether the account of the caller has a password."""
    return _load_recent_sign_in(caller)[1]


def require_own_password(caller: Caller, password: str | None, *, path: str) -> int:
    """The version of the caller's password, after a check of it, to detect a change later.

    An account without a password needs a recent sign-in instead. Raises CurrentPasswordWrong (it counts like a failed
    sign-in), Throttled, ConfirmationRequired, and ValidationFailed when the password at `path` is missing.
    """
    if password is not None:
        version = find_own_password_version(caller, password)
        if version is None:
            raise CurrentPasswordWrong()
        return version
    version, has_password, signed_in_recently = _load_recent_sign_in(caller)
    if has_password:
        raise ValidationFailed.of(path, "required", "Send the password of the account.")
    if not signed_in_recently:
        raise ConfirmationRequired(methods=["sign_in"])
    return version


def _load_recent_sign_in(caller: Caller) -> tuple[int, bool, bool]:
    """The version of the password, whether there is one, and whether the caller has signed in recently."""
    row = fetch_row(RECENT_SIGN_IN_SQL, (RECENT_SIGN_IN_WINDOW, NEW_IDENTITY_DELAY, caller.id, caller.session_id))
    return (0, True, False) if row is None else (row[0], row[1], row[2])


def hash_password(password: str) -> str:
    """The argon2id hash of the password."""
    return _hash_executor.run(HASHER.hash, password)


def verify_password(password_hash: str | None, password: str) -> bool:
    """Whether the password matches the hash. Without a hash it takes the same time and is False."""
    try:
        return _hash_executor.run(_verify_hash, password_hash, password) and password_hash is not None
    except (Argon2Error, InvalidHashError):
        return False


def needs_rehash(password_hash: str) -> bool:
    """Whether the hash has other parameters than the current ones."""
    return HASHER.check_needs_rehash(password_hash)


def reject_common_password(password: str, *account_words: str, production: bool, path: str = "password") -> None:
    """Raises ValidationFailed, in production, for the 3,000 most common passwords and for the account's own words."""
    folded_password = password.casefold()
    if production and (
        folded_password in _load_common_passwords() or folded_password in {word.casefold() for word in account_words}
    ):
        message = "This password is among the most common ones, or your own address or name."
        raise ValidationFailed.of(path, "too_common", message)


def _verify_hash(password_hash: str | None, password: str) -> bool:
    return HASHER.verify(password_hash or _get_dummy_hash(), password)


@cache
def _get_dummy_hash() -> str:
    return HASHER.hash("nobody's password")


@cache
def _load_common_passwords() -> frozenset[str]:
    lines = Path(__file__).with_name("common_passwords.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
