"""The PDF of an invoice: same bytes everywhere, complete, and hostile texts rendered as text."""

import os
import subprocess
import sys
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from socket import create_server

import pytest
from flask import Flask
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from app.core.languages import use_language
from app.invoicing.documents import CREDIT_NOTE, INVOICE, parse_document
from app.invoicing.invoice_pdf import _InvoiceDrawing, draw_invoice_pdf
from tests.allocations.documents import HOSTILE, build_invoice, build_tax_invoice, extract_text
from tests.house.sources import ROOT
from tests.races import run_concurrently

# The SHA-256 of the first layout of `build_invoice(12)`. It must never change.
FIRST_LAYOUT = "75f5b145ac42363556d1461f33d1482e2a9bd9a1f7eabdb19f9b5c005386e626"


def test_same_document_has_the_same_bytes_on_every_machine() -> None:
    assert sha256(draw_invoice_pdf(build_invoice(12))).hexdigest() == FIRST_LAYOUT


def test_bytes_do_not_depend_on_process_or_earlier_documents() -> None:
    for name in HOSTILE:
        draw_invoice_pdf(build_invoice(buyer=[name]))
    program = "from tests.allocations.documents import *; "
    program += "from app.invoicing.invoice_pdf import draw_invoice_pdf; "
    program += "import hashlib, sys; sys.stdout.write(hashlib.sha256(draw_invoice_pdf(build_invoice(12))).hexdigest())"
    other = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=other, capture_output=True, text=True)
    assert run.stdout == sha256(draw_invoice_pdf(build_invoice(12))).hexdigest(), run.stderr


def test_documents_drawn_concurrently_have_the_same_bytes() -> None:
    names = [f"N{chr(0x100 + number)}{chr(0x410 + number)}" for number in range(16)]
    documents = run_concurrently(16, lambda number: draw_invoice_pdf(build_invoice(buyer=[names[number]])))
    assert documents == [draw_invoice_pdf(build_invoice(buyer=[name])) for name in names]


def test_document_survives_json_round_trip() -> None:
    assert draw_invoice_pdf(parse_document(build_invoice(5).to_json())) == draw_invoice_pdf(build_invoice(5))


def test_invoice_has_all_required_parts() -> None:
    text = extract_text(draw_invoice_pdf(build_invoice(3)))
    for phrase in (
        "Invoice 2026-000001",
        "Fri 20 November 2026",
        "Bank Windhoek",
        "Weekend pass",
        "VAT 15 % in the total",
        "nangula@windhoek-lights.example",
        "Page 1 of 1",
        "Total",
    ):
        assert phrase in text


def test_credit_note_is_titled_as_one() -> None:
    text = extract_text(
        draw_invoice_pdf(build_invoice(kind=CREDIT_NOTE, number="CN-2026-000001", total_minor=-85000, vat_minor=-11087))
    )
    assert "Credit note CN-2026-000001" in text and "Credited" in text


def test_tax_invoice_says_what_the_law_asks_for() -> None:
    text = extract_text(draw_invoice_pdf(build_tax_invoice()))
    assert text.count("Tax invoice") == 2 and text.count("VAT registration number 1234567-01-5") == 1
    for phrase in ("12 L", "Description", "Quantity", "Amount without VAT", "VAT 15 %", "Total", "8001234567"):
        assert phrase in text


@pytest.mark.parametrize(("kind", "title"), [(INVOICE, "Invoice"), (CREDIT_NOTE, "Credit note")])
def test_document_of_an_unregistered_seller_says_nothing_of_vat(kind: str, title: str) -> None:
    document = build_tax_invoice(kind=kind, vat_number="", vat_percent=0, vat_minor=0, notes=[])
    text = extract_text(draw_invoice_pdf(document))
    assert f"{title} 2026-000001" in text and "VAT" not in text and "Tax" not in text


def test_amounts_are_written_in_english_for_readers_of_german(app: Flask) -> None:
    before = draw_invoice_pdf(build_tax_invoice())
    with use_language("de"):
        assert draw_invoice_pdf(build_tax_invoice()) == before


@pytest.mark.parametrize("lines", range(1, 40, 3))
def test_totals_and_bank_details_stay_above_the_footer(lines: int) -> None:
    document = build_tax_invoice(lines, settled="Paid", notes=["A note. " * 60])
    drawing = _InvoiceDrawing(document, Canvas(BytesIO(), pagesize=A4))
    drawing.draw_pages()
    assert drawing.y > 21 * mm


@pytest.mark.parametrize("lines", [1, 11, 12, 13, 14, 40, 2000])
def test_all_lines_are_printed_for_any_count(lines: int) -> None:
    data = draw_invoice_pdf(build_invoice(lines))
    text = extract_text(data)
    assert all(f"Table {number}\n" in text for number in range(2, lines))
    pages = data.count(b"/Type /Page\n") or text.count("Page 1 of ")
    assert f"Page {pages} of {pages}" in text and text.count("Total") == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_rendered_as_text(name: str) -> None:
    data = draw_invoice_pdf(build_invoice(seller=[name, name], buyer=[name] * 4, facts=[("Event", name)], notes=[name]))
    assert data.rstrip().endswith(b"%%EOF")
    if name.isascii():
        assert name.replace(" ", "") in extract_text(data).replace("\n", "").replace(" ", "")


def test_markup_in_names_fetches_no_url_and_reads_no_file(tmp_path: Path) -> None:
    canary = tmp_path / "canary.png"
    canary.write_bytes(b"not a picture")
    with create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        for reference in (
            f'<img src="{canary}"/>',
            f'<img src="http://127.0.0.1:{port}/a.png"/>',
            f"<a href='file://{canary}'>",
        ):
            assert canary.read_bytes() not in draw_invoice_pdf(
                build_invoice(buyer=[reference, reference], notes=[reference])
            )
        with pytest.raises(BlockingIOError):
            listener.accept()
