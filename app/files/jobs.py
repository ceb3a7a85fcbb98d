"""The jobs of files: making one, noting those that failed, and deleting the old ones."""

from datetime import timedelta
from typing import Any

from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction
from app.files import work


@job("files.make", Delivery.LOCAL, time_limit=timedelta(minutes=5), max_attempts=5, ended="files.note_failures")
def make_file(run: Run, *, file_id: str) -> None:
    """Make a file; its content and the end of the job commit together."""
    work.make_file(run, file_id)


@job("files.note_failures", Delivery.LOCAL)
def note_failures(run: Run, *, ends: list[dict[str, Any]]) -> None:
    """Show the files that could not be made as failed."""
    with transaction() as session:
        run.done_in(session)
        work.fail_files(session, [end["payload"]["file_id"] for end in ends])


@job("files.delete_expired", Delivery.LOCAL, every=timedelta(hours=1))
def delete_expired(run: Run) -> None:
    """Delete the files whose seven days are over."""
    with transaction() as session:
        run.done_in(session)
        work.delete_expired_files(session)
