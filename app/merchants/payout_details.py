"""Where a merchant's money goes: masked when read, merged when written."""

from collections.abc import Mapping
from typing import Any

from app.core.errors import ValidationFailed

MASK = "•"
FIELDS = ("destination", "account_name", "account_number", "bank_name", "branch_code", "msisdn")
SHOWN_DIGITS = {"account_number": 4, "msisdn": 3}
"""Of what is hidden, how many of the last characters are shown."""


def masked(details: Mapping[str, Any]) -> dict[str, Any]:
    """The details as their owner reads them: of numbers only the last digits."""
    return {name: _hidden(name, value) for name, value in details.items()}


def merged(details: Mapping[str, Any], changes: Mapping[str, Any], *, path: str) -> dict[str, Any]:
    """The details with these changes. Null removes; a masked value that is sent back as it was read stays.

    Raises ValidationFailed for a masked value that was never given out: it would destroy the number.
    """
    result = dict(details)
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        elif is_masked(value):
            if name not in details or value != _hidden(name, details[name]):
                wire = "accountNumber" if name == "account_number" else name
                raise ValidationFailed.of(f"{path}.{wire}", "masked_value", "Send the whole number, or leave it out.")
        else:
            result[name] = value
    return result


def is_masked(value: Any) -> bool:
    return isinstance(value, str) and MASK in value


def _hidden(name: str, value: Any) -> Any:
    shown = SHOWN_DIGITS.get(name)
    if shown is None or not isinstance(value, str):
        return value
    return MASK * 4 + (value[-shown:] if len(value) > shown else "")
