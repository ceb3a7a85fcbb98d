"""Notices: mails about changes to an account, sent to its owner."""

from typing import Any

from app.core.outbox import enqueue, job_spec
from app.core.outbox.writer import Work


def enqueue_notice(template: str, account_id: str, **context: Any) -> None:
    """Sends the notice after the open transaction commits. `context` goes to its template."""
    enqueue("accounts.mail_notice", template=template, account_id=account_id, **context)


def build_notice_job(template: str, account_id: str, **context: object) -> Work:
    """The same notice as a job for `enqueue_all`."""
    return job_spec("accounts.mail_notice", template=template, account_id=account_id, **context)
