"""Taking a picture in."""

from datetime import timedelta
from hashlib import sha256

from flask import current_app

from app.clients import storage
from app.core import images, throttle
from app.core.errors import Throttled
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.media.queries import CONTENT_TYPES

# A multipart body is a little larger than the file in it.
MAX_UPLOAD_BYTES = images.MAX_BYTES + 64 * 1024
UPLOADS_PER_DAY = Rule("picture-uploads", 50, timedelta(days=1))


def store_picture(*, account_id: str, data: bytes) -> dict[str, object]:
    """Where the picture can be seen from now on, and its size. The same pixels get the same address.

    Raises Throttled after fifty a day, what `images.rewritten` raises, StorageUnavailable.
    """
    with transaction() as session:
        daily_limit = throttle.hit(session, UPLOADS_PER_DAY, account_id)
    if daily_limit.exceeded:
        raise Throttled("Fifty pictures a day are enough; go on tomorrow.", retry_after=daily_limit.seconds)
    picture = images.reencode_image(data)
    name = f"{sha256(picture.data).hexdigest()[:32]}.{picture.extension}"
    storage.put(f"media/{name}", picture.data, content_type=CONTENT_TYPES[picture.extension])
    return {
        "url": f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/media/{name}",
        "width": picture.width,
        "height": picture.height,
        "bytes": len(picture.data),
    }
