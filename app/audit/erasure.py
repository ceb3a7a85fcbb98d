"""Erases old entries of the audit trail. The database allows it from MINIMUM_DAYS on."""

from datetime import timedelta

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from app.audit.models import AuditEntry
from app.core.db import db

BATCH_SIZE = 1000


def count_old_entries(days: int) -> int:
    """How many entries are older than so many days."""
    return db.session.scalar(select(func.count()).where(_is_older(days))) or 0


def erase_batch(session: Session, days: int) -> int:
    """Erases at most BATCH_SIZE entries that are older than so many days, and returns how many."""
    oldest = select(AuditEntry.id).where(_is_older(days)).order_by(AuditEntry.at, AuditEntry.id).limit(BATCH_SIZE)
    statement = delete(AuditEntry).where(AuditEntry.id.in_(oldest)).returning(AuditEntry.id)
    return len(session.execute(statement, execution_options={"synchronize_session": False}).all())


def _is_older(days: int) -> ColumnElement[bool]:
    return AuditEntry.at < func.now() - timedelta(days=days)
