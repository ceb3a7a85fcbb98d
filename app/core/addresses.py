"""Addresses of pages and pictures elsewhere, by their form alone; none is ever fetched."""

from urllib.parse import urlsplit


def is_address(url: str, schemes: tuple[str, ...]) -> bool:
    """Whether the text is an absolute address of one of these schemes, without a name and password in it."""
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.username is None and " " not in url
    except ValueError:
        return False
