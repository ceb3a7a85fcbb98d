"""What people do about messages: wishes, devices, and saying no."""

from app.subscriptions.actions.devices import register_device, remove_device
from app.subscriptions.actions.preferences import change_preferences
from app.subscriptions.actions.unsubscribing import resubscribe, unsubscribe

__all__ = ["change_preferences", "register_device", "remove_device", "resubscribe", "unsubscribe"]
