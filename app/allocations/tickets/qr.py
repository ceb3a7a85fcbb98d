"""QR codes: black on white, whatever the page around them does, with the quiet zone that scanners need."""

from functools import lru_cache
from io import BytesIO
from typing import Any

import segno
from reportlab.lib.colors import black, white

QUIET = 4
SCALE = 10


def png(text: str) -> bytes:
    """The code as a picture for a mail, about 290 pixels wide."""
    out = BytesIO()
    _code(text).save(out, kind="png", scale=SCALE, border=QUIET)
    return out.getvalue()


def svg(text: str) -> str:
    """The code as markup for a page; nothing of the text stands in it."""
    return _code(text).svg_inline(
        border=QUIET, omitsize=True, svgclass="qr", lineclass=None, dark="#000000", light="#FFFFFF"
    )


def draw(canvas: Any, text: str, x: float, y: float, size: float) -> None:
    """The code on a page of a PDF, `size` points wide with its quiet zone, its lower left corner at (x, y)."""
    runs, modules = _runs(text)
    canvas.saveState()
    canvas.setFillColor(white)
    canvas.rect(x, y, size, size, stroke=0, fill=1)
    canvas.setFillColor(black)
    canvas.translate(x, y)
    canvas.scale(size / modules, size / modules)
    path = canvas.beginPath()
    for left, bottom, length in runs:
        path.rect(left, bottom, length, 1)
    canvas.drawPath(path, stroke=0, fill=1)
    canvas.restoreState()


@lru_cache(maxsize=256)
def _code(text: str) -> segno.QRCode:
    return segno.make_qr(text, error="q")


def _runs(text: str) -> tuple[list[tuple[int, int, int]], int]:
    """The dark modules as horizontal bars, and how many modules the code is wide: an eighth of the squares."""
    rows = [bytes(row) for row in segno.make_qr(text, error="q").matrix]
    found = []
    for down, row in enumerate(rows):
        start = row.find(1)
        while start >= 0:
            end = row.find(0, start)
            end = len(row) if end < 0 else end
            found.append((QUIET + start, QUIET + len(rows) - 1 - down, end - start))
            start = row.find(1, end)
    return found, len(rows) + 2 * QUIET
