"""enqueue(): the only way work leaves an action, and it commits with the action or not at all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

import orjson
from sqlalchemy import func, update

from app.core.context import request_id
from app.core.db import db, fetch_rows
from app.core.jobs import Job, get_job
from app.core.outbox.models import Outbox
from app.core.outbox.wakeup import WakeupQueue, get_wakeup_queue
from app.core.session import ReadOrWriteSession
from app.core.transaction import after_commit

When = datetime | timedelta | None
Row = tuple[str | None, Mapping[str, Any]]
Work = tuple[str, Mapping[str, Any]]
JobRow = tuple[Job, str | None, Mapping[str, Any]]
INSERT = """
    INSERT INTO outbox (kind, class, critical, bulk, max_attempts, dedupe_key, payload, aggregate, request_id, run_at,
                        not_after)
    SELECT work.*, %(aggregate)s, %(request_id)s,
           coalesce(%(run_at)s::timestamptz, now() + %(run_after)s::interval, now()),
           coalesce(%(end_at)s::timestamptz, now() + %(end_after)s::interval)
      FROM unnest(%(kinds)s::text[], %(classes)s::text[], %(criticals)s::boolean[], %(bulks)s::boolean[],
                  %(tries)s::int[], %(keys)s::text[], %(payloads)s::jsonb[]) AS work
    ON CONFLICT (dedupe_key) DO NOTHING
    RETURNING id, run_at <= now()
"""


class EnqueueOutsideTransaction(RuntimeError):
    """Work was enqueued outside `with transaction():`, so nothing would commit it."""


@dataclass(frozen=True)
class _Wakeup:
    """Called after the commit."""

    bell: WakeupQueue
    outbox_id: int

    def __call__(self) -> None:
        self.bell.try_notify(self.outbox_id)


def enqueue(
    kind: str,
    *,
    key: str | None = None,
    run_at: datetime | None = None,
    delay: timedelta | None = None,
    not_after: When = None,
    aggregate: str | None = None,
    **payload: Any,
) -> int | None:
    """Adds work to the open transaction; its row's id, or None when work with that `key` is there already.

    The payload holds ids, never secrets. Past `not_after` (a moment, or a span from now) it is not tried any
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
    """`enqueue` for many `(key, payload)` in one statement; how many of them are new."""
    job = get_job(kind)
    return len(_insert([(job, *row) for row in rows], run_at or delay, not_after, aggregate))


def job_spec(kind: str, **payload: Any) -> Work:
    """One of the pieces that `enqueue_all` adds."""
    return kind, payload


def enqueue_all(works: Iterable[Work]) -> int:
    """`enqueue` for `errand`s of several kinds, due now, in one statement; how many rows."""
    return len(_insert([(get_job(kind), None, payload) for kind, payload in works], None, None, None))


def cancel(key: str) -> bool:
    """Takes work back that nobody has begun; False when it is too late or there is none."""
    statement = update(Outbox).where(Outbox.dedupe_key == key, Outbox.state == "ready")
    result = _open_session().execute(statement.values(state="canceled", done_at=func.now()).returning(Outbox.id))
    return result.first() is not None


def _insert(rows: list[JobRow], run_at: When, not_after: When, aggregate: str | None) -> list[int]:
    session = _open_session()
    if not rows:
        return []
    jobs = [job for job, _, _ in rows]
    written = fetch_rows(
        INSERT,
        {
            "kinds": [job.kind for job in jobs],
            "classes": [job.delivery.value for job in jobs],
            "criticals": [job.critical for job in jobs],
            "bulks": [job.bulk for job in jobs],
            "tries": [job.max_attempts for job in jobs],
            "keys": [key for _, key, _ in rows],
            "payloads": [orjson.dumps(payload).decode() for _, _, payload in rows],
            "aggregate": aggregate,
            "request_id": request_id.get() or None,
            **_time_params("run", run_at),
            **_time_params("end", not_after),
        },
    )
    due = [outbox_id for outbox_id, is_due in written if is_due]
    if due:
        _wake_after_commit(session, due[0])
    return [outbox_id for outbox_id, _ in written]


def _wake_after_commit(session: ReadOrWriteSession, outbox_id: int) -> None:
    if not any(isinstance(call, _Wakeup) for call in session.info["after_commit"]):
        after_commit(session, _Wakeup(get_wakeup_queue(), outbox_id))


def _time_params(name: str, when: When) -> dict[str, When]:
    """A span counts from now by the database's clock."""
    is_span = isinstance(when, timedelta)
    return {f"{name}_at": None if is_span else when, f"{name}_after": when if is_span else None}


def _open_session() -> ReadOrWriteSession:
    session = cast(ReadOrWriteSession, db.session())
    if not session.info.get("writing"):
        raise EnqueueOutsideTransaction("wrap it in `with transaction():`")
    return session
