"""Five wrong shift codes lock for 15 minutes, however many tablets try at once.

A try is counted before the code is compared, and the row stays locked until the answer is known: of a hundred wrong
codes at once exactly five are told to be wrong.
"""

from datetime import timedelta

from sqlalchemy import Integer, case, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.crew.errors import ShiftCodeLocked
from app.crew.models import CodeGuard

TRIES = 5
LOCK = timedelta(minutes=15)


def count_try(session: OrmSession, subject: str) -> None:
    """Counts one more try. Raises ShiftCodeLocked while the five are used up."""
    over = CodeGuard.last_at <= func.now() - LOCK
    statement = insert(CodeGuard).values(subject=subject, tries=1, last_at=func.now())
    counted = session.execute(
        statement.on_conflict_do_update(
            index_elements=["subject"],
            set_={"tries": case((over, 1), else_=CodeGuard.tries + 1), "last_at": func.now()},
            where=or_(over, CodeGuard.tries < TRIES),
        ).returning(CodeGuard.tries)
    )
    if counted.first() is None:
        raise ShiftCodeLocked(retry_after=_wait(session, subject))


def forget_old(session: OrmSession) -> None:
    """Removes what no longer counts."""
    session.execute(delete(CodeGuard).where(CodeGuard.last_at <= func.now() - LOCK))


def _wait(session: OrmSession, subject: str) -> int:
    left = func.ceil(func.extract("epoch", CodeGuard.last_at + LOCK - func.now()))
    seconds = session.scalar(select(func.greatest(1, left).cast(Integer)).where(CodeGuard.subject == subject))
    return seconds or 1
