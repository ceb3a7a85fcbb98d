"""Names of files that people download or get by mail: `windhoek-lights-anna-weber.pdf`."""

import unicodedata
from urllib.parse import quote

PART_LENGTH = 40
_KEPT_CATEGORIES = frozenset("LMN")
"""Letters, their marks, and digits."""


def build_file_name(*parts: str, extension: str, default: str) -> str:
    """Return a file name of the words of each part, in lower case with hyphens; `default` if there are none.

    It is at most 255 bytes long for two parts, as file systems allow.
    """
    slugs = [slug for part in parts if (slug := _slugify(part))]
    return f"{'-'.join(slugs) or default}.{extension}"


def build_attachment_header(file_name: str) -> str:
    """Return the value of Content-Disposition (RFC 6266): a name in ASCII, and the name itself if it has more."""
    if file_name.isascii():
        return f'attachment; filename="{file_name}"'
    stem, _, extension = file_name.rpartition(".")
    plain_stem = unicodedata.normalize("NFKD", stem.casefold()).encode("ascii", "ignore").decode()
    plain_name = build_file_name(plain_stem.replace("-", " "), extension=extension, default="ticket")
    return f"attachment; filename=\"{plain_name}\"; filename*=UTF-8''{quote(file_name, safe='')}"


def _slugify(text: str) -> str:
    characters = unicodedata.normalize("NFC", text).lower()
    words = "".join(
        character if unicodedata.category(character)[0] in _KEPT_CATEGORIES else " " for character in characters
    ).split()
    return "-".join(words)[:PART_LENGTH].strip("-")
