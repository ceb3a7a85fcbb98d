"""Headers of a mail, encoded without the email library's parsing.

The library decodes header values before it writes them: an encoded word (`=?utf-8?q?=0d=0aBcc:_x?=`) that somebody
typed as their name would become a header of its own. Here nothing is decoded. A value that looks like an encoded word,
or is not ASCII, is encoded as text.
"""

from email.header import Header
from email.policy import Policy
from email.utils import formataddr

MAX_UNFOLDED_LENGTH = 900
"""A line may have 998 bytes. Links are never folded, because mail programs do not join them again."""


class Line(str):
    """A header's value that the library writes unchanged, because it has the `name` and `fold` of its header class."""

    name: str

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


def format_line(name: str, value: str) -> Line:
    """A header whose value is written unchanged."""
    line = Line(value)
    line.name = name
    return line


def encode_text(name: str, value: str) -> Line:
    """A header of free text: folded at blanks, and encoded if necessary."""
    if _is_plain(value) and " " not in value and len(value) <= MAX_UNFOLDED_LENGTH:
        return format_line(name, value)
    return format_line(
        name, Header(value, "us-ascii" if _is_plain(value) else "utf-8", header_name=name).encode(linesep="\r\n")
    )


def format_mailbox(name: str, display_name: str, address: str) -> Line:
    """A header with a display name and an address; the address is written unchanged."""
    if not display_name or _is_plain(display_name):
        return format_line(name, formataddr((display_name, address)))
    return format_line(
        name, f"{Header(display_name, 'utf-8', header_name=name).encode(linesep=chr(13) + chr(10))}\r\n <{address}>"
    )


def _is_plain(value: str) -> bool:
    return value.isascii() and "=?" not in value
