"""Adds jobs to the outbox; they commit with the action that adds them or not at all.

`enqueue_sql` enqueues one job for each row of a CTE, and sends no wakeup: the relay sends one within a second.

    WITH written AS (INSERT … RETURNING id), queued AS ({enqueue_sql("stalls.write", "written", key=…, payload=…)}) …
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

import orjson
from sqlalchemy import func, update

from app.core.context import request_id
from app.core.db import ReadOrWriteSession, db, fetch_rows
from app.core.jobs import Job, get_job
from app.core.outbox.models import Outbox
from app.core.outbox.wakeup import WakeupQueue, get_wakeup_queue
from app.core.transaction import after_commit

When = datetime | timedelta | None
Payload = Mapping[str, object]
Row = tuple[str | None, Payload]
Work = tuple[str, Payload]
JobRow = tuple[Job, str | None, Payload]
INSERT = """
    INSERT INTO outbox (kind, class, critical, bulk, max_attempts, dedupe_key, payload, aggregate, request_id, run_at,
                        not_after)
    SELECT work.*, %(aggregate)s, %(request_id)s,
           coalesce(%(run_at)s::timestamptz, now() + %(run_after)s::interval, now()),
           coalesce(%(end_at)s::timestamptz, now() + %(end_after)s::interval)
      FROM jsonb_to_recordset(%(jobs)s::jsonb) AS work (
           kind text, class text, critical boolean, bulk boolean, max_attempts int, dedupe_key text, payload jsonb)
    ON CONFLICT (dedupe_key) DO NOTHING
    RETURNING id, kind, run_at <= now()
"""


class EnqueueOutsideTransaction(RuntimeError):
    """The code enqueued a job outside `with transaction():`, so nothing would commit it."""


@dataclass(frozen=True)
class _Wakeup:
    """Sends a wakeup; called after the commit."""

    queue: WakeupQueue
    outbox_id: int
    kind: str

    def __call__(self) -> None:
        self.queue.try_notify(self.outbox_id, self.kind)


def enqueue(
    kind: str,
    *,
    key: str | None = None,
    run_at: datetime | None = None,
    delay: timedelta | None = None,
    not_after: When = None,
    aggregate: str | None = None,
    **payload: object,
) -> int | None:
    """Add a job in the open transaction; return its row id, or None when there is a job with that `key` already.

    The payload holds ids, never secrets. After `not_after` (a time, or a span from now) the job is not tried any
    more. Raises UnknownKind, EnqueueOutsideTransaction.
    """
    ids = _insert([(get_job(kind), key, payload)], run_at or delay, not_after, aggregate)
    return ids[0] if ids else None


def enqueue_many(
    kind: str,
    rows: Iterable[Row],
    *,
    run_at: datetime | None = None,
    delay: timedelta | None = None,
    not_after: When = None,
    aggregate: str | None = None,
) -> int:
    """Add a job for each `(key, payload)` in one statement; return how many of them are new."""
    job = get_job(kind)
    return len(_insert([(job, *row) for row in rows], run_at or delay, not_after, aggregate))


def job_spec(kind: str, **payload: object) -> Work:
    """Return one of the jobs for `enqueue_all`."""
    return kind, payload


def enqueue_all(works: Iterable[Work]) -> int:
    """Add jobs of several kinds, due now, in one statement; return how many."""
    return len(_insert([(get_job(kind), None, payload) for kind, payload in works], None, None, None))


def cancel(key: str) -> bool:
    """Cancel a job that has not started; False when it has started or there is none."""
    statement = update(Outbox).where(Outbox.dedupe_key == key, Outbox.state == "ready")
    result = _open_session().execute(statement.values(state="canceled", done_at=func.now()).returning(Outbox.id))
    return result.first() is not None


def _insert(rows: list[JobRow], run_at: When, not_after: When, aggregate: str | None) -> list[int]:
    session = _open_session()
    if not rows:
        return []
    inserted = fetch_rows(
        INSERT,
        {
            "jobs": orjson.dumps([_build_columns(*row) for row in rows]).decode(),
            "aggregate": aggregate,
            "request_id": request_id.get() or None,
            **_time_params("run", run_at),
            **_time_params("end", not_after),
        },
    )
    first_due = next(((outbox_id, kind) for outbox_id, kind, is_due in inserted if is_due), None)
    if first_due and not any(isinstance(call, _Wakeup) for call in session.info["after_commit"]):
        after_commit(session, _Wakeup(get_wakeup_queue(), *first_due))
    return [outbox_id for outbox_id, _, _ in inserted]


def _build_columns(job: Job, key: str | None, payload: Payload) -> Payload:
    return {
        "kind": job.kind,
        "class": job.delivery,
        "critical": job.critical,
        "bulk": job.bulk,
        "max_attempts": job.max_attempts,
        "dedupe_key": key,
        "payload": payload,
    }


def _time_params(name: str, when: When) -> dict[str, When]:
    """Return the binds of a time; the database adds a span to its own clock."""
    is_span = isinstance(when, timedelta)
    return {f"{name}_at": None if is_span else when, f"{name}_after": when if is_span else None}


def _open_session() -> ReadOrWriteSession:
    session = cast(ReadOrWriteSession, db.session())
    if not session.info.get("writing"):
        raise EnqueueOutsideTransaction("wrap it in `with transaction():`")
    return session


def enqueue_sql(kind: str, rows: str, *, key: str, payload: str, lasting: str) -> str:
    """Return SQL that adds one job for each row of the CTE named `rows` and returns the `id` of each new job.

    `key` and `payload` are SQL expressions over the CTE. After the interval `lasting` the job is not tried any more.
    Raises UnknownKind.
    """
    job = get_job(kind)
    return f"""
        INSERT INTO outbox (kind, class, critical, bulk, max_attempts, dedupe_key, payload, not_after)
        SELECT '{job.kind}', '{job.delivery.value}', {job.critical}, {job.bulk}, {job.max_attempts}, {key},
               {payload}, now() + interval '{lasting}'
          FROM {rows}
        ON CONFLICT (dedupe_key) DO NOTHING RETURNING id"""
