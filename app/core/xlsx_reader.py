"""Reads XLSX workbooks of users in a child process with limited memory and time.

A workbook is a ZIP archive, and a single cell far from the others makes a reader allocate memory for all between. So it
is read like a picture (docs/decisions/image-subprocess.md): a hostile file harms only the child. The first sheet with
cells is read; formulas have the value that the workbook stores, and those without one are reported.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore
from typing import IO

from app.core.languages import mark_for_translation

SECONDS = 30
CHILD = Path(__file__).with_name("xlsx_subprocess.py")
REASONS = {
    "kind": mark_for_translation("This is not an XLSX workbook. Save it as XLSX or CSV."),
    "size": mark_for_translation("The workbook is too large. Save the one sheet as CSV."),
    "password": mark_for_translation("The workbook is protected by a password. Save it without one."),
    "broken": mark_for_translation("The workbook is damaged or too large. Save it as CSV."),
}
_one_at_a_time = BoundedSemaphore(1)


class NotASheet(Exception):
    """The file is not a readable table; the message tells users why."""


@dataclass(frozen=True)
class Workbook:
    """The numbered rows of a sheet that are not empty, and the cells with an error or a formula without a value."""

    rows: Iterator[tuple[int, list[str]]]
    flaws: dict[tuple[int, int], str]


def is_workbook(data: bytes) -> bool:
    """Whether the bytes begin like a ZIP archive."""
    return data.startswith(b"PK\x03\x04")


def read(data: bytes) -> Workbook:
    """Return the first sheet that has cells. Raises NotASheet."""
    output = tempfile.TemporaryFile()  # noqa: SIM115  The rows are read from it after this function returned.
    command = [sys.executable, "-I", str(CHILD)]
    try:
        with _one_at_a_time:
            subprocess.run(
                command, input=data, stdout=output, stderr=subprocess.DEVNULL, timeout=SECONDS, env={}, check=True
            )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        raise NotASheet(REASONS["broken"]) from error
    output.seek(0)
    summary = json.loads(output.readline() or '{"error": "broken"}')
    if "error" in summary:
        raise NotASheet(REASONS[summary["error"]])
    flaws = {(int(row), int(column)): str(code) for row, column, code in summary["flaws"]}
    return Workbook(_read_rows(output, {row for row, _ in flaws}), flaws)


def _read_rows(output: IO[bytes], flawed_rows: set[int]) -> Iterator[tuple[int, list[str]]]:
    with output:
        for number, line in enumerate(output, 1):
            cells: list[str] = json.loads(line)
            if number in flawed_rows or any(cell and not cell.isspace() for cell in cells):
                yield number, cells
