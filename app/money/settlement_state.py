"""Whether the settlement report of an event is there, and whether money has moved since it was made."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, exists, func, or_, select

from app.allocations.models import Invoice
from app.audit.actions import Action
from app.audit.models import AuditEntry
from app.core.db import db
from app.events.models import Event, TicketImport
from app.files.models import OrganisationFile
from app.files.states import FAILED
from app.ledger.models import LedgerTransaction

SETTLEMENT_KIND = "settlement"


class LastReport(NamedTuple):
    """When the last report of an event was made, None without one, and whether money has moved since then."""

    made_at: datetime | None
    is_outdated: bool


def find_last_report(event_id: str) -> LastReport:
    """The last settlement report of an event whose file is there. The caller has checked the access to the event."""
    made_at = select(func.max(OrganisationFile.created_at)).where(*_IS_REPORT).correlate(Event).scalar_subquery()
    row = db.session.execute(select(made_at, made_at < LAST_CHANGE_SQL).where(Event.id == event_id)).one()
    return LastReport(row[0], bool(row[1]))


_IS_REPORT = (
    OrganisationFile.organisation_id == Event.organiser_id,
    OrganisationFile.event_id == Event.id,
    OrganisationFile.kind == SETTLEMENT_KIND,
    OrganisationFile.status != FAILED,
)
_CHANGES = (
    select(func.max(LedgerTransaction.occurred_at)).where(LedgerTransaction.event_id == Event.id),
    select(func.max(Invoice.issued_at)).where(Invoice.event_id == Event.id),
    select(func.max(func.greatest(TicketImport.imported_at, TicketImport.undone_at))).where(
        TicketImport.event_id == Event.id
    ),
)
LAST_CHANGE_SQL: ColumnElement[datetime] = func.greatest(
    *(query.correlate(Event).scalar_subquery() for query in _CHANGES)
)
"""When money of an event was last booked, an invoice or a credit note of a block issued, or sales imported."""
_DUE_AT = func.greatest(Event.ends_at, LAST_CHANGE_SQL)
HAS_SETTLEMENT_SQL: ColumnElement[bool] = or_(
    exists().where(*_IS_REPORT, OrganisationFile.created_at >= _DUE_AT),
    exists().where(
        AuditEntry.event_id == Event.id,
        AuditEntry.at >= _DUE_AT,
        AuditEntry.action == Action.FILE_EXPORTED,
        AuditEntry.data["kind"].astext == SETTLEMENT_KIND,
        ~exists().where(OrganisationFile.id == AuditEntry.subject_id, OrganisationFile.created_at < _DUE_AT),
    ),
)
"""Whether a settlement report was made since the end of the event and the last change of its money. A file is kept for a
week, its download is an entry of the audit trail.
"""
