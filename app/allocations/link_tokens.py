"""Tokens of claim, open and allocator links, and claim codes.

A token has a purpose, an id and a generation, signed with 136 bits of a keyed hash. So a link is not stored and can be
shown again; it is valid while its generation is that of the slot or block.
"""

import secrets
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Literal

from flask import current_app

from app.core.tokens import derive

Purpose = Literal["claim", "open", "allocator"]
PURPOSE_BYTES: dict[Purpose, bytes] = {"claim": b"C", "open": b"O", "allocator": b"A"}
PURPOSE_BY_BYTE: dict[bytes, Purpose] = {purpose_byte: purpose for purpose, purpose_byte in PURPOSE_BYTES.items()}
PAGE_PATHS: dict[Purpose, str] = {"claim": "claim", "open": "claim", "allocator": "allocator"}
ID_LENGTH, GENERATION_LENGTH, SIGNATURE_LENGTH = 12, 3, 17
TOKEN_LENGTH = (1 + ID_LENGTH + GENERATION_LENGTH + SIGNATURE_LENGTH) // 3 * 4
CODE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 10
_CODE_TRANSLATION = str.maketrans({"O": "0", "I": "1", "L": "1"} | dict.fromkeys("- \t\u00a0\u202f", ""))
_CODE_CHARACTERS = frozenset(CODE_ALPHABET)


@dataclass(frozen=True)
class LinkToken:
    """The content of a token: the id of a slot (claim) or of a block (open, allocator), and the generation."""

    purpose: Purpose
    id: str
    generation: int


def encode_token(purpose: Purpose, id: str, generation: int) -> str:
    """Return the token: 44 URL-safe characters."""
    payload = PURPOSE_BYTES[purpose] + bytes.fromhex(id) + generation.to_bytes(GENERATION_LENGTH, "big")
    return urlsafe_b64encode(payload + _sign(purpose, id, generation)).decode()


def build_link_url(purpose: Purpose, id: str, generation: int) -> str:
    """Return the URL of the page that the token opens."""
    return f"{build_url_prefix(purpose)}{encode_token(purpose, id, generation)}"


def build_url_prefix(purpose: Purpose) -> str:
    """Return the URL of a page up to the token or claim code."""
    base_url: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/{PAGE_PATHS[purpose]}/"


def decode_token(token: str) -> LinkToken | None:
    """Return the content of a token; None if its signature is wrong."""
    if len(token) != TOKEN_LENGTH or not token.isascii():
        return None
    try:
        raw = b64decode(token, altchars=b"-_", validate=True)
    except ValueError:
        return None
    purpose = PURPOSE_BY_BYTE.get(raw[:1])
    if purpose is None:
        return None
    id_end, generation_end = 1 + ID_LENGTH, 1 + ID_LENGTH + GENERATION_LENGTH
    id = raw[1:id_end].hex()
    generation = int.from_bytes(raw[id_end:generation_end], "big")
    is_genuine = secrets.compare_digest(raw[generation_end:], _sign(purpose, id, generation))
    return LinkToken(purpose, id, generation) if is_genuine else None


def generate_code() -> str:
    """Return a random claim or ticket code: ten characters of an alphabet without look-alikes, 50 bits.

    A code never looks like a number to a spreadsheet (all digits, or digits and one E).
    """
    while True:
        random_bits = secrets.randbits(5 * CODE_LENGTH)
        code = "".join(CODE_ALPHABET[random_bits >> 5 * position & 31] for position in range(CODE_LENGTH))
        if not code.replace("E", "", 1).isdigit():
            return code


def parse_code(text: str) -> str | None:
    """Return the code that was typed in any case, with blanks or hyphens, O for 0, I or L for 1; None if invalid."""
    if len(text) > 40:
        return None
    code = text.upper().translate(_CODE_TRANSLATION)
    return code if len(code) == CODE_LENGTH and _CODE_CHARACTERS.issuperset(code) else None


def _sign(purpose: Purpose, id: str, generation: int) -> bytes:
    return derive("allocation-link", purpose, id, generation)[:SIGNATURE_LENGTH]
