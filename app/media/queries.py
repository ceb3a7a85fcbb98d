"""Reading a picture.

Names of stored pictures, and what kind each is by its name.
"""

import re

from app.clients import storage
from app.core.errors import NotFound


def get_content_type(name: str) -> str:
    """The content type of a picture of that name. Raises NotFound for what is no picture's name."""
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


CONTENT_TYPES = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
PICTURE_NAME_PATTERN = re.compile(r"[0-9a-f]{32}\.(jpg|png|webp)")
