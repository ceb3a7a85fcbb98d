"""One-time codes: six digits, ten minutes, five tries, one use.

A code is a keyed hash of its row's nonce: nothing that is stored reveals it, and a mail that is sent again
says the same code. Rows belong to addresses, known or not, so that asking takes the same path for both.
"""

import secrets
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import OneTimeCode
from app.core import throttle
from app.core.errors import Throttled
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.tokens import derive, same

VERIFY, RESET = "verify_email", "reset_password"
LIFETIME = timedelta(minutes=10)
GAP = timedelta(seconds=60)
TRIES = 5
PER_DAY = Rule("codes-a-day", 10, timedelta(days=1))
WRONG_PER_DAY = Rule("wrong-codes-a-day", 20, timedelta(days=1))


def issue(session: OrmSession, purpose: str, email: str) -> None:
    """Makes a code and has it mailed. Raises Throttled within the gap or beyond ten a day; earlier codes die."""
    day = throttle.hit(session, PER_DAY, email)
    if day.exceeded:
        raise Throttled("Too many codes were sent to this address today.", retry_after=day.seconds)
    nonce = _renew(session, purpose, email)
    if nonce is None:
        raise Throttled(
            "A code was sent a moment ago; wait before asking again.",
            retry_after=_wait(session, purpose, email),
        )
    _post(purpose, email, nonce)


def issue_soon(session: OrmSession, purpose: str, email: str) -> None:
    """The same without refusing: the earlier code dies at once, the new one is mailed when the gap is over."""
    nonce = _renew(session, purpose, email)
    if nonce is not None:
        if not throttle.hit(session, PER_DAY, email).exceeded:
            _post(purpose, email, nonce)
        return
    session.execute(update(OneTimeCode).where(*_row(purpose, email)).values(used=True))
    wait = timedelta(seconds=_wait(session, purpose, email))
    enqueue("accounts.renew_code", delay=wait, purpose=purpose, email=email)


def spend(session: OrmSession, purpose: str, email: str, code: str) -> bool:
    """Whether `code` is the address's living code; it is used up then. Every call is counted before it compares."""
    if throttle.hit(session, WRONG_PER_DAY, f"{purpose}:{email}").exceeded:
        return False
    nonce = session.scalar(
        update(OneTimeCode)
        .where(
            *_row(purpose, email),
            ~OneTimeCode.used,
            OneTimeCode.tries < TRIES,
            OneTimeCode.expires_at > func.now(),
        )
        .values(tries=OneTimeCode.tries + 1)
        .returning(OneTimeCode.nonce)
        .execution_options(synchronize_session=False)
    )
    if nonce is None or not same(code, code_of(purpose, email, nonce)):
        return False
    session.execute(update(OneTimeCode).where(*_row(purpose, email)).values(used=True))
    throttle.clear(session, WRONG_PER_DAY, f"{purpose}:{email}")
    return True


def code_of(purpose: str, email: str, nonce: str) -> str:
    """The six digits that follow from a row."""
    number = int.from_bytes(derive("one-time-code", purpose, email, nonce)[:8], "big")
    return f"{number % 1_000_000:06d}"


def _renew(session: OrmSession, purpose: str, email: str) -> str | None:
    fresh = {
        "nonce": secrets.token_hex(16),
        "sent_at": func.now(),
        "expires_at": func.now() + LIFETIME,
        "tries": 0,
        "used": False,
    }
    statement = (
        insert(OneTimeCode)
        .values(purpose=purpose, email=email, **fresh)
        .on_conflict_do_update(
            index_elements=["purpose", "email"],
            set_=fresh,
            where=OneTimeCode.sent_at <= func.now() - GAP,
        )
    )
    return session.scalar(statement.returning(OneTimeCode.nonce))


def _wait(session: OrmSession, purpose: str, email: str) -> int:
    sent: datetime
    sent, now = session.execute(select(OneTimeCode.sent_at, func.now()).where(*_row(purpose, email))).one()
    return max(1, int((sent + GAP - now).total_seconds()) + 1)


def _post(purpose: str, email: str, nonce: str) -> None:
    enqueue("accounts.mail_code", key=f"code-{nonce}", purpose=purpose, email=email, nonce=nonce)


def _row(purpose: str, email: str) -> tuple[ColumnElement[bool], ...]:
    return OneTimeCode.purpose == purpose, OneTimeCode.email == email
