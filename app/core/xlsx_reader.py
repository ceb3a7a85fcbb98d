"""XLSX workbooks that strangers send, read in a child process with bounded memory and time.

A workbook is a packed folder, and a cell far out makes a reader take memory for all that lies between. So it is read
like a picture (see docs/decisions/image-subprocess.md): what a hostile one makes of its process ends with it. The
first sheet that has cells counts; values are those that the workbook holds, and a formula without one is told.
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

SECONDS = 30
CHILD = Path(__file__).with_name("xlsx_subprocess.py")
REASONS = {
    "kind": "The file is packed, but no XLSX workbook; save it as XLSX or CSV.",
    "size": "The workbook unpacks to more than anybody needs; save the one sheet as CSV.",
    "password": "The workbook is protected by a password; save it without.",
    "broken": "The workbook is damaged or cut off, or needs more memory than it may take; save it as CSV.",
}
_one_at_a_time = BoundedSemaphore(1)


class NotASheet(Exception):
    """The file is no table that can be read; the message says why, for people."""


@dataclass(frozen=True)
class Workbook:
    """The rows of a sheet that are not empty with their numbers, and the cells without a value of their own."""

    rows: Iterator[tuple[int, list[str]]]
    flaws: dict[tuple[int, int], str]


def is_workbook(data: bytes) -> bool:
    """Whether the bytes are packed as workbooks are."""
    return data.startswith(b"PK\x03\x04")


def read(data: bytes) -> Workbook:
    """The first sheet that has cells. Raises NotASheet."""
    out = tempfile.TemporaryFile()  # noqa: SIM115  It is read as long as the rows are.
    command = [sys.executable, "-I", str(CHILD)]
    try:
        with _one_at_a_time:
            subprocess.run(
                command, input=data, stdout=out, stderr=subprocess.DEVNULL, timeout=SECONDS, env={}, check=True
            )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        raise NotASheet(REASONS["broken"]) from error
    out.seek(0)
    head = json.loads(out.readline() or '{"error": "broken"}')
    if "error" in head:
        raise NotASheet(REASONS[head["error"]])
    flaws = {(int(row), int(column)): str(code) for row, column, code in head["flaws"]}
    return Workbook(_rows(out, {row for row, _ in flaws}), flaws)


def _rows(out: IO[bytes], flawed: set[int]) -> Iterator[tuple[int, list[str]]]:
    with out:
        for number, line in enumerate(out, 1):
            cells: list[str] = json.loads(line)
            if number in flawed or any(cell and not cell.isspace() for cell in cells):
                yield number, cells
