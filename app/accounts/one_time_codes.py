"""One-time codes: six digits, valid for ten minutes, five attempts, one use. Also the link in a reset mail.

A code is a keyed hash of its row's nonce: the stored row does not reveal it, and a repeated mail has the same code.
Rows belong to addresses, with or without an account, so that both take the same path. All changes happen under the
lock of the address.

The reset link has a token of 256 bits, which needs no limit of attempts. It is derived from the nonce of the mail's
code, so a repeated mail has the same link. Only its hash is stored.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account, OneTimeCode, ResetToken
from app.accounts.queries import lock_address
from app.core import throttle
from app.core.errors import Throttled
from app.core.languages import SOURCE_LANGUAGE, find_page_language, mark_for_translation
from app.core.outbox import enqueue, job_spec
from app.core.outbox.writer import Work
from app.core.throttle import Rule
from app.core.tokens import derive, derived_text, fingerprint, same
from app.core.transaction import transaction

VERIFY_EMAIL, RESET_PASSWORD, CHANGE_EMAIL = PURPOSES = "verify_email", "reset_password", "change_email"
CODE_LIFETIME = timedelta(minutes=10)
RESEND_INTERVAL = timedelta(seconds=60)
MAX_ATTEMPTS = 5
RESET_LINK_LIFETIME = timedelta(minutes=10)
CODES_PER_DAY = Rule("codes-a-day", 10, timedelta(days=1))
WRONG_CODES_PER_DAY = Rule("wrong-codes-a-day", 20, timedelta(days=1))


def issue_code(session: OrmSession, purpose: str, email: str) -> None:
    """Creates a code, enqueues its mail, and voids earlier codes.

    Raises Throttled within RESEND_INTERVAL, or beyond CODES_PER_DAY.
    """
    lock_address(session, email)
    daily_limit = throttle.hit(session, CODES_PER_DAY, email)
    if daily_limit.exceeded:
        raise Throttled(
            mark_for_translation("Too many codes were sent to this address today."), retry_after=daily_limit.seconds
        )
    nonce = _renew_code(session, purpose, email)
    if nonce is None:
        raise Throttled(
            mark_for_translation("A code was sent a moment ago; wait before asking again."),
            retry_after=_count_seconds_to_resend(session, purpose, email),
        )
    _enqueue_mail(purpose, email, nonce)


def issue_code_when_allowed(
    session: OrmSession, purpose: str, email: str, *, registration: bool = False, language: str | None = None
) -> None:
    """Creates and mails a code as soon as it is allowed. The earlier code is void immediately.

    `language` is that of the page, if not this request's. `registration`: the address was just used to register, so a
    verified owner gets a mail about the existing account.
    That mail counts like a code. The caller has locked the address.
    """
    nonce = _renew_code(session, purpose, email)
    if nonce is not None:
        if not throttle.hit(session, CODES_PER_DAY, email).exceeded:
            _enqueue_mail(purpose, email, nonce, registration=registration, language=language)
        return
    void_code(session, purpose, email)
    delay = timedelta(seconds=_count_seconds_to_resend(session, purpose, email))
    details = {**_registration_flag(registration), **_page_language(language)}
    enqueue("accounts.renew_code", delay=delay, purpose=purpose, email=email, **details)


def build_renewal_job(purpose: str, email: str) -> Work:
    """The job that creates and mails a code, for `enqueue_all`."""
    return job_spec("accounts.renew_code", purpose=purpose, email=email, **_page_language())


def renew_voided_code(
    session: OrmSession, purpose: str, email: str, *, registration: bool, language: str | None
) -> None:
    """Creates and mails the delayed code, unless a later request has created one that is still valid."""
    lock_address(session, email)
    if session.scalar(select(OneTimeCode.used).where(*_code_conditions(purpose, email))) is not False:
        issue_code_when_allowed(session, purpose, email, registration=registration, language=language)


def redeem_code(session: OrmSession, purpose: str, email: str, code: str) -> bool:
    """Whether `code` is the valid code of the address. If so, it is used up.

    An attempt counts before the comparison: five per code, and twenty a day over all codes of a purpose. Without a
    valid code nothing counts, so strangers cannot use up the attempts of an owner who has not requested a code.
    """
    lock_address(session, email)
    nonce = session.scalar(
        update(OneTimeCode)
        .where(
            *_code_conditions(purpose, email),
            ~OneTimeCode.used,
            OneTimeCode.tries < MAX_ATTEMPTS,
            OneTimeCode.expires_at > func.now(),
        )
        .values(tries=OneTimeCode.tries + 1)
        .returning(OneTimeCode.nonce)
        .execution_options(synchronize_session=False)
    )
    if nonce is None:
        return False
    daily_limit = throttle.hit(session, WRONG_CODES_PER_DAY, f"{purpose}:{email}")
    if daily_limit.exceeded:
        return False
    if not same(code, compute_code(purpose, email, nonce)):
        # The code for a new address may be for a stranger's, who need not know of the tries.
        if daily_limit.spent and purpose != CHANGE_EMAIL:
            enqueue(
                "accounts.mail_codes_blocked",
                purpose=purpose,
                email=email,
                tries=daily_limit.hits,
                seconds=daily_limit.seconds,
            )
        return False
    void_code(session, purpose, email)
    throttle.clear(session, WRONG_CODES_PER_DAY, f"{purpose}:{email}")
    return True


def void_code(session: OrmSession, purpose: str, email: str) -> None:
    """Makes the current code of the address invalid."""
    session.execute(update(OneTimeCode).where(*_code_conditions(purpose, email)).values(used=True))


def compute_code(purpose: str, email: str, nonce: str) -> str:
    """The six digits of the code, from its row."""
    number = int.from_bytes(derive("one-time-code", purpose, email, nonce)[:8], "big")
    return f"{number % 1_000_000:06d}"


def _renew_code(session: OrmSession, purpose: str, email: str) -> str | None:
    new_values = {
        "nonce": secrets.token_hex(16),
        "sent_at": func.now(),
        "expires_at": func.now() + CODE_LIFETIME,
        "tries": 0,
        "used": False,
    }
    statement = (
        insert(OneTimeCode)
        .values(purpose=purpose, email=email, **new_values)
        .on_conflict_do_update(
            index_elements=["purpose", "email"],
            set_=new_values,
            where=OneTimeCode.sent_at <= func.now() - RESEND_INTERVAL,
        )
    )
    return session.scalar(statement.returning(OneTimeCode.nonce))


def _count_seconds_to_resend(session: OrmSession, purpose: str, email: str) -> int:
    sent_at: datetime
    sent_at, now = session.execute(
        select(OneTimeCode.sent_at, func.now()).where(*_code_conditions(purpose, email))
    ).one()
    return max(1, int((sent_at + RESEND_INTERVAL - now).total_seconds()) + 1)


def _enqueue_mail(
    purpose: str, email: str, nonce: str, *, registration: bool = False, language: str | None = None
) -> None:
    enqueue(
        "accounts.mail_code",
        key=f"code-{nonce}",
        purpose=purpose,
        email=email,
        nonce=nonce,
        **_registration_flag(registration),
        **_page_language(language),
    )


def _registration_flag(registration: bool) -> dict[str, Any]:
    """The flag only when it is set, because workers of the previous release do not know it."""
    return {"registration": True} if registration else {}


def _page_language(language: str | None = None) -> dict[str, Any]:
    """The language of the page on which the code was requested; left out for English, as above."""
    language = language or find_page_language()
    return {"language": language} if language not in (None, SOURCE_LANGUAGE) else {}


def _code_conditions(purpose: str, email: str) -> tuple[ColumnElement[bool], ...]:
    return OneTimeCode.purpose == purpose, OneTimeCode.email == email


def create_reset_link_token(account: Account, nonce: str) -> str:
    """The token of the reset link, stored as a hash. It sets a new password once, within ten minutes."""
    token = derived_text("reset-link", account.email, nonce)
    with transaction() as session:
        statement = insert(ResetToken).values(
            token_hash=fingerprint(token),
            account_id=account.id,
            password_version=account.password_version,
            expires_at=func.now() + RESET_LINK_LIFETIME,
        )
        session.execute(statement.on_conflict_do_nothing())
    return token
