"""Claim, allocator and open links: derived from id, purpose and generation, so they can be shown and sent again
without being stored.

A token says what it is for, and 136 bits of keyed hash prove that it was given out. Whether its generation still
counts stands at the slot or block. A claim code is the other thing that opens a claim page: ten characters.
"""

import secrets
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Literal

from flask import current_app

from app.core.tokens import derive

Purpose = Literal["claim", "open", "allocator"]
MARKS: dict[Purpose, bytes] = {"claim": b"C", "open": b"O", "allocator": b"A"}
PURPOSES: dict[bytes, Purpose] = {mark: purpose for purpose, mark in MARKS.items()}
PAGES: dict[Purpose, str] = {"claim": "claim", "open": "claim", "allocator": "allocator"}
ID, GENERATION, PROOF = 12, 3, 17
LENGTH = (1 + ID + GENERATION + PROOF) // 3 * 4

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 10
_READ_AS = str.maketrans({"O": "0", "I": "1", "L": "1"} | dict.fromkeys("- \t\u00a0\u202f", ""))
_KNOWN = frozenset(ALPHABET)


@dataclass(frozen=True)
class Link:
    """What a token that we gave out leads to: a slot's id (claim) or a block's, and the generation it was made for."""

    purpose: Purpose
    id: str
    generation: int


def token_of(purpose: Purpose, id: str, generation: int) -> str:
    """The token: 44 url-safe characters."""
    plain = MARKS[purpose] + bytes.fromhex(id) + generation.to_bytes(GENERATION, "big")
    return urlsafe_b64encode(plain + _proof(purpose, id, generation)).decode()


def url_of(purpose: Purpose, id: str, generation: int) -> str:
    """The page that the token opens."""
    return f"{base_of(purpose)}{token_of(purpose, id, generation)}"


def base_of(purpose: Purpose) -> str:
    """What a page's address begins with; the token or a claim code follows."""
    base: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base}/{PAGES[purpose]}/"


def read(token: str) -> Link | None:
    """What a token leads to; None for one that was never given out."""
    if len(token) != LENGTH or not token.isascii():
        return None
    try:
        raw = b64decode(token, altchars=b"-_", validate=True)
    except ValueError:
        return None
    purpose = PURPOSES.get(raw[:1])
    if purpose is None:
        return None
    id, generation = raw[1 : 1 + ID].hex(), int.from_bytes(raw[1 + ID : 1 + ID + GENERATION], "big")
    given = secrets.compare_digest(raw[1 + ID + GENERATION :], _proof(purpose, id, generation))
    return Link(purpose, id, generation) if given else None


def new_code() -> str:
    """A code: ten characters that cannot be mistaken for one another, 50 random bits; never one that a
    spreadsheet takes for a number (all digits, or with one E among them)."""
    while True:
        number = secrets.randbits(5 * CODE_LENGTH)
        code = "".join(ALPHABET[number >> 5 * place & 31] for place in range(CODE_LENGTH))
        if not code.replace("E", "", 1).isdigit():
            return code


def code_in(text: str) -> str | None:
    """The claim code that somebody has typed, in any case, with blanks or hyphens, O for 0; None when it is none."""
    if len(text) > 40:
        return None
    code = text.upper().translate(_READ_AS)
    return code if len(code) == CODE_LENGTH and _KNOWN.issuperset(code) else None


def _proof(purpose: Purpose, id: str, generation: int) -> bytes:
    return derive("allocation-link", purpose, id, generation)[:PROOF]
