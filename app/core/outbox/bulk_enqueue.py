"""SQL that enqueues one job for each row of a CTE, so that the rows never leave the database.

    WITH written AS (INSERT … RETURNING id), queued AS ({enqueue_sql("stalls.write", "written", key=…, payload=…)}) …

It sends no wakeup: the relay sends one within a second.
"""

from app.core.jobs import get_job


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
