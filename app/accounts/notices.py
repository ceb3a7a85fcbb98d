"""Mails that tell the owner of an account what happened to it."""

from typing import Any

from app.core.outbox import enqueue, job_spec
from app.core.outbox.writer import Work


def enqueue_notice(template: str, account_id: str, **context: Any) -> None:
    """Mails the notice when the open transaction has committed; `context` is for its template."""
    enqueue("accounts.mail_notice", template=template, account_id=account_id, **context)


def build_notice_job(template: str, account_id: str, **context: Any) -> Work:
    """The same as a job, for `enqueue_all`."""
    return job_spec("accounts.mail_notice", template=template, account_id=account_id, **context)
