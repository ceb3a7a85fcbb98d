"""QR codes: black on white, whatever the page around them does, with the quiet zone that scanners need."""

from functools import lru_cache
from io import BytesIO
from typing import Any

import segno
from reportlab.lib.colors import black, white

QUIET_ZONE = 4
PNG_SCALE = 10


def render_png(text: str) -> bytes:
    """The code as a picture for a mail, about 290 pixels wide."""
    buffer = BytesIO()
    _build_qr_code(text).save(buffer, kind="png", scale=PNG_SCALE, border=QUIET_ZONE)
    return buffer.getvalue()


def render_svg(text: str) -> str:
    """The code as markup for a page; nothing of the text stands in it."""
    return _build_qr_code(text).svg_inline(
        border=QUIET_ZONE, omitsize=True, svgclass="qr", lineclass=None, dark="#000000", light="#FFFFFF"
    )


def draw_qr_code(canvas: Any, text: str, x: float, y: float, size: float) -> None:
    """The code on a page of a PDF, `size` points wide with its quiet zone, its lower left corner at (x, y)."""
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
    """The dark modules as horizontal bars, and how many modules the code is wide: an eighth of the squares."""
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
