"""Names keep what they need to be written and lose what nobody sees."""

import sys
import unicodedata

import pytest

from app.core.text_normalization import clean_name

KEPT = [
    "Frieda Amupolo",
    "Zoë Großmann",
    "N!xau ǂToma",
    "مهدی\u200cزاده",  # Persian: non-joiner between letters
    "میرزا\u200cعلی",
    "क्\u200dषिति",  # Devanagari: joiner after the virama
    "श्री",
    "ශ්\u200dරී",  # Sinhala
    "র\u200d্যাব",  # Bengali: joiner before the virama
    "അവന്\u200d",  # Malayalam: old chillu at the end
    "\u0939\u094d\u200c\u092e",  # Devanagari: non-joiner after the virama
    "Ngũgĩ wa Thiong’o",
    "e\u0301\u0323\u0302",  # combining marks
    "שָׁלוֹם",  # Hebrew points
    "葛\U000e0100城",  # a variant of an ideograph
    "ᠮᠣᠩᠭᠣᠯ\u180bᠠ",  # Mongolian
    "Ees ❤\ufe0f",
    "👩\u200d🍳 Kapana",
    "👩🏾\u200d🌾",
    "🏳\ufe0f\u200d🌈",
    "สมชาย",
    "木村　太郎",
]
REMOVED = [
    ("Frieda\u202e nimda", "Frieda nimda"),
    ("\u2066Frieda\u2069", "Frieda"),
    ("\u200fFrieda\u200e", "Frieda"),
    ("\ufeffFrieda", "Frieda"),
    ("Fri\u200beda", "Frieda"),
    ("Fri\u200c\u200deda", "Frieda"),
    ("Fri\u2060eda\u00ad", "Frieda"),
    ("Frieda" + "".join(chr(0xE0000 + ord(item)) for item in "hello"), "Frieda"),
    ("Frieda\U000e0001\U000e007f", "Frieda"),
    ("Frieda\ufe0f", "Frieda"),
    ("😀\U000e0142\U000e0143", "😀"),
    ("😀\ufe0f\ufe0f\ufe0f", "😀\ufe0f"),
    ("مهدی\u200d\u200c\u200cزاده", "مهدی\u200cزاده"),
    ("مهدی\u200c", "مهدی"),
    ("مهدی\u200cA", "مهدیA"),
    ("\u3164\u115f\uffa0", ""),
    ("\u200d \u200b", ""),
    ("Frieda \u200b", "Frieda"),
    ("a\u2028b", "ab"),
]


@pytest.mark.parametrize("name", KEPT)
def test_names_keep_necessary_characters(name: str) -> None:
    assert clean_name(name) == name


@pytest.mark.parametrize(("name", "cleaned"), REMOVED)
def test_names_lose_invisible_characters(name: str, cleaned: str) -> None:
    assert clean_name(name) == cleaned
    assert clean_name(cleaned) == cleaned


def test_no_format_character_is_left_between_latin_letters() -> None:
    visible = {
        "\u0600",
        "\u0601",
        "\u0602",
        "\u0603",
        "\u0604",
        "\u0605",
        "\u06dd",
        "\u070f",
        "\u0890",
        "\u0891",
        "\u08e2",
        "\U000110bd",
        "\U000110cd",
    }
    hidden = [
        chr(code)
        for code in range(sys.maxunicode)
        if unicodedata.category(chr(code)) == "Cf" and chr(code) not in visible and not 0x13430 <= code <= 0x13455
    ]
    assert [f"{ord(item):04X}" for item in hidden if clean_name(f"a{item}b") != "ab"] == []
