"""Background jobs: a row has the progress of a job, and in the end its result and its file.

StockJob(event_id=…, account_id=…, kind="report", asked={…})           # in one transaction with enqueue(…)
start_job(run, job_id)                                                 # in the worker; None when it has ended already
update_progress(run, job_id, 40)
finish_job(session, run, job_id, result, file=JobFile(…), error=None)  # in the transaction of the work itself
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypedDict

from flask import current_app
from sqlalchemy import ColumnElement, and_, delete, func, select, update

from app.core.db import ReadOrWriteSession, database_now
from app.core.jobs import Run
from app.core.tokens import sign_download_token
from app.core.transaction import transaction
from app.events.queries import hold
from app.inventory.item_fields import JsonObject
from app.inventory.models import StockJob

IMPORT_KIND = "import"
LINK_PURPOSE = "stock-file"
RETENTION = timedelta(days=7)
TIMEOUT = timedelta(hours=2)
STEPS: dict[str, frozenset[str]] = {
    "queued": frozenset({"running"}),
    "running": frozenset({"done", "failed"}),
    "done": frozenset(),
    "failed": frozenset(),
}
IS_KEPT_SQL: ColumnElement[bool] = StockJob.asked["kept"].astext == "true"
OPEN_STATES = tuple(state for state, next_states in STEPS.items() if next_states)


class _FileValues(TypedDict, total=False):
    file: bytes
    file_name: str
    file_type: str


@dataclass(frozen=True)
class JobFile:
    """The file of a finished job."""

    name: str
    content_type: str
    data: bytes


def build_file_path(event_id: str, job_id: str) -> str:
    """Return the path of a job's file, for requests with an access token."""
    return f"/api/events/{event_id}/inventory/reports?jobId={job_id}&download=true"


def build_download_url(job: StockJob, viewer_id: str) -> str:
    """Return a URL of a job's file that works for this session, device or key for five minutes."""
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    token, _ = sign_download_token(LINK_PURPOSE, job.id, viewer_id)
    return f"{base_url}/api/events/{job.event_id}/inventory/reports/files/{token}"


def serialize_job(job: StockJob, viewer_id: str, *, now: datetime | None = None) -> JsonObject:
    """Return a job for a response. A job that is open for two hours has failed."""
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
    """Mark a job as running and return its input and the job; None when it was deleted or has ended."""
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
    """Record the progress of a job and extend the lease of its run."""
    with transaction() as session:
        run.hold_in(session)
        session.execute(update(StockJob).where(StockJob.id == job_id).values(progress=percent))


def finish_job(
    session: ReadOrWriteSession,
    run: Run,
    job_id: str,
    result: JsonObject,
    *,
    file: JobFile | None,
    error: str | None,
) -> None:
    """Record the result of a job in the transaction of its work."""
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
    """Keep a file as a finished job and return the id of the job. Raises NotFound."""
    hold(session, event_id)
    job = StockJob(
        event_id=event_id, account_id=account_id, kind=kind, status="done", progress=100, **_build_file_values(file)
    )
    session.add(job)
    session.flush()
    return job.id


def is_waiting_import_sql() -> ColumnElement[bool]:
    """Return the condition of a kept file whose import was not started, for two hours."""
    return and_(StockJob.kind == IMPORT_KIND, IS_KEPT_SQL, StockJob.created_at > func.now() - TIMEOUT)


def delete_old_jobs(session: ReadOrWriteSession) -> None:
    """Delete the jobs older than seven days."""
    session.execute(delete(StockJob).where(StockJob.created_at < func.now() - RETENTION))


def _build_file_values(file: JobFile | None) -> _FileValues:
    return {} if file is None else {"file": file.data, "file_name": file.name, "file_type": file.content_type}
