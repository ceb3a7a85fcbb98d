"""Reads one workbook and writes its rows. Run by `app.core.xlsx_reader`, imported by nobody.

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
    """The reason is one of those that `app.core.xlsx_reader` has words for."""


def limit() -> None:
    """Bounds what this process may take. Systems without such limits still have the parent's clock."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):
        pass


def check(package: zipfile.ZipFile) -> None:
    """Unpacks everything once, to see how much it is: what the package says of itself may be untrue."""
    if "xl/workbook.xml" not in package.namelist():
        raise Refused("kind")
    left = UNPACKED
    for item in package.infolist():
        with package.open(item) as file:
            while block := file.read(MEGABYTE):
                left -= len(block)
                if left < 0:
                    raise Refused("size")


def flaws(package: zipfile.ZipFile, index: int) -> list[tuple[int, int, str]]:
    """Cells that hold an error, or a formula without its value. Sheets are packed in the order of their making."""
    names = sorted(
        (item for item in package.namelist() if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", item)), key=order
    )
    if index >= len(names):
        return []
    data = package.read(names[index])
    items = [(row_of(item[2]), column_of(item[1]), "error_value") for item in FAULT.finditer(data)]
    if b"<f" in data or b":f" in data:
        items += [(row_of(item[2]), column_of(item[1]), "formula_without_value") for item in NO_VALUE.finditer(data)]
    return items[:1000]


def order(name: str) -> int:
    return int("".join(filter(str.isdigit, name)))


def row_of(digits: bytes) -> int:
    return int(digits)


def column_of(letters: bytes) -> int:
    result = 0
    for letter in letters:
        result = result * 26 + letter - 64
    return result - 1


def text_of(cell: object) -> str:
    """The cell as one would type it: whole numbers without a point, days as 2027-02-03."""
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
    from python_calamine import CalamineWorkbook

    with zipfile.ZipFile(io.BytesIO(data)) as package:
        check(package)
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        index, sheet = 0, book.get_sheet_by_index(0)
        while sheet.total_height == 0 and index + 1 < len(book.sheet_names):
            index += 1
            sheet = book.get_sheet_by_index(index)
        if sheet.total_width > COLUMNS or sheet.total_width * sheet.total_height > CELLS:
            raise Refused("size")
        write = sys.stdout.write
        write(json.dumps({"flaws": flaws(package, index)}) + "\n")
    for row in sheet.to_python(skip_empty_area=False):
        write(json.dumps([text_of(cell) for cell in row], ensure_ascii=False) + "\n")


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
