"""Settings of a merchant: defaults, and how changes are merged."""

from collections.abc import Mapping
from typing import TypedDict, cast


class NotificationChannels(TypedDict):
    email: bool
    sms: bool
    push: bool


class MerchantSettings(TypedDict):
    """All settings of a merchant."""

    language: str
    notifications: NotificationChannels
    timezone: str
    auto_accept_invites: bool


DEFAULT_SETTINGS: MerchantSettings = {
    "language": "en",
    "notifications": {"email": True, "sms": True, "push": True},
    "timezone": "Africa/Windhoek",
    "auto_accept_invites": False,
}


def get_effective_settings(saved_settings: Mapping[str, object] | None) -> MerchantSettings:
    """The saved settings, with defaults for the others."""
    return cast(MerchantSettings, merge_settings(DEFAULT_SETTINGS, saved_settings or {}))


def merge_settings(settings: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    """The settings with these changes. Nested objects are merged too."""
    merged_settings = dict(settings)
    for name, value in changes.items():
        current_value = merged_settings.get(name)
        if isinstance(value, Mapping) and isinstance(current_value, Mapping):
            merged_settings[name] = merge_settings(current_value, value)
        else:
            merged_settings[name] = value
    return merged_settings
