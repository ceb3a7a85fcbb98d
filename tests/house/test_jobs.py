"""Every piece of work that is enqueued has a job that does it."""

import ast

from app.core import jobs
from app.jobs import MODULES
from tests.house.sources import calls, files, name, trees

ENQUEUE = {"enqueue", "enqueue_many", "enqueue_sql", "job_spec"}
OF_OLDER_VERSIONS = {"merchants.farewell"}
"""Kinds that nothing enqueues any more: rows of before an upgrade may still be waiting."""


def test_every_module_with_jobs_is_registered() -> None:
    modules = {name(path) for path in files("app") if path.name == "jobs.py" and path.parent.parent.name == "app"}
    assert modules - {"app/core/jobs.py"} == {f"{module.__name__.replace('.', '/')}.py" for module in MODULES}


def test_every_enqueued_kind_has_a_job() -> None:
    seen = 0
    for path, tree in trees("app", mentioning="enqueue|job_spec"):
        for called, call in calls(tree):
            if called not in ENQUEUE or path.startswith("app/core/outbox/"):
                continue
            kind = call.args[0]
            assert isinstance(kind, ast.Constant), f"{path}:{call.lineno}: name the job by a literal"
            jobs.get_job(kind.value)
            seen += 1
    assert seen > 5


def test_every_job_is_named_after_its_module() -> None:
    for kind, job in jobs._registry.items():
        if job.call.__module__.startswith("app."):
            assert kind.split(".")[0] in job.call.__module__ or kind == "idempotency.sweep", kind


def test_every_job_is_enqueued_or_recurs() -> None:
    enqueued = {
        call.args[0].value
        for path, tree in trees("app", mentioning="enqueue|job_spec")
        for called, call in calls(tree)
        if called in ENQUEUE and call.args and isinstance(call.args[0], ast.Constant)
    }
    enqueued |= {item.ended for item in jobs._registry.values() if item.ended}
    idle = [
        kind
        for kind, job in jobs._registry.items()
        if job.call.__module__.startswith("app.") and not job.every and kind not in enqueued | OF_OLDER_VERSIONS
    ]
    assert idle == []
