"""Deletion of client reports after thirty days."""

from datetime import timedelta

from sqlalchemy import delete, func

from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction
from app.diagnostics.models import DiagnosticEvent

RETENTION_PERIOD = timedelta(days=30)


@job("diagnostics.sweep", Delivery.LOCAL, every=timedelta(hours=6))
def delete_old_events(run: Run) -> None:
    """Deletes reports older than thirty days."""
    with transaction() as session:
        run.done_in(session)
        session.execute(delete(DiagnosticEvent).where(DiagnosticEvent.received_at < func.now() - RETENTION_PERIOD))
