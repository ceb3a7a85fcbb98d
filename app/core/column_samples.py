"""The columns of an uploaded table, for a page on which people say what each column is."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from app.core.spreadsheet import Row, column_key

SAMPLE_ROWS, SAMPLE_VALUES, MAX_SAMPLE_LENGTH, MAX_COLUMN_LENGTH = 50, 3, 60, 200
COLUMN_NUMBER = re.compile(r" \(\d+\)$")


class ColumnSample(TypedDict):
    """A column of a file with its first values, and whether one of them is in several of the first rows."""

    name: str
    values: list[str]
    repeats: bool


def build_sample(
    header: Sequence[str], rows: Sequence[Row], *, is_name: Callable[[str], object] = column_key
) -> list[ColumnSample]:
    """The columns that have a name, each once, with their first different values."""
    names = [name for name in dict.fromkeys(header) if is_name(name) and len(name) <= MAX_COLUMN_LENGTH]
    return [_build_column(rows, name) for name in names]


def number_equal_names(header: Sequence[str]) -> list[str]:
    """The names of columns; one that an earlier column has gets a number, as `Amount (2)`."""
    counts = Counter[str]()
    taken = set(header)
    numbered: list[str] = []
    for name in header:
        unique = name
        counts[name] += 1
        while name and counts[name] > 1 and unique in taken:
            unique = f"{name} ({counts[name]})"
            counts[name] += unique in taken
        taken.add(unique)
        numbered.append(unique)
    return numbered


def match_columns(columns: Sequence[str], keys_by_field: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The column of each field that has one of the field's names, by the order of the names."""
    names = {column_key(column): column for column in reversed(columns)}
    columns_by_field = {
        field: next((names[key] for key in keys if key in names), None) for field, keys in keys_by_field.items()
    }
    return {field: column for field, column in columns_by_field.items() if column}


def without_nul(value: Any) -> Any:
    """The value without NUL in its texts, which JSON columns cannot store."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, dict):
        return {name: without_nul(item) for name, item in value.items()}
    return [without_nul(item) for item in value] if isinstance(value, list) else value


def _build_column(rows: Sequence[Row], name: str) -> ColumnSample:
    cells = [cell for row in rows if (cell := without_nul(row.cells[name][:MAX_SAMPLE_LENGTH]))]
    values = list(dict.fromkeys(cells))
    return {"name": without_nul(name), "values": values[:SAMPLE_VALUES], "repeats": len(values) < len(cells)}
