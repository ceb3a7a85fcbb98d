"""The stall fees that a bank statement names: locked, and recorded."""

from collections.abc import Collection

from sqlalchemy import select

from app.accounts.caller import Caller
from app.applications.actions.fees import record_received
from app.applications.fee_matches import StatementFees
from app.applications.fee_statement import MAX_TEXT, MatchedRow
from app.applications.models import Application, StallPayment
from app.applications.stall_payments import UNANSWERED_SQL
from app.core.db import ReadOrWriteSession


def lock_fees(session: ReadOrWriteSession, event_ids: Collection[str], references: Collection[str]) -> StatementFees:
    """Lock the applications of events with these references, in the order of their ids, as where a merchant is erased."""
    locked_applications = session.scalars(
        select(Application)
        .where(Application.event_id.in_(event_ids), Application.reference.in_(references))
        .order_by(Application.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    applications = {application.reference: application for application in locked_applications}
    ids = [application.id for application in applications.values()]
    unanswered = select(StallPayment.application_id).where(StallPayment.application_id.in_(ids), UNANSWERED_SQL)
    return StatementFees(applications, set(session.scalars(unanswered)))


def record_fee(session: ReadOrWriteSession, caller: Caller, matched: MatchedRow) -> None:
    """Record the fee that a row pays."""
    application, received_on = matched.application, matched.row.day
    assert application is not None and received_on is not None
    reference = matched.row.text[:MAX_TEXT] or application.reference
    record_received(session, caller, application, reference=reference, received_on=received_on)
