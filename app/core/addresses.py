"""Addresses of pages and pictures elsewhere, by their form alone: none is ever fetched. And of people, half hidden."""

from urllib.parse import urlsplit


def is_address(url: str, schemes: tuple[str, ...]) -> bool:
    """Whether the text is an absolute address of one of these schemes, without a name and password in it."""
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.username is None and " " not in url
    except ValueError:
        return False


def masked_email(email: str) -> str:
    """`t•••@kapana-corner.example`: enough for its owner to know which mailbox it is."""
    user, _, domain = email.rpartition("@")
    return f"{user[:1]}•••@{domain}"
