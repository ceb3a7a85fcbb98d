"""The work on a file: started by a worker, and ended with its content or with the reason of its failure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, select, update

from app.core.db import ReadOrWriteSession, release_connection
from app.core.errors import AppError
from app.core.jobs import Run
from app.core.transaction import transaction
from app.files.kinds import FileContent, get_kind
from app.files.models import OrganisationFile
from app.files.states import DONE, FAILED, OPEN_STATES, RETENTION, RUNNING

FAILURE = "This did not work, by our mistake. Ask for it again."


@dataclass
class Task:
    """One attempt at a file; `FileTask` of `app.files.kinds` says what a kind uses of it."""

    run: Run
    id: str
    kind: str
    organisation_id: str
    event_id: str | None
    account_id: str
    parameters: Mapping[str, Any]
    input: bytes

    def update_progress(self, percent: int) -> None:
        """Record how far the work is, and extend the lease of its run. Raises LostLease."""
        with transaction() as session:
            self.run.hold_in(session)
            session.execute(self._update().values(progress=percent))

    def finish(self, session: ReadOrWriteSession, content: FileContent | None, message: str | None = None) -> None:
        """Record the file in the open transaction; `message` says what the work did. Raises LostLease."""
        self._end(session, DONE, content, message)

    def fail(self, session: ReadOrWriteSession, message: str, content: FileContent | None = None) -> None:
        """Record in the open transaction why it failed, with a file of the errors if there is one. Raises LostLease."""
        self._end(session, FAILED, content, message)

    def _end(self, session: ReadOrWriteSession, status: str, content: FileContent | None, message: str | None) -> None:
        self.run.done_in(session)
        values: dict[str, Any] = {}
        if content is not None:
            values = {"name": content.name, "content_type": content.content_type, "content": content.data}
        session.execute(self._update().values(**values, **_build_end(status, message)))

    def _update(self) -> Any:
        return update(OrganisationFile).where(OrganisationFile.id == self.id)


def make_file(run: Run, file_id: str) -> None:
    """Make a file and record its content, or why that cannot be done. A deleted or ended one is left alone."""
    task = _start(run, file_id)
    if task is None:
        return
    try:
        content = get_kind(task.kind).make(task)
    except AppError as error:
        with transaction() as session:
            task.fail(session, error.text)
        return
    release_connection()
    if content is not None:
        with transaction() as session:
            task.finish(session, content)


def fail_files(session: ReadOrWriteSession, file_ids: Iterable[str]) -> None:
    """Record that these files could not be made."""
    session.execute(
        update(OrganisationFile)
        .where(OrganisationFile.id.in_(file_ids), OrganisationFile.status.in_(OPEN_STATES))
        .values(**_build_end(FAILED, FAILURE))
    )


def delete_expired_files(session: ReadOrWriteSession) -> None:
    """Delete the files whose seven days are over."""
    session.execute(delete(OrganisationFile).where(OrganisationFile.expires_at <= func.now()))


def _start(run: Run, file_id: str) -> Task | None:
    with transaction() as session:
        file = session.scalar(
            select(OrganisationFile)
            .where(OrganisationFile.id == file_id, OrganisationFile.status.in_(OPEN_STATES))
            .with_for_update()
        )
        if file is None:
            run.done_in(session)
            return None
        file.status, file.progress = RUNNING, 0
        return Task(
            run,
            file.id,
            file.kind,
            file.organisation_id,
            file.event_id,
            file.account_id,
            file.parameters,
            file.input or b"",
        )


def _build_end(status: str, message: str | None) -> dict[str, Any]:
    return {
        "status": status,
        "message": message,
        "progress": 100,
        "input": None,
        "finished_at": func.now(),
        "expires_at": func.now() + RETENTION,
    }
