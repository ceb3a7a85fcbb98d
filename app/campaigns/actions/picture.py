"""A picture for a campaign."""

from app.accounts.caller import Caller
from app.campaigns import queries
from app.core.db import release
from app.events.queries import WRITES
from app.media.actions import store_picture


def upload_image(*, caller: Caller, event_id: str, data: bytes) -> dict[str, object]:
    """Where the picture can be seen from now on. Raises NotFound, and what `store_picture` raises."""
    queries.facts_of(caller, event_id, tier=WRITES)
    release()
    return store_picture(account_id=caller.id, data=data)
