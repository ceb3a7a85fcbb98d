"""Counts of things in English, and times in tables."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from flask import Flask

from app.core.formatting import format_count, format_number, format_short_time
from app.core.languages import use_language
from app.core.spreadsheet import Rejected, RowError
from app.inventory.formatting import format_quantity


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [(1, "error", "1 error"), (0, "error", "0 errors"), (2, "entry", "2 entries"), (2, "box", "2 boxes")],
)
def test_count_has_the_form_of_its_number(count: int, noun: str, text: str) -> None:
    assert format_count(count, noun) == text


def test_one_error_is_one_error() -> None:
    assert str(Rejected([RowError(2, "sku", "required", "Missing.", "")])).endswith("\n1 error; nothing was written.")


@pytest.mark.parametrize(
    ("quantity", "unit", "text"),
    [
        ("39", "sleeve", "39 sleeves"),
        ("1", "sleeve", "1 sleeve"),
        ("2", "box", "2 boxes"),
        ("12.5", "kg", "12.5 kg"),
        ("3", "pcs", "3 pcs"),
        ("3", "6-pack", "3 6-pack"),
        ("3", "krat", "3 krat"),
        ("3", "Kiste", "3 Kiste"),
        ("3", "battery", "3 batteries"),
        ("4", None, "4"),
    ],
)
def test_unit_has_the_form_of_its_quantity(quantity: str, unit: str | None, text: str) -> None:
    assert format_quantity(Decimal(quantity), unit) == text


@pytest.mark.parametrize(
    ("language", "zone", "text"),
    [
        ("en", None, "4 Dec 2026, 18:00"),
        ("de", None, "4. Dez. 2026, 18:00"),
        ("en", "Europe/Berlin", "4 Dec 2026, 17:00 (Berlin)"),
    ],
)
def test_the_time_in_a_table_is_short(app: Flask, language: str, zone: str | None, text: str) -> None:
    with use_language(language):
        assert format_short_time(datetime(2026, 12, 4, 16, tzinfo=UTC), zone) == text


def test_decimals_have_the_sign_of_the_language(app: Flask) -> None:
    with use_language("de"):
        assert format_number(1234.5) == "1\u202f234,5"


def test_thousands_have_a_narrow_space() -> None:
    assert [format_number(number) for number in (999, 12345, -1234567, 1234.5, Decimal("48.000"))] == [
        "999",
        "12\u202f345",
        "−1\u202f234\u202f567",
        "1\u202f234.5",
        "48",
    ]
