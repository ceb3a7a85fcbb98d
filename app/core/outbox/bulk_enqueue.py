"""Work for many rows at once, without the rows ever leaving the database.

    WITH written AS (INSERT … RETURNING id), queued AS ({enqueuing("stalls.write", "written", key=…, payload=…)}) …

The statement that makes the rows makes their work too. No bell is rung: the relay rings for it within a second.
"""

from app.core.jobs import get_job


def enqueue_sql(kind: str, rows: str, *, key: str, payload: str, lasting: str) -> str:
    """SQL that adds one piece of work for each row of a CTE called `rows`, and gives the `id` of each that is new.

    `key` and `payload` are expressions over it, `lasting` an interval after which it is not tried any more. Raises
    UnknownKind.
    """
    job = get_job(kind)
    return f"""
        INSERT INTO outbox (kind, class, critical, bulk, max_attempts, dedupe_key, payload, not_after)
        SELECT '{job.kind}', '{job.delivery.value}', {job.critical}, {job.bulk}, {job.max_attempts}, {key},
               {payload}, now() + interval '{lasting}'
          FROM {rows}
        ON CONFLICT (dedupe_key) DO NOTHING RETURNING id"""
