"""What a merchant can set, what holds until they do, and how changes join."""

from collections.abc import Mapping
from typing import Any

DEFAULT_SETTINGS: dict[str, Any] = {
    "language": "en",
    "notifications": {"email": True, "sms": True, "push": True},
    "timezone": "Africa/Windhoek",
    "auto_accept_invites": False,
}


def get_effective_settings(saved_settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """All settings, those that were never set as they are by default."""
    return merge_settings(DEFAULT_SETTINGS, saved_settings or {})


def merge_settings(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with these changes; what is not named stays, within objects as well."""
    result = dict(settings)
    for name, value in changes.items():
        current_value = result.get(name)
        are_objects = isinstance(value, Mapping) and isinstance(current_value, Mapping)
        result[name] = (
            merge_settings(current_value, value) if are_objects and isinstance(current_value, Mapping) else value
        )
    return result
