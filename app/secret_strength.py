"""Estimates how hard a secret is to guess, from the secret alone."""

import math
import re
import zlib
from collections import Counter

PUBLISHED = "development-only-secret-never-use-in-production"
PLACEHOLDER = re.compile(
    r"change.?me|change.?this|replace.?(me|this)|your.{0,3}secret|placeholder|qwerty", re.IGNORECASE
)
"""Texts that templates of settings have in place of a secret."""
ZLIB_OVERHEAD = 8
"""Bytes that zlib adds to anything: header, checksum, block."""
BITS_PER_CHARACTER = 1.5
"""Random hexadecimal digits have 3 to 4 by this estimate, repeated or consecutive characters under 1."""


def is_guessable(secret: str, *, length: int) -> bool:
    """Whether a secret contains the published one or a placeholder, is too short, or has few, repeated or consecutive
    characters."""
    secret = secret.strip()
    known = PUBLISHED in secret.lower() or PLACEHOLDER.search(secret) is not None
    return known or len(secret) < length or estimated_bits(secret) < BITS_PER_CHARACTER * length


def estimated_bits(secret: str) -> float:
    """Return the entropy of the characters or of the steps between them, the smaller one, without repetitions."""
    characters = secret.encode()
    steps = bytes((after - before) % 256 for before, after in zip(characters, characters[1:], strict=False))
    return min(_bits(characters), _bits(steps))


def _bits(values: bytes) -> float:
    entropy = -sum(n / len(values) * math.log2(n / len(values)) for n in Counter(values).values())
    return entropy * min(len(values), len(zlib.compress(values, 9)) - ZLIB_OVERHEAD)
