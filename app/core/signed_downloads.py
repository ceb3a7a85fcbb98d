"""Links to one private file for one viewer, good for five minutes.

    token, expires = sign_download_token("stock-report", job.id, caller.id)
    verify_download_token("stock-report", token)          # None unless we signed it for this purpose

Nothing is stored. The caller checks again that the viewer may still read the file.
"""

import time
from dataclasses import dataclass

from itsdangerous import BadSignature, SignatureExpired

from app.core.ids import is_id
from app.core.tokens import timed_signer

READABLE_SECONDS = 300


@dataclass(frozen=True)
class DownloadGrant:
    """The file and the viewer of a token, and whether it has expired."""

    thing_id: str
    viewer_id: str
    expired: bool


def sign_download_token(purpose: str, thing_id: str, viewer_id: str) -> tuple[str, int]:
    """Return a token for this file and viewer, and when it expires (seconds since 1970)."""
    expires = int(time.time()) + READABLE_SECONDS
    return timed_signer(purpose).sign(f"{thing_id}.{viewer_id}").decode(), expires


def verify_download_token(purpose: str, token: str) -> DownloadGrant | None:
    """Return what the token permits; None when we did not sign it for this purpose."""
    expired = False
    try:
        payload = timed_signer(purpose).unsign(token, max_age=READABLE_SECONDS)
    except SignatureExpired as error:
        expired, payload = True, error.payload or b""
    except BadSignature:
        return None
    thing_id, _, viewer_id = payload.decode("ascii", "replace").partition(".")
    return DownloadGrant(thing_id, viewer_id, expired) if is_id(thing_id) and is_id(viewer_id) else None
