"""Escapes text for CSV files so that no spreadsheet runs it as a formula, and unescapes it.

A spreadsheet splits a file by the separator of the user's locale: a cell with `x;=2+5` becomes two cells where that is
a semicolon. Quotes do not help, because they are no longer at the beginning of a field. So the part after each
separator is treated like the beginning of a cell: if it looks like a formula, a quote goes before it. A part that has
such a quote already gets another one, so that `unescape` returns every text unchanged.
"""

import re

SEPARATORS = r";|\t\n\r"
FORMULA = "=+@＝＋－＠-"
_BEGINS = rf"""["' ]*[{FORMULA}]"""
_BLANK = r"""["' ]*[\t\r]"""
_ESCAPE = re.compile(rf"(^|[{SEPARATORS}])(?={_BEGINS})|^(?={_BLANK})")
_UNESCAPE = re.compile(rf"(^|[{SEPARATORS}])'(?={_BEGINS})|^'(?={_BLANK})")
_FIRST = ", ".join(str(ord(character)) for character in f"{FORMULA}\t\r\"' ")


def escape(text: str) -> str:
    """Return the text for a cell of a CSV file."""
    return _ESCAPE.sub(r"\1'", text)


def unescape(text: str) -> str:
    """Return the original text of a cell from `escape` or `escape_sql`."""
    return _UNESCAPE.sub(r"\1", text) if "'" in text else text


def escape_sql(column: str) -> str:
    """Return `escape` as an SQL expression. Nearly all texts skip the regular expression by their first character."""
    pattern, replacement = _ESCAPE.pattern.replace("'", "''"), r"\1''"
    has_separator = " OR ".join(f"strpos({column}, chr({ord(character)})) > 0" for character in ";|\t\n\r")
    return (
        f"CASE WHEN ascii({column}) IN ({_FIRST}) OR {has_separator} "
        f"THEN regexp_replace({column}, '{pattern}', '{replacement}', 'g') ELSE {column} END"
    )
