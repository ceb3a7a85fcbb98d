"""PDF reports: requested in a request, drawn by a background job."""

import json
from datetime import timedelta
from decimal import Decimal

from sqlalchemy import select

from app.accounts.caller import Caller
from app.core import throttle
from app.core.db import ReadOrWriteSession, release_connection
from app.core.errors import NotFound, Throttled
from app.core.jobs import Run
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.events.queries import hold
from app.inventory import background_jobs, queries
from app.inventory.item_fields import JsonObject
from app.inventory.models import StockJob
from app.inventory.queries import StockEvent
from app.inventory.reports import report_pdf, report_queries
from app.inventory.reports.parameters import ReportParameters

REPORT_KIND, PDF_TYPE = "report", "application/pdf"
REPORT_LIMIT = Rule("stock-reports", 120, timedelta(hours=1))
MAX_ROWS = 10_000
LOADED_PERCENT, DRAWN_PERCENT = 10, 95


def request_report_pdf(*, caller: Caller, event: StockEvent, parameters: ReportParameters) -> JsonObject:
    """Start the job that draws a report, or return the open job of the same report.

    Raises NotFound, Throttled.
    """
    with transaction() as session:
        # The throttle comes first: its row lock runs the requests of one caller one after the other.
        hits = throttle.hit(session, REPORT_LIMIT, caller.client_id)
        job = _find_open_job(session, caller, event.id, parameters)
        if job is None and not hits.exceeded:
            hold(session, event.id)
            job = StockJob(
                event_id=event.id, account_id=caller.id, kind=REPORT_KIND, asked=parameters.to_dict(), progress=0
            )
            session.add(job)
            session.flush()
            enqueue("inventory.report", key=f"inventory-report:{job.id}", job_id=job.id)
    if job is None:
        raise Throttled(retry_after=hits.seconds)
    return background_jobs.serialize_job(job, caller.session_id, now=parameters.at)


def run_report_job(run: Run, job_id: str) -> None:
    """Draw the report of a job. A retry draws the same report, because the parameters contain its times."""
    started_job = background_jobs.start_job(run, job_id)
    if started_job is None:
        return
    _, stock_job = started_job
    parameters = ReportParameters.from_dict(stock_job.asked)
    event = queries.find_event_for_report(stock_job.event_id)
    if event is None:
        raise NotFound()
    report_json = report_queries.load_report_json(event, parameters, row_limit=MAX_ROWS)
    release_connection()
    background_jobs.update_progress(run, job_id, LOADED_PERCENT)
    report = json.loads(report_json, parse_float=Decimal)
    data = report_pdf.draw_report(
        event,
        parameters,
        report,
        on_progress=lambda share: background_jobs.update_progress(
            run, job_id, LOADED_PERCENT + int((DRAWN_PERCENT - LOADED_PERCENT) * share)
        ),
    )
    file = background_jobs.JobFile(
        f"stock-{parameters.type}-{report_pdf.get_report_date(event, parameters):%Y-%m-%d}.pdf", PDF_TYPE, data
    )
    with transaction() as session:
        background_jobs.finish_job(session, run, job_id, {"rows": report["rowCount"]}, file=file, error=None)


def _find_open_job(
    session: ReadOrWriteSession, caller: Caller, event_id: str, parameters: ReportParameters
) -> StockJob | None:
    """Return the open job of the same report; its time of request may differ."""
    jobs = session.scalars(
        select(StockJob)
        .where(
            StockJob.event_id == event_id,
            StockJob.account_id == caller.id,
            StockJob.kind == REPORT_KIND,
            StockJob.status.in_(background_jobs.OPEN_STATES),
            StockJob.created_at > parameters.at - background_jobs.TIMEOUT,
        )
        .order_by(StockJob.created_at)
    )
    return next(
        (stock_job for stock_job in jobs if ReportParameters.from_dict(stock_job.asked).is_same_report(parameters)),
        None,
    )
