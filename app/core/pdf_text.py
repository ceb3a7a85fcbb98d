"""Draws text on PDF pages: our font in two weights, broken into lines, also from right to left, without emoji.

    with TextWriter(canvas) as writer:
        writer.draw("Windhoek Lights", x, y, font=BOLD, size=17)

Nothing here reads markup, so text of users has no effect but its letters.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from reportlab.lib.colors import Color, HexColor
from reportlab.lib.rl_accel import fp_str
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from app.core import bidi
from app.core.cjk_fonts import is_in_cjk_font, register_cjk_fonts, split_by_font, widen

FONTS = Path(__file__).with_name("fonts")
REGULAR, BOLD = "DejaVuSans", "DejaVuSans-Bold"
NIGHT, MUTED, LINE, DUNE, SAND, SKY, LICHEN = (
    HexColor(name) for name in ("#14213D", "#4A5568", "#DCCFBD", "#A84C1B", "#F6EFE6", "#2A6F97", "#2B7549")
)
SUBSTITUTE, ELLIPSIS = "\u25a1", "…"
UNPRINTABLE_BUT_KEPT = "\n\u00a0\u202f\u200c\u200d"
JOINERS = "\u200c\u200d"
LEFT_OUT = "\0"
FIRST_EMOJI = 0x1F000
_LEFT_OUT_WITH_SPACE = re.compile(f"^{LEFT_OUT}+ ?| ?{LEFT_OUT}+", re.MULTILINE)
MIN_SCALE = 0.6
_REGISTER_LOCK, _SUBSET_LOCK = Lock(), Lock()


class TextWriter:
    """Writes text on a page; the text is on the page after the block."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas, self.text = canvas, canvas.beginText()
        self.font: tuple[str, float] | None = None
        self.colour: Color | None = None

    def __enter__(self) -> "TextWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.canvas.drawText(self.text)

    def draw(self, text: str, x: float, y: float, *, across: float | None = None, **style: Any) -> None:
        """Draw one line of any text; with `across` it is cut to that width. `style` as for `put`."""
        line = printable(text)
        if across is not None:
            line = break_lines(line, style.get("font", REGULAR), style.get("size", 10), across, most=1)[0]
        self.put(line, x, y, **style)

    def put(
        self,
        line: str,
        x: float,
        y: float,
        *,
        font: str = REGULAR,
        size: float = 10,
        colour: Color = NIGHT,
        right: bool = False,
    ) -> None:
        """Draw one line that is `printable` already, from `x` on or, with `right`, up to `x`."""
        if self.colour is not colour:
            self.text.setFillColor(colour)
            self.colour = colour
        self.text.setTextOrigin(x - text_width(line, font, size) if right else x, y)
        for piece_font, piece in split_by_font(bidi.to_visual_order(line), font):
            if self.font != (piece_font, size):
                self.text.setFont(piece_font, size)
                self.font = piece_font, size
            self.text.textOut(piece)


def register_fonts() -> None:
    """Read the fonts once per process; it takes a tenth of a second."""
    with _REGISTER_LOCK:
        _register_once()


@cache
def _register_once() -> None:
    for name in (REGULAR, BOLD):
        font = TTFont(name, str(FONTS / f"{name}.ttf"), asciiReadable=True)
        _cache_subsets(font.face)
        pdfmetrics.registerFont(font)
    register_cjk_fonts()
    pdfmetrics.registerFontFamily(REGULAR, normal=REGULAR, bold=BOLD, italic=REGULAR, boldItalic=BOLD)


def _cache_subsets(face: Any) -> None:
    """Cache the font subset of each set of letters; building one is half the cost of a page."""
    cached_subset = lru_cache(maxsize=64)(_one_at_a_time(face.makeSubset))
    face.makeSubset = lambda codes: cached_subset(tuple(codes))
    widths = {code: fp_str(width).encode() for code, width in face.charWidths.items()}
    default_width = fp_str(face.defaultWidth).encode()
    face.getCharWidth = lambda code: widths.get(code, default_width)


def _one_at_a_time(make_subset: Callable[[tuple[int, ...]], bytes]) -> Callable[[tuple[int, ...]], bytes]:
    """Return the function with a lock around it: building a subset seeks in the font's file."""

    def locked(codes: tuple[int, ...]) -> bytes:
        with _SUBSET_LOCK:
            return make_subset(codes)

    return locked


def printable(text: str) -> str:
    """Return the text in letters of the fonts, Arabic letters joined.

    Emoji and signs that no font has are left out; a box stands for each letter that no font has.
    """
    if text.isascii() and text.isprintable():
        return text
    shaped = bidi.join_arabic(
        "".join(
            letter for letter in _normalize_graphemes(text) if letter in UNPRINTABLE_BUT_KEPT or letter.isprintable()
        )
    )
    printed = "".join(_substitute(letter) for letter in shaped if letter not in JOINERS)
    return _LEFT_OUT_WITH_SPACE.sub("", printed) if LEFT_OUT in printed else printed


def _substitute(letter: str) -> str:
    """Return the letter, or what is printed in its place."""
    category = unicodedata.category(letter)
    is_emoji = ord(letter) >= FIRST_EMOJI or category == "Me"
    if letter == "\n" or (ord(letter) in _letter_widths() and not is_emoji) or is_in_cjk_font(letter):
        return letter
    return SUBSTITUTE if category[0] in "LN" else LEFT_OUT


def text_width(text: str, font: str, size: float) -> float:
    """Return the width of `printable` text in points."""
    register_fonts()
    width: float = sum(pdfmetrics.stringWidth(piece, name, size) for name, piece in split_by_font(text, font))
    return width


def break_lines(text: str, font: str, size: float, across: float, *, most: int | None = None) -> list[str]:
    """Return `printable` text in lines no wider than `across` points; with more than `most` lines the last ends in `…`."""
    lines = [line for paragraph in text.split("\n") for line in _break_paragraph(paragraph, font, size, across)]
    if most is None or len(lines) <= most:
        return lines
    last = lines[most - 1]
    while last and text_width(last + ELLIPSIS, font, size) > across:
        last = last[:-1]
    return [*lines[: most - 1], last.rstrip() + ELLIPSIS]


def fit_text(text: str, font: str, size: float, across: float, *, most: int) -> tuple[list[str], float]:
    """Return the lines of `printable` text, and the size (this one or a smaller) at which they are at most `most`."""
    min_size = size * MIN_SCALE
    while size > min_size and len(break_lines(text, font, size, across)) > most:
        size -= 1
    return break_lines(text, font, size, across, most=most), size


def _normalize_graphemes(text: str) -> str:
    """Return the text without selectors, skin tones and joined parts of emoji."""
    letters: list[str] = []
    is_joined = False
    for letter in unicodedata.normalize("NFC", widen(text)):
        code = ord(letter)
        if 0xFE00 <= code <= 0xFE0F or 0x1F3FB <= code <= 0x1F3FF or 0xE0000 <= code <= 0xE01EF:
            continue
        if not (is_joined and code > 0x2190):
            letters.append(letter)
        is_joined = letter == "\u200d"
    return "".join(letters)


@cache
def _letter_widths() -> dict[int, float]:
    register_fonts()
    widths: dict[int, float] = pdfmetrics.getFont(REGULAR).face.charWidths
    return widths


def _break_paragraph(paragraph: str, font: str, size: float, across: float) -> list[str]:
    if text_width(paragraph, font, size) <= across:
        return [paragraph]
    lines, line = [], ""
    for word in paragraph.split(" "):
        longer_line = f"{line} {word}" if line else word
        if text_width(longer_line, font, size) <= across:
            line = longer_line
            continue
        if line:
            lines.append(line)
        *full_lines, line = _break_word(word, font, size, across)
        lines += full_lines
    return [*lines, line]


def _break_word(word: str, font: str, size: float, across: float) -> list[str]:
    """Return a word in pieces no wider than the line."""
    pieces, piece, piece_width = [], "", 0.0
    for letter in word:
        letter_width = text_width(letter, font, size)
        if piece and piece_width + letter_width > across:
            pieces.append(piece)
            piece, piece_width = "", 0.0
        piece, piece_width = piece + letter, piece_width + letter_width
    return [*pieces, piece]
