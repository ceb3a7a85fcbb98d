"""PDFs and QR codes of tickets."""

import io

import pytest
import segno
from PIL import Image

from app.allocations import qr_codes
from app.allocations.ticket_pdf import draw_pack_pdf, draw_ticket_pdf
from tests.allocations.documents import HOSTILE, build_ticket
from tests.pdf_text import NEEDS_PDFTOTEXT, read_pdf


def test_same_ticket_has_the_same_bytes() -> None:
    assert draw_ticket_pdf([build_ticket()]) == draw_ticket_pdf([build_ticket()])
    assert draw_ticket_pdf([build_ticket()]) != draw_ticket_pdf([build_ticket(code="AAAAAAAAAA")])


@pytest.mark.parametrize("name", HOSTILE)
def test_ticket_pdf_accepts_hostile_names(name: str) -> None:
    hostile_ticket = build_ticket(
        name=name, event=name, host=name, block=name, organiser=name, where=name, kind=name[:120], party=12
    )
    assert draw_ticket_pdf([hostile_ticket]).rstrip().endswith(b"%%EOF")


@NEEDS_PDFTOTEXT
def test_only_a_ticket_that_may_be_passed_on_says_how() -> None:
    for may_pass_on in (True, False):
        said = read_pdf(draw_ticket_pdf([build_ticket(may_pass_on=may_pass_on)]))
        assert ("To pass the ticket on" in said) == may_pass_on


@NEEDS_PDFTOTEXT
def test_ticket_names_who_the_guest_is_of_and_no_long_reference() -> None:
    said = read_pdf(draw_ticket_pdf([build_ticket()]))
    assert "Guest of" in said and "Main sponsor" in said and "Bank Windhoek" in said
    assert build_ticket().slot_id.upper() not in said and "Reference" not in said
    assert "Guest of" not in read_pdf(draw_ticket_pdf([build_ticket(block="Bank Windhoek")])), "it says that already"


@NEEDS_PDFTOTEXT
def test_ticket_has_the_whole_name_of_a_long_ticket_type() -> None:
    kind = "Day ticket Saturday with a place on the camp ground and a seat at the table"
    assert kind in " ".join(read_pdf(draw_ticket_pdf([build_ticket(kind=kind)])).split())


def test_png_is_the_code_with_its_quiet_zone() -> None:
    modules = segno.make_qr("HJ7K2Q9XRD", error="q").matrix
    picture = Image.open(io.BytesIO(qr_codes.render_png("HJ7K2Q9XRD"))).convert("L")
    size = len(modules) + 2 * qr_codes.QUIET_ZONE
    assert picture.size == (size * qr_codes.PNG_SCALE, size * qr_codes.PNG_SCALE) and picture.width >= 250
    pixels = [
        [
            picture.getpixel(
                ((x + qr_codes.QUIET_ZONE) * qr_codes.PNG_SCALE + 5, (y + qr_codes.QUIET_ZONE) * qr_codes.PNG_SCALE + 5)
            )
            < 128
            for x in range(len(modules))
        ]
        for y in range(len(modules))
    ]
    assert pixels == [[bool(module) for module in row] for row in modules]
    assert picture.getpixel((5, 5)) == 255


def test_bars_of_the_pdf_cover_the_modules_of_the_code() -> None:
    bars, size = qr_codes._build_dark_bars("HJ7K2Q9XRD")
    modules = segno.make_qr("HJ7K2Q9XRD", error="q").matrix
    dark = {(left + step, bottom) for left, bottom, length in bars for step in range(length)}
    assert size == len(modules) + 2 * qr_codes.QUIET_ZONE
    assert dark == {
        (qr_codes.QUIET_ZONE + x, qr_codes.QUIET_ZONE + len(modules) - 1 - y)
        for y, row in enumerate(modules)
        for x, module in enumerate(row)
        if module
    }


def test_svg_does_not_contain_the_text() -> None:
    svg = qr_codes.render_svg("HJ7K2Q9XRD")
    assert svg.startswith("<svg") and "HJ7K" not in svg and "script" not in svg


def test_pack_has_a_sheet_for_every_eight_tickets() -> None:
    out = io.BytesIO()
    drawn_counts = list(
        draw_pack_pdf(out, (build_ticket(code=f"{number:010d}") for number in range(20)), title="Pack", organiser="W")
    )
    assert drawn_counts == [8, 16, 20]
    assert out.getvalue().rstrip().endswith(b"%%EOF")
