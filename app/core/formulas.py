"""Texts in CSV files that no spreadsheet takes for a formula, and the way back.

A spreadsheet splits a file by the separator of its user's locale, whatever the file was written with: a cell that holds
`x;=2+5` becomes two cells where that is a semicolon. Quotes do not help, because they no longer stand at the beginning
of a field. So every part of a text that follows a separator is treated like the beginning of a cell: where it looks
like a formula, a quote goes in front of it. A part that already has such a quote gets another one, so that `unescape`
gives every text back as it was.
"""

import re

SEPARATORS = r";|\t\n\r"
FORMULA = "=+@＝＋－＠-"
_BEGINS = rf"""["' ]*[{FORMULA}]"""
_BLANK = r"""["' ]*[\t\r]"""
_ESCAPE = re.compile(rf"(^|[{SEPARATORS}])(?={_BEGINS})|^(?={_BLANK})")
_UNESCAPE = re.compile(rf"(^|[{SEPARATORS}])'(?={_BEGINS})|^'(?={_BLANK})")
_FIRST = ", ".join(str(ord(item)) for item in f"{FORMULA}\t\r\"' ")


def escape(text: str) -> str:
    """The text for a cell of a CSV file."""
    return _ESCAPE.sub(r"\1'", text)


def unescape(text: str) -> str:
    """The text of a cell that `escape` or `escape_sql` made."""
    return _UNESCAPE.sub(r"\1", text) if "'" in text else text


def escape_sql(column: str) -> str:
    """`escape` as an SQL expression. Nearly all texts are passed by their first character and without a separator."""
    pattern, replacement = _ESCAPE.pattern.replace("'", "''"), r"\1''"
    separated = " OR ".join(f"strpos({column}, chr({ord(item)})) > 0" for item in ";|\t\n\r")
    return (
        f"CASE WHEN ascii({column}) IN ({_FIRST}) OR {separated} "
        f"THEN regexp_replace({column}, '{pattern}', '{replacement}', 'g') ELSE {column} END"
    )
