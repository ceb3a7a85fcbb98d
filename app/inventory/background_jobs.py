"""Long work that people wait for: a row says how far it is, and in the end what came of it and where to fetch it.

job = StockJob(event_id=…, account_id=…, kind="report", asked={…})     # with enqueue(…) in one transaction
found = begun(run, job.id)                                             # in the worker; None: it is over already
progressed(run, job.id, 40)
ended(session, run, job.id, result, file=File(…), failed=None)         # commits with the work itself
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from flask import current_app
from sqlalchemy import delete, func, select, update

from app.core.db import database_now
from app.core.jobs import Run
from app.core.session import ReadOrWriteSession
from app.core.signed_downloads import sign_download_token
from app.core.transaction import transaction
from app.events.queries import hold
from app.inventory.models import StockJob

LINK_PURPOSE = "stock-file"
RETENTION = timedelta(days=2)
TIMEOUT = timedelta(hours=2)
STEPS: dict[str, frozenset[str]] = {
    "queued": frozenset({"running"}),
    "running": frozenset({"done", "failed"}),
    "done": frozenset(),
    "failed": frozenset(),
}
OPEN_STATES = tuple(state for state, next_states in STEPS.items() if next_states)


@dataclass(frozen=True)
class JobFile:
    """What can be fetched when work is done."""

    name: str
    content_type: str
    data: bytes


def build_file_path(event_id: str, job_id: str) -> str:
    """Where the file of a job is fetched, with the same token as everything else."""
    return f"/api/events/{event_id}/inventory/reports?jobId={job_id}&download=true"


def build_download_url(job: StockJob, viewer_id: str) -> str:
    """Where this viewer fetches the file of a job within the next five minutes, without a token beside it."""
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/api/events/{job.event_id}/inventory/reports/files/{sign_download_token(LINK_PURPOSE, job.id, viewer_id)[0]}"


def serialize_job(job: StockJob, viewer_id: str, *, now: datetime | None = None) -> dict[str, Any]:
    """A job as it goes out to a viewer. What has not ended after two hours will not end."""
    is_timed_out = job.status in OPEN_STATES and job.created_at < (now or database_now()) - TIMEOUT
    return {
        "job_id": job.id,
        "kind": job.kind,
        "status": "failed" if is_timed_out else job.status,
        "progress": job.progress,
        "result": job.result or {},
        **({"download_url": build_download_url(job, viewer_id)} if job.file_name else {}),
        **({"error": "GIVEN_UP" if is_timed_out else job.error} if is_timed_out or job.error else {}),
    }


def start_job(run: Run, job_id: str) -> tuple[bytes, StockJob] | None:
    """The input of a job that begins now, and the job; None when there is none any more, or it has ended."""
    with transaction() as session:
        job = session.scalar(
            select(StockJob).where(StockJob.id == job_id, StockJob.status.in_(OPEN_STATES)).with_for_update()
        )
        if job is None:
            run.done_in(session)
            return None
        data = session.scalar(select(StockJob.input).where(StockJob.id == job_id)) or b""
        job.status, job.progress = "running", 0
    return data, job


def update_progress(run: Run, job_id: str, percent: int) -> None:
    """Tells how far a job is, and keeps its lease."""
    with transaction() as session:
        run.hold_in(session)
        session.execute(update(StockJob).where(StockJob.id == job_id).values(progress=percent))


def finish_job(
    session: ReadOrWriteSession,
    run: Run,
    job_id: str,
    result: dict[str, object],
    *,
    file: JobFile | None,
    error: str | None,
) -> None:
    """Writes down what came of a job, in the transaction that does it."""
    run.done_in(session)
    session.execute(
        update(StockJob)
        .where(StockJob.id == job_id)
        .values(
            status="failed" if error else "done",
            error=error,
            progress=100,
            result=result,
            input=None,
            finished_at=func.now(),
            **_build_file_values(file),
        )
    )


def create_finished_job(
    session: ReadOrWriteSession, event_id: str, account_id: str, kind: str, file: JobFile | None
) -> str:
    """Keeps a file that was made at once, as work that is done; the id of its job. Raises NotFound."""
    hold(session, event_id)
    job = StockJob(
        event_id=event_id, account_id=account_id, kind=kind, status="done", progress=100, **_build_file_values(file)
    )
    session.add(job)
    session.flush()
    return job.id


def delete_old_jobs(session: ReadOrWriteSession) -> None:
    """Removes what nobody can fetch any more."""
    session.execute(delete(StockJob).where(StockJob.created_at < func.now() - RETENTION))


def _build_file_values(file: JobFile | None) -> dict[str, Any]:
    return {} if file is None else {"file": file.data, "file_name": file.name, "file_type": file.content_type}
