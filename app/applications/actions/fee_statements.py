"""Recording the stall fees that a bank statement shows as received."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from sqlalchemy import select

from app.accounts.caller import Caller
from app.applications.actions.fees import record_received
from app.applications.fee_statement import MATCHED, MatchedRow, StatementRow, match_rows, parse_statement
from app.applications.models import Application, StallFeeRecord, StallPayment
from app.applications.stall_payments import UNANSWERED_SQL
from app.core.db import ReadOrWriteSession, database_now, release_connection
from app.core.formatting import HOME
from app.core.transaction import transaction
from app.events.queries import get_event

MAX_TEXT = 80


@dataclass(frozen=True)
class StatementResult:
    """The rows of a statement, and whether their fees were only looked for."""

    dry_run: bool
    rows: list[MatchedRow]


def import_statement(caller: Caller, event_id: str, data: bytes, *, dry_run: bool) -> StatementResult:
    """Records every fee of the event that a row of the statement pays, all together, or with `dry_run` none.

    A row that was recorded before changes nothing. Raises NotFound, StatementUnreadable.
    """
    get_event(caller, event_id)
    release_connection()
    rows = parse_statement(data)
    with transaction() as session:
        matched_rows = _match(session, event_id, rows)
        if not dry_run:
            for matched in matched_rows:
                if matched.status == MATCHED:
                    _record(session, caller, matched)
    return StatementResult(dry_run, matched_rows)


def _match(session: ReadOrWriteSession, event_id: str, rows: list[StatementRow]) -> list[MatchedRow]:
    references = {reference for row in rows for reference in row.possible_references}
    # Locked in the order of their ids, as where a merchant is erased, and before their payments are read.
    locked_applications = session.scalars(
        select(Application)
        .where(Application.event_id == event_id, Application.reference.in_(references))
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


def _record(session: ReadOrWriteSession, caller: Caller, matched: MatchedRow) -> None:
    application, received_on = matched.application, matched.row.day
    assert application is not None and received_on is not None
    reference = matched.row.text[:MAX_TEXT] or application.reference
    record_received(session, caller, application, reference=reference, received_on=received_on)
