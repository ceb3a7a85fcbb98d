"""What a merchant can set, what holds until he does, and how changes join."""

from collections.abc import Mapping
from typing import Any

DEFAULTS: dict[str, Any] = {
    "language": "en",
    "notifications": {"email": True, "sms": True, "push": True},
    "timezone": "Africa/Windhoek",
    "auto_accept_invites": False,
}


def effective(kept: Mapping[str, Any] | None) -> dict[str, Any]:
    """All settings, those that were never set as they are by default."""
    return merged(DEFAULTS, kept or {})


def merged(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with these changes; what is not named stays, within objects as well."""
    result = dict(settings)
    for name, value in changes.items():
        known = result.get(name)
        both = isinstance(value, Mapping) and isinstance(known, Mapping)
        result[name] = merged(known, value) if both and isinstance(known, Mapping) else value
    return result
