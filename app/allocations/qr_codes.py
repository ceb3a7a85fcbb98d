"""QR codes: black on white on every page, with the quiet zone that scanners need."""

from functools import lru_cache
from io import BytesIO

import segno
from reportlab.lib.colors import black, white
from reportlab.pdfgen.canvas import Canvas

QUIET_ZONE = 4
PNG_SCALE = 10


def render_png(text: str) -> bytes:
    """Return the code as a PNG for an email, about 290 pixels wide."""
    buffer = BytesIO()
    _build_qr_code(text).save(buffer, kind="png", scale=PNG_SCALE, border=QUIET_ZONE)
    return buffer.getvalue()


def render_svg(text: str) -> str:
    """Return the code as SVG markup for a page, without the text."""
    return _build_qr_code(text).svg_inline(
        border=QUIET_ZONE, omitsize=True, svgclass="qr", lineclass=None, dark="#000000", light="#FFFFFF"
    )


def draw_qr_code(canvas: Canvas, text: str, x: float, y: float, size: float) -> None:
    """Draw the code on a PDF page, `size` points wide with its quiet zone, its lower left corner at (x, y)."""
    bars, module_count = _build_dark_bars(text)
    canvas.saveState()
    canvas.setFillColor(white)
    canvas.rect(x, y, size, size, stroke=0, fill=1)
    canvas.setFillColor(black)
    canvas.translate(x, y)
    canvas.scale(size / module_count, size / module_count)
    path = canvas.beginPath()
    for left, bottom, length in bars:
        path.rect(left, bottom, length, 1)
    canvas.drawPath(path, stroke=0, fill=1)
    canvas.restoreState()


@lru_cache(maxsize=256)
def _build_qr_code(text: str) -> segno.QRCode:
    return segno.make_qr(text, error="q")


def _build_dark_bars(text: str) -> tuple[list[tuple[int, int, int]], int]:
    """Return the dark modules as horizontal bars, which are far fewer than squares, and the width in modules."""
    rows = [bytes(row) for row in segno.make_qr(text, error="q").matrix]
    bars = []
    for row_index, row in enumerate(rows):
        start = row.find(1)
        while start >= 0:
            end = row.find(0, start)
            end = len(row) if end < 0 else end
            bars.append((QUIET_ZONE + start, QUIET_ZONE + len(rows) - 1 - row_index, end - start))
            start = row.find(1, end)
    return bars, len(rows) + 2 * QUIET_ZONE
