"""The daily jobs. Each batch commits by itself, so an interrupted run can continue; a second run changes nothing."""

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import structlog
from flask import current_app

from app.applications import drafts, erasure
from app.audit import erasure as audit
from app.clients import dev_mailbox, storage
from app.core.db import ReadOrWriteSession
from app.core.jobs import Delivery, Postpone, Run, job
from app.core.transaction import transaction
from app.retention import guest_erasure, orphaned_files

DAILY, MAX_RUN_TIME = timedelta(days=1), timedelta(minutes=4)
log = structlog.get_logger("retention")
BatchEraser = Callable[[ReadOrWriteSession], int]


@job("retention.erase", Delivery.LOCAL, bulk=True, time_limit=timedelta(minutes=5), every=DAILY)
def erase_personal_data(run: Run) -> None:
    """Erases documents of ended applications, the rest of erased applications, expired drafts, guests of past events, and
    old entries of the audit trail."""
    settings = current_app.extensions["settings"]
    deadline = time.monotonic() + MAX_RUN_TIME.total_seconds()
    _erase_in_batches(
        run,
        deadline,
        "documents",
        lambda session: erasure.erase_ended_documents(session, settings.DOCUMENT_RETENTION_DAYS),
    )
    _erase_in_batches(run, deadline, "applications", erasure.erase_leftover_wallets)
    _erase_in_batches(run, deadline, "application drafts", drafts.erase_expired_drafts)
    _erase_in_batches(run, deadline, "rows of deleted events", guest_erasure.delete_rows_without_event)
    if settings.GUEST_RETENTION_DAYS:
        for event_id in guest_erasure.list_ended_events(settings.GUEST_RETENTION_DAYS):
            for target in guest_erasure.ERASURE_TARGETS:
                erase_batch = partial(target.erase_batch, event_id=event_id)
                _erase_in_batches(run, deadline, target.name, erase_batch)
    _erase_in_batches(
        run, deadline, "audit entries", lambda session: audit.erase_batch(session, settings.AUDIT_RETENTION_DAYS)
    )
    with transaction() as session:
        run.done_in(session)


@job("retention.sweep_files", Delivery.AT_LEAST_ONCE, bulk=True, time_limit=timedelta(minutes=5), every=DAILY)
def delete_orphaned_files(run: Run) -> None:
    """Removes private files without a row, and restricts the access of private files and folders to their owner."""
    removed_count = 0
    for file in orphaned_files.list_orphaned_files():
        storage.delete(file.name)
        removed_count += 1
    closed_count = storage.close_to_others() + dev_mailbox.close_to_others()
    if removed_count or closed_count:
        log.info("retention.files_swept", removed=removed_count, closed=closed_count)


def _erase_in_batches(run: Run, deadline: float, label: str, erase_batch: BatchEraser) -> None:
    """Erases batch after batch. Raises Postpone at the deadline of this run."""
    erased_count = 0
    while True:
        if time.monotonic() > deadline:
            raise Postpone(timedelta(minutes=1), "more to erase")
        with transaction() as session:
            run.hold_in(session)
            count = erase_batch(session)
        if not count:
            break
        erased_count += count
    if erased_count:
        log.info("retention.erased", what=label, rows=erased_count)
