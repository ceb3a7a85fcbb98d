"""One-time codes: six digits, ten minutes, five tries, one use.

A code is a keyed hash of its row's nonce: nothing that is stored reveals it, and a mail that is sent again
says the same code. Rows belong to addresses, known or not, so that asking takes the same path for both. All of it
happens under the lock of the address.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts.addresses import lock_address
from app.accounts.models import OneTimeCode
from app.core import throttle
from app.core.errors import Throttled
from app.core.outbox import enqueue, errand
from app.core.outbox.writing import Work
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
    lock_address(session, email)
    day = throttle.hit(session, PER_DAY, email)
    if day.exceeded:
        raise Throttled("Too many codes were sent to this address today.", retry_after=day.seconds)
    nonce = _renew(session, purpose, email)
    if nonce is None:
        raise Throttled(
            "A code was sent a moment ago; wait before asking again.",
            retry_after=_wait(session, purpose, email),
        )
    _enqueue_mail(purpose, email, nonce)


def issue_soon(session: OrmSession, purpose: str, email: str, *, registration: bool = False) -> None:
    """The same without refusing: the earlier code dies at once, the new one is mailed when the gap is over.

    `registration`: somebody has just registered with this address, so a verified owner is told that there is an
    account. That mail counts like a code. The caller has locked the address.
    """
    nonce = _renew(session, purpose, email)
    if nonce is not None:
        if not throttle.hit(session, PER_DAY, email).exceeded:
            _enqueue_mail(purpose, email, nonce, registration=registration)
        return
    void(session, purpose, email)
    wait = timedelta(seconds=_wait(session, purpose, email))
    enqueue("accounts.renew_code", delay=wait, purpose=purpose, email=email, **_flag(registration))


def renewal_job(purpose: str, email: str) -> Work:
    """The job that makes and mails a code, for `enqueue_all`."""
    return errand("accounts.renew_code", purpose=purpose, email=email)


def renew_void(session: OrmSession, purpose: str, email: str, *, registration: bool) -> None:
    """Makes and mails the code that waited for the gap, unless a later request has made one that still counts."""
    lock_address(session, email)
    if session.scalar(select(OneTimeCode.used).where(*_row(purpose, email))) is not False:
        issue_soon(session, purpose, email, registration=registration)


def spend(session: OrmSession, purpose: str, email: str, code: str) -> bool:
    """Whether `code` is the address's living code; it is used up then.

    A try at a living code is counted before it is compared: five a code, and twenty a day over all codes of a purpose.
    Without a living code nothing is counted, so nobody can use up the tries of an owner who has not asked for a code.
    """
    lock_address(session, email)
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
    if nonce is None:
        return False
    day = throttle.hit(session, WRONG_PER_DAY, f"{purpose}:{email}")
    if day.exceeded:
        return False
    if not same(code, code_of(purpose, email, nonce)):
        if day.spent:
            enqueue("accounts.mail_codes_blocked", purpose=purpose, email=email, tries=day.hits, seconds=day.seconds)
        return False
    void(session, purpose, email)
    throttle.clear(session, WRONG_PER_DAY, f"{purpose}:{email}")
    return True


def void(session: OrmSession, purpose: str, email: str) -> None:
    """Ends the address's living code: what it was for has happened."""
    session.execute(update(OneTimeCode).where(*_row(purpose, email)).values(used=True))


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


def _enqueue_mail(purpose: str, email: str, nonce: str, *, registration: bool = False) -> None:
    enqueue("accounts.mail_code", key=f"code-{nonce}", purpose=purpose, email=email, nonce=nonce, **_flag(registration))


def _flag(registration: bool) -> dict[str, Any]:
    """Only where it is set: workers of the release before do not know it."""
    return {"registration": True} if registration else {}


def _row(purpose: str, email: str) -> tuple[ColumnElement[bool], ...]:
    return OneTimeCode.purpose == purpose, OneTimeCode.email == email
