"""The kinds of files: what a domain declares so that a worker can make a file of it.

    @file_kind("settlement", "Settlement report", permission=MONEY_READ)
    def make_settlement(task: FileTask) -> FileContent:
        …
        task.update_progress(50)
        return FileContent("settlement.pdf", "application/pdf", data)

A page or route asks for it with `request_file` of `app.files.actions`. An AppError that the function raises ends the work,
and its sentence is shown in Files; after any other error, or when its worker has died, the work is done again, up to
five times. So the function changes nothing, or changes it in the transaction in which it calls `task.finish` or
`task.fail` itself; then it returns None. The module of a kind stands in `app/jobs.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from app.accounts.permissions import PERMISSIONS
from app.core.db import ReadOrWriteSession


@dataclass(frozen=True)
class FileContent:
    """A finished file: its name, its content type and its bytes."""

    name: str
    content_type: str
    data: bytes


class FileTask(Protocol):
    """The work on one file: what was asked for, and how to say how far it is. `app.files.work` implements it."""

    organisation_id: str
    event_id: str | None
    account_id: str
    parameters: Mapping[str, Any]
    input: bytes

    def update_progress(self, percent: int) -> None: ...
    def finish(self, session: ReadOrWriteSession, content: FileContent | None, message: str | None = None) -> None: ...
    def fail(self, session: ReadOrWriteSession, message: str, content: FileContent | None = None) -> None: ...


FileFunction = Callable[[FileTask], FileContent | None]


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its name, its words on the page, and the permission to ask for it and to see it."""

    name: str
    label: str
    permission: str
    make: FileFunction


LABELS: dict[str, str] = {}
"""The words of each kind, for the pages."""
_registry: dict[str, FileKind] = {}


def file_kind(name: str, label: str, *, permission: str) -> Callable[[FileFunction], FileFunction]:
    """Register the function that makes files of this kind."""
    assert permission in PERMISSIONS

    def register(make: FileFunction) -> FileFunction:
        if name in _registry:
            raise TypeError(f"two kinds of files are named {name}")
        _registry[name], LABELS[name] = FileKind(name, label, permission, make), label
        return make

    return register


def get_kind(name: str) -> FileKind:
    """Return the kind of this name. Raises KeyError."""
    return _registry[name]


def list_kinds() -> list[FileKind]:
    """Return all kinds."""
    return list(_registry.values())
