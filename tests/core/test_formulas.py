"""No part of a text becomes a formula, whatever a spreadsheet splits a file by; and every text comes back."""

import csv
import io
import re
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import text as sql

from app.core.db import db
from app.core.spreadsheet_cells import FORMULA, SEPARATORS, escape, escape_sql, unescape

PARTS = st.sampled_from(["=", "+", "-", "@", "＝", "＠", "'", '"', ";", "|", "\t", "\n", "\r", ",", " ", "x", "1", "ö"])
TEXTS = st.one_of(st.lists(PARTS, max_size=12).map("".join), st.text(max_size=30))
QUICK: Any = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet could take a cell for a formula; some ignore blanks and quotes before it."""
    return cell.lstrip(' "')[:1] in tuple(FORMULA) and cell.lstrip(' "') != ""


def cells_of(written: str) -> list[str]:
    """Every cell that a spreadsheet could find in a file, by any separator, whether or not it minds quotes."""
    found = re.split(f"[{SEPARATORS}]", written)
    for delimiter in ",;\t|":
        for row in csv.reader(io.StringIO(written, newline=""), delimiter=delimiter):
            found += row
    return found


def written(row: list[str], quoting: Any) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=quoting).writerow(row)
    return out.getvalue()


@pytest.mark.parametrize(
    "payload", ["x;=2+5;y", "x\t=2+5", "x\n=2+5", 'x;"=2+5"', "x; =2+5", "'=1+1;=1+2", "x|@SUM(1)"]
)
def test_text_after_a_separator_is_escaped(payload: str) -> None:
    assert any(map(is_formula, cells_of(written(["sku", payload], csv.QUOTE_ALL)))), "the payload works"
    assert not any(map(is_formula, cells_of(written(["sku", escape(payload)], csv.QUOTE_ALL))))
    assert unescape(escape(payload)) == payload


def test_harmless_text_does_not_change() -> None:
    for text in ("Tent 3; shelf 2", "two\nlines", "O'Brien", "a-b", "1 = 1", "'quoted'", "", 'say "yes"; no'):
        assert escape(text) == unescape(text) == text


@settings(max_examples=500, **QUICK)
@given(row=st.lists(TEXTS, min_size=1, max_size=4), quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
@example(row=['x;"', "=1"], quoting=csv.QUOTE_MINIMAL)
def test_no_cell_is_a_formula_by_any_separator(row: list[str], quoting: Any) -> None:
    assert [cell for cell in cells_of(written([escape(item) for item in row], quoting)) if is_formula(cell)] == []


@settings(max_examples=500, **QUICK)
@given(text=TEXTS)
def test_unescape_restores_every_text(text: str) -> None:
    assert unescape(escape(text)) == text


def test_sql_escapes_like_python(app: Flask) -> None:
    query = sql(f"SELECT given, {escape_sql('given')} FROM unnest(CAST(:texts AS text[])) AS it (given)")

    @settings(max_examples=40, **QUICK)
    @given(texts=st.lists(TEXTS.map(lambda text: text.replace("\x00", "")), min_size=1, max_size=20))
    def alike(texts: list[str]) -> None:
        with db.engine.connect() as connection:
            for given_text, escaped in connection.execute(query, {"texts": texts}):
                assert escaped == escape(given_text)

    alike()
