"""The child process of `app.core.xlsx_reader`: reads one workbook and writes its rows. No module imports it.

Standard input is the file. Standard output is one line of JSON about it, and after it one line for each row.
"""

import io
import json
import re
import sys
import zipfile
from datetime import date, datetime, time, timedelta

MEGABYTE = 1024 * 1024
MEMORY, CPU_SECONDS = 1024 * MEGABYTE, 25
UNPACKED, COLUMNS, CELLS = 192 * MEGABYTE, 1000, 12_000_000
CELL = rb'<(?:\w+:)?c\b(?=[^>]*?\br="([A-Z]{1,3})([0-9]{1,7})")'
FAULT = re.compile(CELL + rb'(?=[^>]*?\bt="e")[^>]*>')
NO_VALUE = re.compile(
    CELL + rb'(?![^>]*?\bt="str")[^>]*>\s*<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*'
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)


class Refused(Exception):
    """The workbook is refused; the message is a key of `REASONS` in `app.core.xlsx_reader`."""


def limit() -> None:
    """Limit the CPU time and memory of this process. On systems without such limits the parent's timeout remains."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):
        pass


def check(package: zipfile.ZipFile) -> None:
    """Unpack everything once to measure it, because the archive's own sizes may be wrong. Raises Refused."""
    if "xl/workbook.xml" not in package.namelist():
        raise Refused("kind")
    remaining = UNPACKED
    for entry in package.infolist():
        with package.open(entry) as file:
            while block := file.read(MEGABYTE):
                remaining -= len(block)
                if remaining < 0:
                    raise Refused("size")


def flaws(package: zipfile.ZipFile, index: int) -> list[tuple[int, int, str]]:
    """Return the cells (row, column, code) with an error or a formula without a value, up to a thousand.

    Sheet files are numbered in the order of the sheets.
    """
    names = [name for name in package.namelist() if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)]
    if index >= len(names):
        return []
    data = package.read(sorted(names, key=sheet_number)[index])
    cells = [(int(match[2]), column_index(match[1]), "error_value") for match in FAULT.finditer(data)]
    if b"<f" in data or b":f" in data:
        cells += [(int(match[2]), column_index(match[1]), "formula_without_value") for match in NO_VALUE.finditer(data)]
    return cells[:1000]


def sheet_number(name: str) -> int:
    return int("".join(filter(str.isdigit, name)))


def column_index(letters: bytes) -> int:
    index = 0
    for letter in letters:
        index = index * 26 + letter - 64
    return index - 1


def format_cell(cell: object) -> str:
    """Return the cell as people type it: whole numbers without a point, days as 2027-02-03."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(float(f"{cell:.15g}"))
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell.total_seconds()) if isinstance(cell, timedelta) else str(cell)


def main(data: bytes) -> None:
    """Write the summary line and the rows. Raises Refused."""
    from python_calamine import CalamineWorkbook

    with zipfile.ZipFile(io.BytesIO(data)) as package:
        check(package)
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        index, sheet = 0, workbook.get_sheet_by_index(0)
        while sheet.total_height == 0 and index + 1 < len(workbook.sheet_names):
            index += 1
            sheet = workbook.get_sheet_by_index(index)
        if sheet.total_width > COLUMNS or sheet.total_width * sheet.total_height > CELLS:
            raise Refused("size")
        write = sys.stdout.write
        write(json.dumps({"flaws": flaws(package, index)}) + "\n")
    for row in sheet.to_python(skip_empty_area=False):
        write(json.dumps([format_cell(cell) for cell in row], ensure_ascii=False) + "\n")


if __name__ == "__main__":
    limit()
    sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n", write_through=False)
    try:
        main(sys.stdin.buffer.read())
    except Refused as refused:
        sys.stdout.write(json.dumps({"error": str(refused)}) + "\n")
    except Exception as error:
        reason = "password" if type(error).__name__ == "PasswordError" else "broken"
        sys.stdout.write(json.dumps({"error": reason}) + "\n")
    sys.stdout.flush()
