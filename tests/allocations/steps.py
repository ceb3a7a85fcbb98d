"""Steps of release plans whose time has come."""

from typing import Any

from tests.factories.allocations import Block
from tests.factories.payouts import execute_sql, fetch_scalar, run_all_jobs

PASS_STEP = """
    UPDATE allocation_block SET release_plan = jsonb_set(
        release_plan, ARRAY[:index, 'due_at'], to_jsonb(CAST(now() - interval '1 second' AS text)))
     WHERE id = :id
"""
STEP_JOB = """
    SELECT o.id FROM outbox o JOIN allocation_block b ON b.id = :id
     WHERE o.payload ->> 'step_id' = b.release_plan -> CAST(:index AS integer) ->> 'id'
"""


def pass_step(made: Block, index: int) -> int:
    """Let the time of a step come; return the id of its job."""
    execute_sql(PASS_STEP, id=made.id, index=str(index))
    job_id: int = fetch_scalar(STEP_JOB, id=made.id, index=index)
    execute_sql("UPDATE outbox SET run_at = now() WHERE id = :id", id=job_id)
    return job_id


def run_newest_step(made: Block) -> dict[str, Any]:
    """Run the step that has not run; return it. The order of the steps is that of their times."""
    pass_step(made, len(made.now()["releasePlan"]) - 1)
    run_all_jobs()
    step: dict[str, Any] = made.now()["releasePlan"][-1]
    return step
