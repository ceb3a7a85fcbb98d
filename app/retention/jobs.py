"""The daily jobs. Each page commits by itself: a run that was cut off continues, and a second run changes nothing."""

import time
from collections.abc import Callable
from datetime import timedelta

import structlog
from flask import current_app

from app.applications import erasure
from app.clients import mailbox, storage
from app.core.jobs import Delivery, Postpone, Run, job
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction
from app.retention import files, guests

DAILY, LONGEST = timedelta(days=1), timedelta(minutes=4)
log = structlog.get_logger("retention")
Page = Callable[[ReadOrWriteSession], int]


@job("retention.erase", Delivery.LOCAL, bulk=True, time_limit=timedelta(minutes=5), every=DAILY)
def erase(run: Run) -> None:
    """Erases documents of ended applications, leftovers of erased ones, and guests of events that are long over."""
    settings = current_app.extensions["settings"]
    deadline = time.monotonic() + LONGEST.total_seconds()
    _repeat(run, deadline, "documents", lambda it: erasure.erase_ended_documents(it, settings.DOCUMENT_RETENTION_DAYS))
    _repeat(run, deadline, "applications", erasure.erase_leftovers)
    if settings.GUEST_RETENTION_DAYS:
        for event_id in guests.events_over(settings.GUEST_RETENTION_DAYS):
            for target in guests.TARGETS:
                _repeat(run, deadline, target.name, lambda it, t=target, e=event_id: t.erase_batch(it, e))  # type: ignore[misc]
    with transaction() as session:
        run.done_in(session)


@job("retention.sweep_files", Delivery.AT_LEAST_ONCE, bulk=True, time_limit=timedelta(minutes=5), every=DAILY)
def sweep_files(run: Run) -> None:
    """Removes private files that no row names, and closes private files and folders to other accounts."""
    removed = 0
    for file in files.unnamed_files():
        storage.delete(file.name)
        removed += 1
    closed = storage.close_to_others() + mailbox.close_to_others()
    if removed or closed:
        log.info("retention.files_swept", removed=removed, closed=closed)


def _repeat(run: Run, deadline: float, name: str, page: Page) -> None:
    """Erases page after page. Raises Postpone when the time of this run is used up."""
    erased = 0
    while True:
        if time.monotonic() > deadline:
            raise Postpone(timedelta(minutes=1), "more to erase")
        with transaction() as session:
            run.hold_in(session)
            count = page(session)
        if not count:
            break
        erased += count
    if erased:
        log.info("retention.erased", what=name, rows=erased)
