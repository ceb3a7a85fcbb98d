"""Shift codes: six digits, shown once, of which a keyed hash is kept.

Five wrong shift codes lock for 15 minutes, however many tablets try at once.

A try is counted before the code is compared, and the row stays locked until the answer is known: of a hundred wrong
codes at once exactly five are told to be wrong.
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


def hash_code(merchant_id: str, event_id: str, code: str) -> str:
    """What the database keeps; without SECRET_KEY nobody finds the code in it."""
    return derive("shift-code", merchant_id, event_id, code).hex()


def generate_code(merchant_id: str, event_id: str, taken_hashes: Container[str]) -> str:
    """A code that nobody at the stall has."""
    while True:
        code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"
        if hash_code(merchant_id, event_id, code) not in taken_hashes:
            return code


def draw_code_qr(member_id: str, code: str) -> str:
    """Member and code as a QR picture, for the screen or for a badge: a data address of an SVG."""
    return segno.make(f"{member_id}:{code}", error="m", micro=False).svg_data_uri(scale=4, border=4)


MAX_TRIES = 5
LOCK_DURATION = timedelta(minutes=15)


def count_try(session: OrmSession, subject: str) -> None:
    """Counts one more try. Raises ShiftCodeLocked while the five are used up."""
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
    """Removes what no longer counts."""
    session.execute(delete(CodeGuard).where(CodeGuard.last_at <= func.now() - LOCK_DURATION))


def _get_lock_seconds(session: OrmSession, subject: str) -> int:
    seconds_left = func.ceil(func.extract("epoch", CodeGuard.last_at + LOCK_DURATION - func.now()))
    seconds = session.scalar(select(func.greatest(1, seconds_left).cast(Integer)).where(CodeGuard.subject == subject))
    return seconds or 1
