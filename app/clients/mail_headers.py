"""Headers of a mail, written by us to the letter.

The library reads whatever it is given before it writes it: an encoded word (`=?utf-8?q?=0d=0aBcc:_x?=`), typed by
somebody as their name, is decoded on the way and becomes a header of its own. Here nothing is read. What has such a
form, or is not ASCII, goes out encoded as the text that it is.
"""

from email.header import Header
from email.utils import formataddr
from typing import Any

UNFOLDED = 900
"""A line may have 998 bytes. Links are never folded, because no mail program puts them together again."""


class Line(str):
    """What stands behind a header's name; the library takes it as it is, because it looks like a header of its own."""

    name: str

    def fold(self, *, policy: Any) -> str:
        return f"{self.name}: {self}{policy.linesep}"


def format_line(name: str, value: str) -> Line:
    """The header, in ASCII when the value is."""
    line = Line(value)
    line.name = name
    return line


def encode_text(name: str, value: str) -> Line:
    """A header for people or programs to read: folded at blanks, encoded where it must be."""
    if _plain(value) and " " not in value and len(value) <= UNFOLDED:
        return format_line(name, value)
    return format_line(
        name, Header(value, "us-ascii" if _plain(value) else "utf-8", header_name=name).encode(linesep="\r\n")
    )


def format_mailbox(name: str, who: str, address: str) -> Line:
    """A header that names somebody and the address, which is taken as it is."""
    if not who or _plain(who):
        return format_line(name, formataddr((who, address)))
    return format_line(
        name, f"{Header(who, 'utf-8', header_name=name).encode(linesep=chr(13) + chr(10))}\r\n <{address}>"
    )


def _plain(value: str) -> bool:
    return value.isascii() and "=?" not in value
