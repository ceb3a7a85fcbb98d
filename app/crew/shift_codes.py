"""Shift codes: six digits, shown once and stored as a keyed hash. Five wrong codes lock for 15 minutes.

A try is counted before the code is compared, and its row stays locked until the transaction ends. Of a hundred
simultaneous wrong codes exactly five are refused as wrong; the others are locked out.
"""

import secrets
from collections.abc import Container
from datetime import timedelta

import segno
from sqlalchemy import Integer, case, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.core.tokens import derive
from app.crew.errors import ShiftCodeLocked
from app.crew.models import CodeGuard

CODE_DIGITS = 6
MAX_TRIES = 5
LOCK_DURATION = timedelta(minutes=15)


def hash_code(merchant_id: str, event_id: str, code: str) -> str:
    """The keyed hash that the database stores; it cannot be reversed without SECRET_KEY."""
    return derive("shift-code", merchant_id, event_id, code).hex()


def generate_code(merchant_id: str, event_id: str, taken_hashes: Container[str]) -> str:
    """A random code whose hash is not among `taken_hashes`."""
    while True:
        code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"
        if hash_code(merchant_id, event_id, code) not in taken_hashes:
            return code


def draw_code_qr(member_id: str, code: str) -> str:
    """Member id and code as a QR code, for a screen or a badge: the data URI of an SVG."""
    return segno.make(f"{member_id}:{code}", error="m", micro=False).svg_data_uri(scale=4, border=4)


def count_try(session: OrmSession, subject: str) -> None:
    """Counts one try. Raises ShiftCodeLocked after five within the lock duration."""
    is_expired = CodeGuard.last_at <= func.now() - LOCK_DURATION
    statement = insert(CodeGuard).values(subject=subject, tries=1, last_at=func.now())
    result = session.execute(
        statement.on_conflict_do_update(
            index_elements=["subject"],
            set_={"tries": case((is_expired, 1), else_=CodeGuard.tries + 1), "last_at": func.now()},
            where=or_(is_expired, CodeGuard.tries < MAX_TRIES),
        ).returning(CodeGuard.tries)
    )
    if result.first() is None:
        raise ShiftCodeLocked(retry_after=_get_lock_seconds(session, subject))


def delete_expired_tries(session: OrmSession) -> None:
    """Deletes the counts of tries that are older than the lock duration."""
    session.execute(delete(CodeGuard).where(CodeGuard.last_at <= func.now() - LOCK_DURATION))


def _get_lock_seconds(session: OrmSession, subject: str) -> int:
    seconds_left = func.ceil(func.extract("epoch", CodeGuard.last_at + LOCK_DURATION - func.now()))
    seconds = session.scalar(select(func.greatest(1, seconds_left).cast(Integer)).where(CodeGuard.subject == subject))
    return seconds or 1
