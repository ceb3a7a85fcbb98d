"""The stall fees that a bank statement shows as received: found, and recorded."""

from collections.abc import Collection
from zoneinfo import ZoneInfo

from sqlalchemy import select

from app.accounts.caller import Caller
from app.applications.actions.fees import record_received
from app.applications.fee_matches import match_rows
from app.applications.fee_statement import MAX_TEXT, MatchedRow, StatementRow
from app.applications.models import Application, StallFeeRecord, StallPayment
from app.applications.stall_payments import UNANSWERED_SQL
from app.core.db import ReadOrWriteSession, database_now
from app.core.formatting import HOME


def match_fees(session: ReadOrWriteSession, event_ids: Collection[str], rows: list[StatementRow]) -> list[MatchedRow]:
    """Each row with the fee of the events that it pays; the applications are locked."""
    references = {reference for row in rows for reference in row.possible_references}
    # Locked in the order of their ids, as where a merchant is erased, and before their payments are read.
    locked_applications = session.scalars(
        select(Application)
        .where(Application.event_id.in_(event_ids), Application.reference.in_(references))
        .order_by(Application.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    applications = {application.reference: application for application in locked_applications}
    ids = [application.id for application in applications.values()]
    records = session.scalars(select(StallFeeRecord).where(StallFeeRecord.application_id.in_(ids)))
    unanswered = select(StallPayment.application_id).where(StallPayment.application_id.in_(ids), UNANSWERED_SQL)
    return match_rows(
        rows,
        applications,
        {record.application_id: record for record in records},
        unanswered_ids=set(session.scalars(unanswered)),
        today=database_now().astimezone(ZoneInfo(HOME)).date(),
    )


def record_fee(session: ReadOrWriteSession, caller: Caller, matched: MatchedRow) -> None:
    """Record the fee that a row pays."""
    application, received_on = matched.application, matched.row.day
    assert application is not None and received_on is not None
    reference = matched.row.text[:MAX_TEXT] or application.reference
    record_received(session, caller, application, reference=reference, received_on=received_on)
