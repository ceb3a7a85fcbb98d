"""Storing and reading uploaded pictures, whose names have their content type as extension."""

import re
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from flask import current_app

from app.clients import storage
from app.clients.storage import StorageUnavailable
from app.core import images, throttle
from app.core.errors import AppError, NotFound, Throttled
from app.core.images import Crop
from app.core.throttle import Rule
from app.core.transaction import transaction

# A multipart body is a little larger than its file.
MAX_UPLOAD_BYTES = images.MAX_BYTES + 64 * 1024
MAX_PICTURE_FORM_BYTES = 4 * images.MAX_BYTES + 1024 * 1024
"""Of a form with other fields: it refuses a photo that is too large, and keeps what was typed."""
UPLOADS_PER_DAY = Rule("picture-uploads", 50, timedelta(days=1))


@dataclass(frozen=True)
class StoredPicture:
    """The public address of a picture, its size in pixels and in bytes."""

    url: str
    width: int
    height: int
    bytes: int


def store_picture(*, client_id: str, data: bytes, crop: Crop | None = None) -> StoredPicture:
    """Stores a picture, or the part of it, and returns its address. The same pixels get the same address.

    Raises Throttled beyond UPLOADS_PER_DAY, StorageUnavailable, and what `images.reencode_image` raises.
    """
    with transaction() as session:
        daily_limit = throttle.hit(session, UPLOADS_PER_DAY, client_id)
    if daily_limit.exceeded:
        raise Throttled(
            "The limit of fifty pictures a day is reached; try again tomorrow.", retry_after=daily_limit.seconds
        )
    picture = images.reencode_image(data, crop)
    name = f"{sha256(picture.data).hexdigest()[:32]}.{picture.extension}"
    storage.put(f"media/{name}", picture.data, content_type=CONTENT_TYPES[picture.extension])
    return StoredPicture(
        url=f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/media/{name}",
        width=picture.width,
        height=picture.height,
        bytes=len(picture.data),
    )


UPLOAD_ERRORS: list[type[AppError]] = [*images.PROBLEMS, Throttled, StorageUnavailable]
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
