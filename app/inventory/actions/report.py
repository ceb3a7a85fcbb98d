"""Reports on paper: asked for in a request, drawn by a worker."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import select

from app.accounts.caller import Caller
from app.core import throttle
from app.core.db import release
from app.core.errors import Throttled
from app.core.jobs import Run
from app.core.outbox import enqueue
from app.core.session import ReadOrWriteSession
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.events.queries import hold
from app.inventory import long_work, queries
from app.inventory.models import StockJob
from app.inventory.reports import paper, reading
from app.inventory.reports.asking import Asked

KIND, PDF = "report", "application/pdf"
DRAWN_AN_HOUR = Rule("stock-reports", 120, timedelta(hours=1))
MOST_ROWS = 10_000
READ, DRAWN = 10, 95


def report_on_paper(*, caller: Caller, event: Any, question: Asked) -> dict[str, Any]:
    """The job that draws it; the same job for the same question while it is being drawn.

    Raises NotFound, Throttled.
    """
    with transaction() as session:
        # Counting comes first: its row is what lets one caller's questions in one after the other.
        hits = throttle.hit(session, DRAWN_AN_HOUR, caller.id)
        job = _open(session, caller, event.id, question)
        if job is None and not hits.exceeded:
            hold(session, event.id)
            job = StockJob(event_id=event.id, account_id=caller.id, kind=KIND, asked=question.kept(), progress=0)
            session.add(job)
            session.flush()
            enqueue("inventory.report", key=f"inventory-report:{job.id}", job_id=job.id)
    if job is None:
        raise Throttled(retry_after=hits.seconds)
    return long_work.shown(job, caller.id, now=question.at)


def draw(run: Run, job_id: str) -> None:
    """A worker's part. Whoever draws it again, after a death, draws the same: the question has its times in it."""
    job = long_work.begun(run, job_id)
    if job is None:
        return
    _, row = job
    question = Asked.of(row.asked)
    event = queries.around(row.event_id)
    found = reading.as_json(event, question, most=MOST_ROWS)
    release()
    long_work.progressed(run, job_id, READ)
    report = json.loads(found, parse_float=Decimal)
    data = paper.drawn(
        event,
        question,
        report,
        tick=lambda share: long_work.progressed(run, job_id, READ + int((DRAWN - READ) * share)),
    )
    file = long_work.File(f"stock-{question.type}-{paper.today(event, question):%Y-%m-%d}.pdf", PDF, data)
    with transaction() as session:
        long_work.ended(session, run, job_id, {"rows": report["rowCount"]}, file=file, failed=None)


def _open(session: ReadOrWriteSession, caller: Caller, event_id: str, question: Asked) -> StockJob | None:
    """The same question, if it is being answered: by its days, since every second has another time."""
    rows = session.scalars(
        select(StockJob)
        .where(
            StockJob.event_id == event_id,
            StockJob.account_id == caller.id,
            StockJob.kind == KIND,
            StockJob.status.in_(long_work.OPEN),
            StockJob.created_at > question.at - long_work.GIVEN_UP,
        )
        .order_by(StockJob.created_at)
    )
    return next((row for row in rows if Asked.of(row.asked).same_as(question)), None)
