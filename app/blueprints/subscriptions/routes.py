"""Preferences and push devices of the caller: `/api/notifications/preferences` and `/api/notifications/devices`.

Preferences apply to all messages to the caller's e-mail address, so the address must be verified.
"""

from typing import Any

from app.blueprints.subscriptions import schemas
from app.subscriptions import actions, queries
from app.web.access import SIGNED_IN, get_current_caller
from app.web.blueprint import Blueprint

blp = Blueprint(
    "subscriptions", __name__, url_prefix="/api/notifications", description="Message preferences and push devices"
)
OWNER_ACCESS = SIGNED_IN.with_verified_email()


@blp.get("/preferences", access=OWNER_ACCESS, returns=schemas.PreferencesData, etag=True)
def read_preferences() -> queries.Preferences:
    """Read the channels on which organisers may write, and the organisers who may not."""
    return queries.load_preferences(get_current_caller())


@blp.patch(
    "/preferences", access=OWNER_ACCESS, body=schemas.PreferencesBody, returns=schemas.PreferencesData, etag=True
)
def change_preferences(**body: Any) -> tuple[queries.Preferences, dict[str, str]]:
    """Switch channels on and off, and let organisers write again.

    Missing fields stay as they are. Tickets, receipts and messages about the account are always sent.
    """
    preferences = actions.update_preferences(caller=get_current_caller(), **body)
    return preferences, {"ETag": f'"{preferences["version"]}"'}


@blp.post(
    "/devices", access=OWNER_ACCESS, body=schemas.DeviceBody, returns=schemas.DeviceData, status=201, idempotent=True
)
def register_device(token: str, platform: str) -> actions.PushDeviceRow:
    """Register a device for push messages.

    Send this whenever the app starts. A token belongs to the account that sent it last. An account has at most 20
    devices; beyond that, the ones that were not seen for longest are removed.
    """
    return actions.register_device(caller=get_current_caller(), token=token, platform=platform)


@blp.delete("/devices", access=OWNER_ACCESS, body=schemas.DeviceGoneBody, returns=schemas.RemovedData)
def remove_device(token: str) -> dict[str, bool]:
    """Remove a device, for example after signing out on it. Repeating it also returns 200."""
    return {"removed": actions.remove_device(caller=get_current_caller(), token=token)}
