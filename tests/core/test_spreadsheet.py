"""Tables of CSV files: the delimiter and the header are those with the most known names."""

import pytest

from app.core.spreadsheet import column_key, open_table

KNOWN = {"date", "amount", "description"}


def count_known(cells: list[str]) -> int:
    return sum(column_key(cell) in KNOWN for cell in cells)


@pytest.mark.parametrize("title", ["", "Account 62 001, Windhoek, Main\n", "Statement\n\nfrom, to\n", 'One "quote\n'])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_header_below_a_title_says_the_delimiter(title: str, delimiter: str) -> None:
    lines = [delimiter.join(cells) for cells in (["Date", "Amount", "Description"], ["2026-11-20", '"1.234,50"', "x"])]
    table = open_table((title + "\n".join(lines)).encode(), likeness=count_known)
    assert (table.delimiter, table.header) == (delimiter, ["Date", "Amount", "Description"])
    assert [cells for _, cells in table.rows] == [["2026-11-20", "1.234,50", "x"]]


def test_without_known_names_the_first_line_says_the_delimiter() -> None:
    table = open_table(b'a;"b,c,d,e";f\n1;2;3\n')
    assert (table.delimiter, table.header) == (";", ["a", "b,c,d,e", "f"])
