"""Normalises text that people send, in a body or in a cell of a table."""

import re
import unicodedata

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters other than newline, carriage return and tab, and halves of characters."""


def normalize_text(text: str) -> str:
    """Return the text in NFC, with newlines as line ends and without surrounding blanks."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).strip()
