"""Text on a page: broken where it must be, whole, and with a visible sign for what the font does not have."""

from io import BytesIO

import pytest
from reportlab.pdfbase.cidfonts import escapePDF
from reportlab.pdfgen.canvas import Canvas

from app.core.cjk_fonts import CHINESE, JAPANESE, KOREAN, split_by_font
from app.core.pdf_text import BOLD, REGULAR, SUBSTITUTE, TextWriter, break_lines, fit_text, printable, text_width

CAMPFIRE, FAMILY = "\U0001f525", "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def test_letters_of_the_font_do_not_change() -> None:
    name = "ǃGaroës & Söhne ǀǁǂ Ξένιος Москва <img src=file:///etc/passwd>"
    assert printable(name) == name
    assert printable("N$\u00a01\u202f234.50") == "N$\u00a01\u202f234.50"


def test_emoji_are_left_out_with_their_space() -> None:
    assert printable(f"Kapana {CAMPFIRE} Corner {FAMILY}") == "Kapana Corner"
    assert printable(f"{CAMPFIRE}{CAMPFIRE} Kapana\n{FAMILY} Corner") == "Kapana\nCorner"
    assert printable(f"{CAMPFIRE}") == printable("\U0001f600\U0001f1f3\U0001f1e6") == ""
    assert printable("1\ufe0f\u20e3 \u2764\ufe0f") == "1 \u2764"
    assert printable("a\x00b\u202ec") == "abc"


def test_a_letter_that_no_font_has_is_a_box() -> None:
    assert printable("\u1200 \U00020000") == f"{SUBSTITUTE} {SUBSTITUTE}"


@pytest.mark.parametrize(
    ("name", "font"),
    [("王小明的店", CHINESE), ("東京ラーメン", JAPANESE), ("김치 大韓", KOREAN), ("ﾗｰﾒﾝ", JAPANESE)],
)
def test_each_language_has_its_font(name: str, font: str) -> None:
    line = printable(f"Söhne {name} & Co")
    pieces = split_by_font(line, BOLD)
    assert {piece_font for piece_font, _ in pieces} == {BOLD, font}
    assert "".join(piece for _, piece in pieces) == line and SUBSTITUTE not in line


def test_mixed_text_is_measured_and_broken() -> None:
    line = printable("Kapana 王小明 Corner")
    assert text_width(line, REGULAR, 10) == pytest.approx(text_width("Kapana  Corner", REGULAR, 10) + 30)
    lines = break_lines("王" * 100, REGULAR, 10, 95)
    assert [len(piece) for piece in lines] == [9] * 11 + [1]


def test_letters_are_in_the_document_as_text() -> None:
    canvas = Canvas(BytesIO(), pageCompression=0)
    with TextWriter(canvas) as writer:
        writer.draw("Söhne 王小明 (Ltd)", 10, 10)
        writer.draw("東京ラーメン", 10, 30, right=True)
    for text in ("王小明", "東京ラーメン"):
        assert f"({escapePDF(text.encode('utf-16-be'))}) Tj" in "".join(canvas._code)


def test_a_long_word_is_broken_without_loss() -> None:
    found = break_lines("W" * 200, BOLD, 11, 200)
    assert "".join(found) == "W" * 200
    assert all(text_width(line, BOLD, 11) <= 200 for line in found)


def test_lines_break_between_words() -> None:
    assert break_lines("a market in the sun", REGULAR, 10, 60) == ["a market in", "the sun"]
    assert break_lines("", REGULAR, 10, 60) == [""]


def test_cut_text_ends_in_an_ellipsis() -> None:
    (line,) = break_lines("a market in the sun", REGULAR, 10, 60, most=1)
    assert line.endswith("…") and text_width(line, REGULAR, 10) <= 60


def test_a_name_gets_smaller_before_it_is_cut() -> None:
    found, size = fit_text("a market in the sun and in the shade", REGULAR, 20, 150, most=2)
    assert size < 20 and "".join(found).endswith("shade")
