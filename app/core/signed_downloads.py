"""Permissions to read one private file: given to one person, for one purpose, for five minutes.

    token, ends = permit("stock-report", job.id, caller.id)
    permitted("stock-report", token)                            # None: it is not one that we gave

Nothing is stored: a token carries what it permits, and a keyed hash of that. Whether its holder may still read is asked
again when it is used.
"""

import re
import time
from dataclasses import dataclass

from app.core.ids import is_id
from app.core.tokens import derived_text, same

READABLE_SECONDS = 300


@dataclass(frozen=True)
class DownloadGrant:
    """What a token permits, and to whom."""

    thing_id: str
    viewer_id: str
    expired: bool


def sign_download_token(purpose: str, thing_id: str, viewer_id: str, *, now: float | None = None) -> tuple[str, int]:
    """A token with which this viewer reads this thing for five minutes, and when it ends (epoch)."""
    ends = int(now or time.time()) + READABLE_SECONDS
    return f"{thing_id}.{viewer_id}.{ends}.{derived_text(purpose, thing_id, viewer_id, ends)}", ends


def verify_download_token(purpose: str, token: str) -> DownloadGrant | None:
    """What a token permits; None when it is not one that we gave for that purpose."""
    thing_id, viewer_id, ends, mark = [*token.split("."), "", "", ""][:4]
    if token.count(".") != 3 or not is_id(thing_id) or not is_id(viewer_id) or not re.fullmatch("[0-9]{1,12}", ends):
        return None
    if not same(mark, derived_text(purpose, thing_id, viewer_id, int(ends))):
        return None
    return DownloadGrant(thing_id, viewer_id, int(ends) < time.time())
