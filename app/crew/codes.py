"""Shift codes: six digits, shown once, of which a keyed hash is kept."""

import secrets
from collections.abc import Container

import segno

from app.core.tokens import derive

DIGITS = 6


def hash_of(merchant_id: str, event_id: str, code: str) -> str:
    """What the database keeps; without SECRET_KEY nobody finds the code in it."""
    return derive("shift-code", merchant_id, event_id, code).hex()


def new_code(merchant_id: str, event_id: str, taken: Container[str]) -> str:
    """A code that nobody at the stall has."""
    while True:
        code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}d}"
        if hash_of(merchant_id, event_id, code) not in taken:
            return code


def qr_of(member_id: str, code: str) -> str:
    """Member and code as a QR picture, for the screen or for a badge: a data address of an SVG."""
    return segno.make(f"{member_id}:{code}", error="m", micro=False).svg_data_uri(scale=4, border=4)
