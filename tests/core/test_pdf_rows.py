"""Long tables and charts on paper: nothing of a text is obeyed or lost, and rows are taken as pages need them."""

import re

from app.core.charts import draw_bars, draw_columns, draw_differences, draw_lines
from app.core.pdf import Sheet
from app.core.pdf_rows import Column, LongTable

COLUMNS = [Column("Item", 60), Column("On hand", 20, figures=True)]
HOSTILE = '<img src="file:///etc/passwd"/>'


def drawn(table: LongTable) -> bytes:
    with Sheet(title="Stock", number=HOSTILE * 9, when="today", foot=HOSTILE * 9) as sheet:
        sheet.long_table("Item by item", table)
    return sheet.data


def pages(data: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", data))


def test_rows_go_over_as_many_pages_as_they_need_and_each_is_told() -> None:
    told: list[int] = []
    rows = ((f"{HOSTILE} {number}", str(number)) for number in range(300))
    data = drawn(LongTable(COLUMNS, rows, tick=told.append))
    assert pages(data) > 5 and told == sorted(set(told)) and 200 < told[-1] <= 300


def test_rows_are_taken_as_pages_need_them() -> None:
    table = LongTable(COLUMNS, (("Lager", "1") for _ in range(10**9)))
    assert table.wrap(400, 300)[1] > 300
    assert len(table.waiting) < 30


def test_a_heading_is_never_without_its_rows() -> None:
    rows = [row for number in range(40) for row in ([f"Supplier {number}"], ("Lager", "1"))]
    for height in range(60, 200, 7):
        page, rest = LongTable(COLUMNS, rows).split(400, height) or (None, None)
        assert page is None or not page.lines[-1].heading, height


def test_charts_of_no_some_and_too_many_values() -> None:
    with Sheet(title="Stock", number="1", when="today") as sheet:
        for values in ([0, 0], [1, 10**20], [5, -3]):
            named = [(HOSTILE * 5, value, str(value)) for value in values]
            sheet.chart("Bars", draw_bars(named))
            sheet.chart("Differences", draw_differences(named))
            sheet.chart("Columns", draw_columns(named))
            sheet.chart("Lines", draw_lines(["1 Dec", "2 Dec"], [("in", values), ("out", values)]))
        sheet.chart("One day", draw_lines(["1 Dec"], [("in", [1])]))
    assert sheet.data.startswith(b"%PDF-1.")
