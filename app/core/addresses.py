"""Checks the form of URLs and email addresses, without fetching anything, and masks email addresses."""

from urllib.parse import urlsplit

import email_validator

email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
RESERVED_DOMAINS = ("test", "example", "localhost", "invalid", "local")
MAX_EMAIL_LENGTH = 254


def is_url(url: str, schemes: tuple[str, ...]) -> bool:
    """Whether the text is an absolute URL with one of these schemes and without a user name."""
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.username is None and " " not in url
    except ValueError:
        return False


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


def mask_email(address: str | None) -> str | None:
    """Return `t•••@kapana-corner.example` or `•••123`: enough for the owner to recognise the mailbox or telephone."""
    if not address:
        return None
    user, at, domain = address.rpartition("@")
    return f"{user[:1]}•••@{domain}" if at else f"•••{address[-3:]}"
