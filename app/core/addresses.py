"""Addresses of pages and pictures elsewhere, by their form alone: none is ever fetched. And of people, half hidden."""

from urllib.parse import urlsplit

import email_validator

email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
RESERVED = ("test", "example", "localhost", "invalid", "local")
LONGEST = 254
HIDDEN_DIGITS = "••••"


def is_url(url: str, schemes: tuple[str, ...]) -> bool:
    """Whether the text is an absolute address of one of these schemes, without a name and password in it."""
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.username is None and " " not in url
    except ValueError:
        return False


def parse_email_address(text: str) -> str:
    """The address of a mailbox by its syntax, lower-case; a ValueError when it is none."""
    if len(text) > LONGEST:
        raise ValueError(text)
    address = email_validator.validate_email(text, check_deliverability=False, test_environment=True).normalized.lower()
    if len(address) > LONGEST or address != address.lower():
        raise ValueError(text)
    return address


def is_reserved(address: str) -> bool:
    """Whether its domain receives no mail, ever."""
    return address.rpartition(".")[2].rpartition("@")[2] in RESERVED


def mask_email(address: str | None) -> str | None:
    """`t•••@kapana-corner.example`, `•••123`: enough for its owner to know which mailbox or telephone it is."""
    if not address:
        return None
    user, at, domain = address.rpartition("@")
    return f"{user[:1]}•••@{domain}" if at else f"•••{address[-3:]}"


def mask_number(number: str, *, visible_digits: int = 4, separator: str = "") -> str:
    """`••••4567`: the last digits of a wallet or bank account number; a number without more digits is hidden."""
    return f"{HIDDEN_DIGITS}{separator}{number[-visible_digits:] if len(number) > visible_digits else ''}"
