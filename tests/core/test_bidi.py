"""Right-to-left lines in the order of the eye. Hebrew shows the order, Arabic the forms of letters as well."""

import pytest

from app.core.bidi import join_arabic, to_visual_order

SHALOM = "שלום"


@pytest.mark.parametrize(
    ("spoken", "seen"),
    [
        ("Windhoek Lights", "Windhoek Lights"),
        (SHALOM, "םולש"),
        (f"Bar {SHALOM} Café", "Bar םולש Café"),
        (f"{SHALOM} עולם", "םלוע םולש"),
        (f"{SHALOM} 2026", "2026 םולש"),
        (f"Hall {SHALOM} 12, left", "Hall 12 םולש, left"),
        (f"{SHALOM} Windhoek Lights!", "!Windhoek Lights םולש"),
        (f"({SHALOM})", "(םולש)"),
        (f"{SHALOM} 1.5%", "1.5% םולש"),
        (f"{SHALOM} 10-20", "10-20 םולש"),
        (f"{SHALOM}, 4/12", "4/12 ,םולש"),
        ("שָׁלוֹם", "םוֹלשָׁ"),
        (f"{SHALOM} ", " םולש"),
    ],
)
def test_a_line_is_put_into_visual_order(spoken: str, seen: str) -> None:
    assert to_visual_order(spoken) == seen


@pytest.mark.parametrize(
    ("written", "forms"),
    [
        ("سلام", "\ufeb3\ufefc\ufee1"),
        ("محمد", "\ufee3\ufea4\ufee4\ufeaa"),
        ("نور", "\ufee7\ufeee\ufead"),
        ("لا", "\ufefb"),
        ("مُحَ", "\ufee3\u064f\ufea2\u064e"),
        ("می\u200cخواهم", "\ufee3\ufbfd\ufea7\ufeee\ufe8d\ufeeb\ufee2"),
        ("Windhoek", "Windhoek"),
    ],
)
def test_arabic_letters_join(written: str, forms: str) -> None:
    assert join_arabic(written) == forms


def test_no_character_is_lost() -> None:
    odd = "a\u0660b\u05d01%\u0627-,/+ \u064b\u05b0"
    assert sorted(to_visual_order(odd)) == sorted(odd)
    assert to_visual_order("\u0301") == "\u0301" and to_visual_order("") == "" and join_arabic("") == ""
