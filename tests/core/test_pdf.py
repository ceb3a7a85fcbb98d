"""Documents: the same bytes for the same content, every letter there, and nothing of a user's text obeyed."""

import re
from pathlib import Path

import pytest
from flask import Flask
from reportlab.platypus import Table

from app.core.languages import use_language
from app.core.pdf import WIDTH, Sheet, build_grid, paragraph
from app.core.pdf_rows import Column, LongTable
from tests.pdf_text import NEEDS_PDFTOTEXT, read_pdf

NAME = "ǃGaroës & Söhne ǀǁǂ Ξένιος Москва"


def sheet(name: str = NAME, facts: int = 1) -> bytes:
    with Sheet(title="Receipt", number="MA-7K2Q9XRD", when="Fri 4 December 2026", foot="Payment 1") as made:
        made.parties(["Windhoek Lights"], [name])
        made.facts([("For", name)] * facts)
        made.total("Paid", "N$\u00a02\u202f500.00")
    return made.data


def test_the_same_content_is_the_same_bytes() -> None:
    assert sheet() == sheet()
    assert sheet() != sheet("Kapana Corner")


def test_the_font_is_embedded_and_the_title_tagged(app: Flask) -> None:
    data = sheet()
    assert data.startswith(b"%PDF-1.") and data.rstrip().endswith(b"%%EOF")
    assert data.count(b"/FontFile2") == 2 and b"/DisplayDocTitle true" in data
    assert b"/Lang (en)" in data and b"/Title (Receipt MA-7K2Q9XRD)" in data
    with use_language("de"):
        assert b"/Lang (de)" in sheet()


def test_markup_in_a_name_is_text(tmp_path: Path) -> None:
    canary = tmp_path / "canary.png"
    hostile = [f'<img src="{canary}"/>', "<font color=[[[1]]]>", "</para><b>", "&lt;&#0;", "<a href='file:///etc'>x"]
    for name in hostile:
        assert sheet(name).startswith(b"%PDF-1.")


def test_a_long_document_counts_its_pages() -> None:
    streams = re.findall(rb"/Type /Page\b", sheet(facts=80))
    assert len(streams) > 2


def test_a_sign_the_font_does_not_have_is_a_box_and_no_error() -> None:
    assert sheet("Kapana 🔥\x00\u202e Corner").startswith(b"%PDF-1.")
    assert sheet("🔥") == sheet("🍖")


@pytest.mark.parametrize("count", range(4, 12))
def test_no_row_of_a_table_is_alone_on_the_last_page(count: int) -> None:
    table = build_grid([[paragraph(f"Row {number}")] for number in range(count + 1)], [WIDTH], repeat=1)
    _, height = table.wrap(WIDTH, 10_000)
    row_height = height / (count + 1)
    for fitting in range(2, count):
        parts = table.split(WIDTH, row_height * (fitting + 1) + 1)
        last_rows = parts[-1]._nrows - 1
        assert last_rows >= 3 or len(parts) == 1, (count, fitting)
        assert sum(part._nrows - 1 for part in parts if isinstance(part, Table)) == count


LONG_NAME = "Kapana Corner of the Old Location and Sons " * 5


@NEEDS_PDFTOTEXT
@pytest.mark.parametrize("kind", ["table", "lines", "long"])
@pytest.mark.parametrize("above", range(16, 25, 2))
def test_a_title_is_on_the_page_of_its_first_rows(kind: str, above: int) -> None:
    rows = [(f"First {LONG_NAME}", "1"), (f"Second {LONG_NAME}", "2"), (f"Third {LONG_NAME}", "3"), ("Last", "4")]
    with Sheet(title="Report", number="1", when="Today") as made:
        made.lines((f"Above {number}", "0") for number in range(above))
        if kind == "table":
            made.table(("Name", "Count"), rows, widths=(20, 80), figures=1, title="Stall by stall", under="A caption.")
        elif kind == "lines":
            made.lines(rows, title="Stall by stall")
        else:
            made.long_table("Stall by stall", LongTable([Column("Name", 20), Column("Count", 80, figures=True)], rows))
    pages = read_pdf(made.data).split("\f")
    (page,) = (page for page in pages if "Stall by stall" in page)
    assert "First" in page and "Third" in page
    assert kind == "long" or "Last" in page, "a short table is on one page"


@NEEDS_PDFTOTEXT
def test_a_table_of_several_pages_begins_below_its_title() -> None:
    with Sheet(title="Report", number="1", when="Today") as made:
        made.lines((f"Above {number}", "0") for number in range(10))
        made.lines(((f"Row {number}", "0") for number in range(60)), title="Stall by stall")
    first, *others = read_pdf(made.data).split("\f")
    assert "Stall by stall" in first and "Row 2 " in first and "Row 59" in others[-2]
