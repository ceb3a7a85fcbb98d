"""How text gets onto a page of a PDF: our font in two weights, broken into lines, in the order of the eye.

    with Pen(canvas) as pen:
        pen.draw("Windhoek Lights", x, y, font=BOLD, size=17)

Text is drawn as text: nothing here reads markup, so nothing of what a user wrote can be obeyed.
"""

import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.lib.rl_accel import fp_str
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from app.core import bidi

FONTS = Path(__file__).with_name("fonts")
REGULAR, BOLD = "DejaVuSans", "DejaVuSans-Bold"
NIGHT, MUTED, LINE, DUNE, SAND = (HexColor(name) for name in ("#14213D", "#4A5568", "#DCCFBD", "#A84C1B", "#F6EFE6"))
SUBSTITUTE, MORE = "\u25a1", "…"
KEPT = "\n\u00a0\u202f\u200c\u200d"
SHORTEST_SCALE = 0.6
_READING, _SUBSETTING = Lock(), Lock()


class TextWriter:
    """Writes on a page; what it wrote is on the page when the block ends."""

    def __init__(self, canvas: Any) -> None:
        self.canvas, self.text = canvas, canvas.beginText()
        self.font: tuple[str, float] | None = None
        self.colour: Any = None

    def __enter__(self) -> "TextWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.canvas.drawText(self.text)

    def draw(self, text: str, x: float, y: float, *, across: float | None = None, **style: Any) -> None:
        """One line of any text; with `across` it is cut where it would be wider. `style` as for `put`."""
        value = printable(text)
        if across is not None:
            value = break_lines(value, style.get("font", REGULAR), style.get("size", 10), across, most=1)[0]
        self.put(value, x, y, **style)

    def put(
        self,
        line: str,
        x: float,
        y: float,
        *,
        font: str = REGULAR,
        size: float = 10,
        colour: Any = NIGHT,
        right: bool = False,
    ) -> None:
        """One line that is `printable` already, beginning at `x` or, with `right`, ending there."""
        if self.font != (font, size):
            self.text.setFont(font, size)
            self.font = font, size
        if self.colour is not colour:
            self.text.setFillColor(colour)
            self.colour = colour
        self.text.setTextOrigin(x - text_width(line, font, size) if right else x, y)
        self.text.textOut(bidi.to_visual_order(line))


def register_fonts() -> None:
    """Reads the fonts, once a process: it takes a tenth of a second."""
    with _READING:
        _register()


@cache
def _register() -> None:
    for name in (REGULAR, BOLD):
        font = TTFont(name, str(FONTS / f"{name}.ttf"), asciiReadable=True)
        _remember(font.face)
        pdfmetrics.registerFont(font)
    pdfmetrics.registerFontFamily(REGULAR, normal=REGULAR, bold=BOLD, italic=REGULAR, boldItalic=BOLD)


def _remember(face: Any) -> None:
    """The same letters are the same font in every document, so it is made once; that is half the cost of a page.

    Making it moves through the font's file, so one thread at a time does.
    """
    subset_of = lru_cache(maxsize=64)(_by_one(face.makeSubset))
    face.makeSubset = lambda codes: subset_of(tuple(codes))
    widths = {code: fp_str(wide).encode() for code, wide in face.charWidths.items()}
    usual = fp_str(face.defaultWidth).encode()
    face.getCharWidth = lambda code: widths.get(code, usual)


def _by_one(make: Callable[..., bytes]) -> Callable[..., bytes]:
    def make_alone(codes: tuple[int, ...]) -> bytes:
        with _SUBSETTING:
            return make(codes)

    return make_alone


def printable(text: str) -> str:
    """The text in letters that the font has, joined where they join; a box in place of each sign it does not have."""
    if text.isascii() and text.isprintable():
        return text
    shaped = bidi.join_arabic(
        "".join(item for item in _normalize_graphemes(text) if item in KEPT or item.isprintable())
    )
    has = _letters()
    return "".join(item if item == "\n" or ord(item) in has else SUBSTITUTE for item in shaped if item not in KEPT[3:])


def text_width(text: str, font: str, size: float) -> float:
    """The width of `printable` text in points."""
    register_fonts()
    result: float = pdfmetrics.stringWidth(text, font, size)
    return result


def break_lines(text: str, font: str, size: float, across: float, *, most: int | None = None) -> list[str]:
    """`printable` text broken into lines no wider than `across`; what does not fit into `most` of them ends in `…`."""
    items = [line for paragraph in text.split("\n") for line in _break_text(paragraph, font, size, across)]
    if most is None or len(items) <= most:
        return items
    last = items[most - 1]
    while last and text_width(last + MORE, font, size) > across:
        last = last[:-1]
    return [*items[: most - 1], last.rstrip() + MORE]


def fit_text(text: str, font: str, size: float, across: float, *, most: int) -> tuple[list[str], float]:
    """The lines of `printable` text, and the size (this one or a smaller) at which they are no more than `most`."""
    least = size * SHORTEST_SCALE
    while size > least and len(break_lines(text, font, size, across)) > most:
        size -= 1
    return break_lines(text, font, size, across, most=most), size


def _normalize_graphemes(text: str) -> str:
    """The text without what only colours or joins pictures: one picture, one box."""
    kept: list[str] = []
    glued = False
    for item in unicodedata.normalize("NFC", text):
        code = ord(item)
        if 0xFE00 <= code <= 0xFE0F or 0x1F3FB <= code <= 0x1F3FF or 0xE0000 <= code <= 0xE01EF:
            continue
        if not (glued and code > 0x2190):
            kept.append(item)
        glued = item == "\u200d"
    return "".join(kept)


@cache
def _letters() -> dict[int, Any]:
    register_fonts()
    values: dict[int, Any] = pdfmetrics.getFont(REGULAR).face.charWidths
    return values


def _break_text(paragraph: str, font: str, size: float, across: float) -> list[str]:
    if text_width(paragraph, font, size) <= across:
        return [paragraph]
    result, line = [], ""
    for word in paragraph.split(" "):
        longer = f"{line} {word}" if line else word
        if text_width(longer, font, size) <= across:
            line = longer
            continue
        if line:
            result.append(line)
        *whole, line = _pieces(word, font, size, across)
        result += whole
    return [*result, line]


def _pieces(word: str, font: str, size: float, across: float) -> list[str]:
    """A word, in as many pieces as it is wider than the line."""
    result, piece, so_far = [], "", 0.0
    for letter in word:
        step = text_width(letter, font, size)
        if piece and so_far + step > across:
            result.append(piece)
            piece, so_far = "", 0.0
        piece, so_far = piece + letter, so_far + step
    return [*result, piece]
