"""Text on a page: broken where it must be, whole, and with a visible sign for what the font does not have."""

from app.core.pdf_text import BOLD, REGULAR, SUBSTITUTE, break_lines, fit_text, printable, text_width

CAMPFIRE, FAMILY = "\U0001f525", "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def test_letters_of_the_font_do_not_change() -> None:
    name = "ǃGaroës & Söhne ǀǁǂ Ξένιος Москва <img src=file:///etc/passwd>"
    assert printable(name) == name
    assert printable("N$\u00a01\u202f234.50") == "N$\u00a01\u202f234.50"


def test_an_emoji_becomes_one_box() -> None:
    assert printable(f"Kapana {CAMPFIRE}") == f"Kapana {SUBSTITUTE}"
    assert printable(FAMILY) == SUBSTITUTE
    assert printable("\u2764\ufe0f") == "\u2764"
    assert printable("a\x00b\u202ec") == "abc"


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
