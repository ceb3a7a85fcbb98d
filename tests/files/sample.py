"""A kind of file for tests: a text that says what was asked for."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.accounts.permissions import MONEY_READ
from app.core.errors import Unprocessable
from app.files import kinds
from app.files.kinds import FileContent, FileTask, file_kind

SAMPLE = "sample"


@contextmanager
def register_sample() -> Iterator[list[FileTask]]:
    """Register the kind. The list has the tasks that were begun.

    The parameter `refuse` refuses the work, and `failures` is how many attempts break.
    """
    begun: list[FileTask] = []

    @file_kind(SAMPLE, "Sample", permission=MONEY_READ)
    def make_sample(task: FileTask) -> FileContent:
        begun.append(task)
        task.update_progress(50)
        if "refuse" in task.parameters:
            raise Unprocessable("There is nothing in this period.")
        if len(begun) <= task.parameters.get("failures", 0):
            raise RuntimeError("the machine is gone")
        return FileContent("sample.txt", "text/plain", f"word: {task.parameters.get('word')}".encode())

    try:
        yield begun
    finally:
        del kinds._registry[SAMPLE], kinds.LABELS[SAMPLE]
