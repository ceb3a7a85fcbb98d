"""Stores uploaded pictures."""

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from flask import current_app

from app.clients import storage
from app.core import images, throttle
from app.core.errors import Throttled
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.media.queries import CONTENT_TYPES

# A multipart body is a little larger than its file.
MAX_UPLOAD_BYTES = images.MAX_BYTES + 64 * 1024
UPLOADS_PER_DAY = Rule("picture-uploads", 50, timedelta(days=1))


@dataclass(frozen=True)
class StoredPicture:
    """The public address of a picture, its size in pixels and in bytes."""

    url: str
    width: int
    height: int
    bytes: int


def store_picture(*, account_id: str, data: bytes) -> StoredPicture:
    """Stores a picture and returns its address. The same pixels get the same address.

    Raises Throttled beyond UPLOADS_PER_DAY, StorageUnavailable, and what `images.reencode_image` raises.
    """
    with transaction() as session:
        daily_limit = throttle.hit(session, UPLOADS_PER_DAY, account_id)
    if daily_limit.exceeded:
        raise Throttled(
            "The limit of fifty pictures a day is reached; try again tomorrow.", retry_after=daily_limit.seconds
        )
    picture = images.reencode_image(data)
    name = f"{sha256(picture.data).hexdigest()[:32]}.{picture.extension}"
    storage.put(f"media/{name}", picture.data, content_type=CONTENT_TYPES[picture.extension])
    return StoredPicture(
        url=f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/media/{name}",
        width=picture.width,
        height=picture.height,
        bytes=len(picture.data),
    )
