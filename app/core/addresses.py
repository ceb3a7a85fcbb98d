"""Addresses of pages and pictures elsewhere, by their form alone: none is ever fetched. And of people, half hidden."""

from urllib.parse import urlsplit


def is_address(url: str, schemes: tuple[str, ...]) -> bool:
    """Whether the text is an absolute address of one of these schemes, without a name and password in it."""
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.username is None and " " not in url
    except ValueError:
        return False


def masked(address: str | None) -> str | None:
    """`t•••@kapana-corner.example`, `•••123`: enough for its owner to know which mailbox or telephone it is."""
    if not address:
        return None
    user, at, domain = address.rpartition("@")
    return f"{user[:1]}•••@{domain}" if at else f"•••{address[-3:]}"
