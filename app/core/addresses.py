"""URLs and email addresses: checks of their form, masks, and web addresses in plain text, which mail programs turn into links.

Nothing is fetched.
"""

import re
import unicodedata
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit

import email_validator

email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
RESERVED_DOMAINS = ("test", "example", "localhost", "invalid", "local")
MAX_EMAIL_LENGTH = 254
HIDDEN_DIGITS = "••••"
IPV4_BITS, IPV6_BITS = 24, 48


def is_url(url: str, schemes: tuple[str, ...]) -> bool:
    """Whether the text is an absolute URL with one of these schemes and without a user name."""
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.username is None and " " not in url
    except ValueError:
        return False


def truncate_address(address: str | None) -> str | None:
    """Return the network around an address, a /24 or a /48, which does not identify a person; None without an address."""
    try:
        parsed = ip_address(address or "")
    except ValueError:
        return None
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    bits = IPV6_BITS if isinstance(parsed, IPv6Address) else IPV4_BITS
    return str(ip_network((int(parsed), bits), strict=False))


def parse_email_address(text: str) -> str:
    """Return an email address in lower case. Raises ValueError when the syntax is wrong."""
    if len(text) > MAX_EMAIL_LENGTH:
        raise ValueError(text)
    address = email_validator.validate_email(text, check_deliverability=False, test_environment=True).normalized.lower()
    if len(address) > MAX_EMAIL_LENGTH or address != address.lower():
        raise ValueError(text)
    return address


def is_reserved(address: str) -> bool:
    """Whether the domain is reserved and never receives mail."""
    return address.rpartition(".")[2].rpartition("@")[2] in RESERVED_DOMAINS


def mask_address(address: str | None) -> str | None:
    """Return `t•••@kapana-corner.example` or `•••123`: enough for the owner to recognise the mailbox or telephone."""
    if not address:
        return None
    user, at, domain = address.rpartition("@")
    return f"{user[:1]}•••@{domain}" if at else f"•••{address[-3:]}"


def mask_number(number: str, *, visible_digits: int = 4) -> str:
    """`••••4567`: the last digits of a wallet or bank account number; a number without more digits is hidden."""
    return f"{HIDDEN_DIGITS}{number[-visible_digits:] if len(number) > visible_digits else ''}"


_NO_LETTERS = frozenset({"Cf", "Mn", "Mc", "Me"})
BREAK = "\u200b"
_SCHEME = re.compile(
    r"(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}:/{1,3}\S|(?<!\S)/{2}\w|(?<![a-z0-9])(?:javascript|data|mailto):\S"
)
_WWW = re.compile(r"(?<![a-z0-9])www\d{0,2}\.\w")
_MAIL = re.compile(r"(?<![^\s@<>()])[^\s@<>()]+@[\w-]+(?:\.[\w-]+)+(?![\w/-])")
_NAME = re.compile(r"(?<!\w)((?:\w(?:[\w-]{0,61}\w)?\.)+)([^\W\d_][\w-]{0,62}[^\W_])(?!\w)(\.?[/?#]|:\d)?")
_NUMBERS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d|/)")
_JOINTS = re.compile(r"[.\u3002\uff61\uff0e\u2024\ufe12](?=\w)|(?<=:)/(?=/)|@(?=\w)")
_DOTS = str.maketrans({"\u3002": ".", "\uff61": ".", "\u2024": ".", "\ufe12": "."})


def find_web_address(text: str) -> str | None:
    """Return the first web address in the text: with a scheme, `www.…`, or a domain name such as `example.com/x`.

    Email addresses do not count, nor do `a.m.`, `St. John`, `N$ 1.500`, `12.Dez`. None when there is none.
    """
    if "." not in text and "/" not in text and ":" not in text and text.isascii():
        return None
    plain = _normalized(text)
    for pattern in (_SCHEME, _WWW, _NUMBERS):
        if match := pattern.search(plain):
            return _word_at(plain, match.start())
    without_mail = _MAIL.sub(" ", plain)
    for match in _NAME.finditer(without_mail):
        if match[3] or match[2] in _top_level_domains():
            return _word_at(without_mail, match.start())
    return None


def break_web_addresses(text: str) -> str:
    """Return the text with an invisible break inside each web address, so that mail programs make no link of it."""
    if find_web_address(text) is None:
        return text
    return _JOINTS.sub(lambda match: match[0] + BREAK, text)


def _normalized(text: str) -> str:
    """Return the text in lower case, with ordinary instead of full-width letters, without invisible characters and marks.

    `\\w` does not match marks, but domain names in most Indic scripts and in Thai contain them.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_DOTS))
        text = "".join(letter for letter in text if unicodedata.category(letter) not in _NO_LETTERS)
    return text.lower()


def _word_at(text: str, start: int) -> str:
    return text[start:].split(maxsplit=1)[0][:60]


@cache
def _top_level_domains() -> frozenset[str]:
    """Return all top-level domains, those of other alphabets in both spellings."""
    lines = Path(__file__).with_name("top_level_domains.txt").read_text("ascii").lower().splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    spelled = [name[4:].encode("ascii").decode("punycode") for name in names if name.startswith("xn--")]
    return frozenset([*names, *map(_normalized, spelled)])
