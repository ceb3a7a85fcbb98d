"""One's own wishes and devices: `/api/notifications/preferences` and `/api/notifications/devices`.

They go by the e-mail address, so the address must be verified: it decides over messages to anyone who has it.
"""

from typing import Any

from app.blueprints.subscriptions import schemas
from app.subscriptions import actions, queries
from app.web.access import SIGNED_IN
from app.web.auth import get_current_caller
from app.web.blueprint import Blueprint

blp = Blueprint("subscriptions", __name__, url_prefix="/api/notifications", description="How one is written to")
OWNER_ACCESS = SIGNED_IN.with_verified_email()


@blp.get("/preferences", access=OWNER_ACCESS, returns=schemas.PreferencesData, etag=True)
def read_preferences() -> Any:
    """Read on which channels organisers may write, and which of them may not."""
    return queries.load_preferences(get_current_caller())


@blp.patch(
    "/preferences", access=OWNER_ACCESS, body=schemas.PreferencesBody, returns=schemas.PreferencesData, etag=True
)
def change_preferences(**body: Any) -> Any:
    """Switch channels on and off, and let organisers write again.

    What is not named stays. Tickets, receipts and messages about the account itself come in any case.
    """
    preferences = actions.update_preferences(caller=get_current_caller(), **body)
    return preferences, {"ETag": f'"{preferences["version"]}"'}


@blp.post(
    "/devices", access=OWNER_ACCESS, body=schemas.DeviceBody, returns=schemas.DeviceData, status=201, idempotent=True
)
def register_device(**body: Any) -> Any:
    """Register a device for push messages.

    Send it whenever the app starts. A token belongs to the account that sent it last. An account has at most 20
    devices; of more, those that were not seen for longest go.
    """
    return actions.register_device(caller=get_current_caller(), **body)


@blp.delete("/devices", access=OWNER_ACCESS, body=schemas.DeviceGoneBody, returns=schemas.RemovedData)
def remove_device(**body: Any) -> Any:
    """Remove a device, as when somebody signs out on it. A second time it is 200 as well."""
    return actions.remove_device(caller=get_current_caller(), **body)
