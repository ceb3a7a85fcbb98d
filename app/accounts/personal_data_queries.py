"""What the page of a person's data shows."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, true

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.personal_data_models import FAILED, QUEUED, DataExport
from app.core.db import db


@dataclass(frozen=True)
class PersonalDataStatus:
    """When the account is deleted, and the state of their newest copy."""

    deletes_at: datetime | None
    is_export_queued: bool
    has_export_failed: bool
    export_expires_at: datetime | None


def load_personal_data_status(caller: Caller) -> PersonalDataStatus:
    """The status of the caller's own account."""
    newest_export = (
        select(DataExport.status, DataExport.expires_at)
        .where(DataExport.account_id == Account.id)
        .order_by(DataExport.id.desc())
        .limit(1)
        .lateral("newest_export")
    )
    is_valid = newest_export.c.expires_at > func.now()
    query = (
        select(
            Account.deletion_due_at,
            newest_export.c.status,
            newest_export.c.expires_at,
            is_valid.label("is_valid"),
        )
        .outerjoin(newest_export, true())
        .where(Account.id == caller.id)
    )
    row = db.session.execute(query).one()
    return PersonalDataStatus(
        row.deletion_due_at,
        row.status == QUEUED,
        row.status == FAILED,
        row.expires_at if row.is_valid else None,
    )
