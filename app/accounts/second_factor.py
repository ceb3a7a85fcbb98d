"""The second factor: codes of an authenticator app (RFC 6238), recovery codes, and the challenge between the two steps
of a sign-in.

A code of the app is valid for its step of 30 seconds and for the one before and after. The step of the last used code
is stored by a conditional statement, so no code works twice, and an older one never again. Twenty wrong codes a day
block the codes of the app; recovery codes have 50 random bits and are not blocked. A challenge takes five codes.

Lock order: the account, then the challenge, then the limits.
"""

import re
import secrets
from datetime import timedelta

import pyotp
from sqlalchemy import Integer, cast, delete, func, insert, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts import sessions
from app.accounts.errors import CodeInvalid, SecondFactorRequired
from app.accounts.models import Account
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.own_account_models import RecoveryCode, SecondFactor, SignInChallenge
from app.accounts.sessions import UNKNOWN_ORIGIN, LoginResult, SessionOrigin
from app.accounts.sql import CREATE_CHALLENGE_SQL
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.errors import AppError, Throttled
from app.core.throttle import Rule
from app.core.tokens import decrypt_token, derive, encrypt_token, fingerprint, opaque_token, same

CHALLENGE_LIFETIME = timedelta(minutes=5)
MAX_TRIES = 5
WRONG_CODES_PER_DAY = Rule("wrong-second-factors", 20, timedelta(days=1))
STEP_SECONDS, NEIGHBOURING_STEPS = 30, (-1, 0, 1)
RECOVERY_CODES, RECOVERY_CODE_LENGTH = 10, 10
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LOOK_ALIKE = str.maketrans("OIL", "011")
_APP_CODE = re.compile(r"[0-9]{6}")
WRONG_CODE_MESSAGE = "The code is wrong, old or used; enter the code that the app shows now, or a recovery code."
BLOCKED_MESSAGE = "Too many wrong codes today; sign in with a recovery code, or wait."


def start_session(
    session: OrmSession, account: Account, origin: SessionOrigin = UNKNOWN_ORIGIN
) -> LoginResult | SecondFactorRequired:
    """A session; for an account with a second factor, the error with the challenge of its second step.

    Raise the error by `require_session` after the transaction, because the challenge is stored. Raises
    InvalidCredentials when the password has changed since `account` was read, and AccountSuspended.
    """
    if account.second_factor_since is None:
        return sessions.create_session(session, account, origin)
    session.flush()
    challenge = opaque_token()
    params = {
        "token_hash": fingerprint(challenge),
        "account_id": account.id,
        "password_version": account.password_version,
        "lifetime": CHALLENGE_LIFETIME,
    }
    if session.execute(CREATE_CHALLENGE_SQL, params).first() is None:
        raise sessions.find_refusal(session, account)
    return SecondFactorRequired(challenge=challenge, expiresIn=int(CHALLENGE_LIFETIME.total_seconds()))


def require_session(result: LoginResult | SecondFactorRequired) -> LoginResult:
    """The session of `start_session`. Raises SecondFactorRequired."""
    if isinstance(result, SecondFactorRequired):
        raise result
    return result


def open_challenge(session: OrmSession, challenge: str) -> Account | None:
    """The account of a challenge, locked against changes, after counting a try; None when the challenge is not valid."""
    is_own = SignInChallenge.token_hash == fingerprint(challenge)
    account = session.scalar(
        select(Account)
        .join(SignInChallenge, SignInChallenge.account_id == Account.id)
        .where(is_own, SignInChallenge.password_version == Account.password_version)
        .with_for_update(read=True, of=Account),
        execution_options={"populate_existing": True},
    )
    opened_id = session.scalar(
        update(SignInChallenge)
        .where(is_own, SignInChallenge.tries < MAX_TRIES, SignInChallenge.expires_at > func.now())
        .values(tries=SignInChallenge.tries + 1)
        .returning(SignInChallenge.account_id)
        .execution_options(synchronize_session=False)
    )
    return account if opened_id is not None else None


def close_challenge(session: OrmSession, challenge: str) -> None:
    """Deletes a challenge that has been met."""
    session.execute(delete(SignInChallenge).where(SignInChallenge.token_hash == fingerprint(challenge)))


def find_code_error(session: OrmSession, account_id: str, code: str) -> AppError | None:
    """None when `code` is a code of the app or a recovery code, which is used up; otherwise CodeInvalid or Throttled.

    A try of a code of the app counts before the comparison. The owner gets a notice when the limit is reached.
    """
    code = normalize_code(code)
    if not _APP_CODE.fullmatch(code):
        return None if redeem_recovery_code(session, account_id, code) else CodeInvalid(WRONG_CODE_MESSAGE)
    daily_limit = throttle.hit(session, WRONG_CODES_PER_DAY, account_id)
    if daily_limit.exceeded:
        return Throttled(BLOCKED_MESSAGE, retry_after=daily_limit.seconds)
    if redeem_app_code(session, account_id, code):
        throttle.clear(session, WRONG_CODES_PER_DAY, account_id)
        return None
    if daily_limit.spent:
        record_change(session, Action.SECOND_FACTOR_LOCKED, account_id, "blocked", tries=daily_limit.hits)
    return CodeInvalid(WRONG_CODE_MESSAGE)


def redeem_app_code(session: OrmSession, account_id: str, code: str) -> bool:
    """Whether `code` is one that the app shows now and that was not used. If so, it is used up, and older ones too."""
    row = session.execute(
        select(SecondFactor.secret, cast(func.floor(func.extract("epoch", func.now()) / STEP_SECONDS), Integer)).where(
            SecondFactor.account_id == account_id
        )
    ).first()
    secret = decrypt_secret(account_id, row[0]) if row else None
    if row is None or secret is None:
        return False
    app = pyotp.TOTP(secret)
    steps = [row[1] + offset for offset in NEIGHBOURING_STEPS if same(code, app.generate_otp(row[1] + offset))]
    return any(_use_step(session, account_id, step) for step in steps)


def _use_step(session: OrmSession, account_id: str, step: int) -> bool:
    """Stores the step of a used code. False if it, or a later one, was used before."""
    used_id = session.scalar(
        update(SecondFactor)
        .where(
            SecondFactor.account_id == account_id,
            SecondFactor.last_step.is_(None) | (SecondFactor.last_step < step),
        )
        .values(last_step=step)
        .returning(SecondFactor.account_id)
        .execution_options(synchronize_session=False)
    )
    return used_id is not None


def redeem_recovery_code(session: OrmSession, account_id: str, code: str) -> bool:
    """Whether `code` is an unused recovery code of the account. If so, it is used up, and the owner gets a notice."""
    used_id = session.scalar(
        update(RecoveryCode)
        .where(
            RecoveryCode.account_id == account_id,
            RecoveryCode.code_hash == _hash_recovery_code(account_id, code),
            RecoveryCode.used_at.is_(None),
        )
        .values(used_at=func.now())
        .returning(RecoveryCode.account_id)
        .execution_options(synchronize_session=False)
    )
    if used_id is None:
        return False
    codes_left = count_recovery_codes(session, account_id)
    record_change(session, Action.RECOVERY_CODE_USED, account_id, "code_used", left=codes_left)
    return True


def replace_recovery_codes(session: OrmSession, account_id: str) -> list[str]:
    """Ten new recovery codes, in place of all earlier ones. They are shown once; only their hashes are stored."""
    session.execute(delete(RecoveryCode).where(RecoveryCode.account_id == account_id))
    codes = ["".join(secrets.choice(ALPHABET) for _ in range(RECOVERY_CODE_LENGTH)) for _ in range(RECOVERY_CODES)]
    rows = [{"account_id": account_id, "code_hash": _hash_recovery_code(account_id, code)} for code in codes]
    session.execute(insert(RecoveryCode), rows)
    return [f"{code[:5]}-{code[5:]}" for code in codes]


def count_recovery_codes(session: OrmSession, account_id: str) -> int:
    """The number of unused recovery codes."""
    query = select(func.count()).where(RecoveryCode.account_id == account_id, RecoveryCode.used_at.is_(None))
    return session.scalar(query) or 0


def remove_second_factor(session: OrmSession, account: Account) -> None:
    """Turns the second factor of a locked account off, and ends sign-ins that wait for it. Also removes a secret that
    was never confirmed."""
    for table in (RecoveryCode, SecondFactor, SignInChallenge):
        session.execute(delete(table).where(table.account_id == account.id))
    if account.second_factor_since is not None:
        account.second_factor_since = None
        account.version += 1


def record_change(session: OrmSession, action: Action, account_id: str, news: str, **context: object) -> None:
    """Records what happened to the second factor, and mails it to the owner after the open transaction commits."""
    record(session, action, account_id=account_id, subject=account_id)
    enqueue_notice("second_factor_changed", account_id, change=news, **context)


def encrypt_secret(account_id: str, secret: str) -> str:
    """The secret as it is stored; in another account's row it cannot be decrypted."""
    return encrypt_token(f"second-factor {account_id}", secret.encode())


def decrypt_secret(account_id: str, stored_secret: str) -> str | None:
    """The secret; None when it belongs to another account or to an earlier SECRET_KEY."""
    secret = decrypt_token(f"second-factor {account_id}", stored_secret)
    return secret.decode() if secret is not None else None


def normalize_code(code: str) -> str:
    """The code without spaces and dashes, in capitals, with look-alike letters of recovery codes as digits."""
    return re.sub(r"[\s\u2010-\u2015-]+", "", code).upper().translate(_LOOK_ALIKE)


def _hash_recovery_code(account_id: str, code: str) -> str:
    return derive("recovery-code", account_id, code).hex()
