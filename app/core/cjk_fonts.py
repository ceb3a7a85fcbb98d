"""Chinese, Japanese and Korean letters in PDFs: their fonts are named, not embedded, and PDF readers have them.

A line can mix them with letters of the embedded font. A Chinese character takes the font of the language that the rest
of the line shows: Japanese next to kana, Korean next to Hangul, else Chinese.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from threading import Lock
from typing import Any

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont

CHINESE, JAPANESE, KOREAN = "STSong-Light", "HeiseiKakuGo-W5", "HYGothic-Medium"
CODECS = {CHINESE: "gbk", JAPANESE: "cp932", KOREAN: "cp949"}
"""Each font has the characters that this encoding has."""
_CJK = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uffe6\U00020000-\U0003ffff]")
_KANA, _HANGUL = re.compile(r"[\u3041-\u30ff]"), re.compile(r"[\u1100-\u11ff\uac00-\ud7a3]")
_HALF_WIDTH = re.compile(r"[\uff61-\uffdc]+")
_FONT_LOCK = Lock()


class _SharedFont(UnicodeCIDFont):  # type: ignore[misc]
    """A font for documents that threads draw at the same time: reportlab keeps the name in a shared table."""

    def addObjects(self, doc: Any) -> None:  # noqa: N802
        with _FONT_LOCK:
            super().addObjects(doc)


def register_cjk_fonts() -> None:
    for name in CODECS:
        pdfmetrics.registerFont(_SharedFont(name))


def has_cjk(text: str) -> bool:
    return not text.isascii() and _CJK.search(text) is not None


def widen(text: str) -> str:
    """Return the text with letters of half width in their usual form, and ideographic spaces as spaces."""
    whole = _HALF_WIDTH.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return whole.replace("\u3000", " ")


def is_in_cjk_font(letter: str) -> bool:
    return has_cjk(letter) and any(_has_letter(font, letter) for font in CODECS)


def split_by_font(line: str, font: str) -> list[tuple[str, str]]:
    """Return the line in pieces, each with its font: `font`, or one for Chinese, Japanese or Korean."""
    if not has_cjk(line):
        return [(font, line)]
    fonts = _order_fonts(line)
    by_letter = ((_choose_font(letter, fonts) if has_cjk(letter) else font, letter) for letter in line)
    return [
        (name, "".join(letter for _, letter in group)) for name, group in groupby(by_letter, key=lambda pair: pair[0])
    ]


def _order_fonts(line: str) -> tuple[str, ...]:
    if _KANA.search(line):
        return JAPANESE, CHINESE, KOREAN
    return (KOREAN, CHINESE, JAPANESE) if _HANGUL.search(line) else (CHINESE, JAPANESE, KOREAN)


def _choose_font(letter: str, fonts: tuple[str, ...]) -> str:
    return next((font for font in fonts if _has_letter(font, letter)), fonts[0])


@lru_cache(maxsize=4096)
def _has_letter(font: str, letter: str) -> bool:
    try:
        return bool(letter.encode(CODECS[font]))
    except UnicodeEncodeError:
        return False
