"""Reads of stored pictures, whose names have their content type as extension."""

import re

from app.clients import storage
from app.core.errors import NotFound

CONTENT_TYPES = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
PICTURE_NAME_PATTERN = re.compile(r"[0-9a-f]{32}\.(jpg|png|webp)")


def get_content_type(name: str) -> str:
    """The content type of the picture with this name. Raises NotFound for an invalid name."""
    match = PICTURE_NAME_PATTERN.fullmatch(name)
    if match is None:
        raise NotFound()
    return CONTENT_TYPES[match[1]]


def get_picture(name: str) -> bytes:
    """The bytes of a picture. Raises NotFound, StorageUnavailable."""
    data = storage.get(f"media/{name}")
    if data is None:
        raise NotFound()
    return data
