"""Where a merchant's money goes: masked when read, merged when written."""

from collections.abc import Mapping
from typing import Any

from app.core.errors import ValidationFailed

MASK = "•"
FIELDS = ("destination", "account_name", "account_number", "bank_name", "branch_code", "msisdn")
VISIBLE_DIGITS = {"account_number": 4, "msisdn": 3}
"""Of what is hidden, how many of the last characters are shown."""


def mask_payout_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """The details as their owner reads them: of numbers only the last digits."""
    return {name: _mask_value(name, value) for name, value in details.items()}


def merge_payout_details(details: Mapping[str, Any], changes: Mapping[str, Any], *, path: str) -> dict[str, Any]:
    """The details with these changes. Null removes; a masked value that is sent back as it was read stays.

    Raises ValidationFailed for a masked value that was never given out: it would destroy the number.
    """
    result = dict(details)
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        elif is_masked(value):
            if name not in details or value != _mask_value(name, details[name]):
                json_name = "accountNumber" if name == "account_number" else name
                raise ValidationFailed.of(
                    f"{path}.{json_name}", "masked_value", "Send the whole number, or leave it out."
                )
        else:
            result[name] = value
    return result


def is_masked(value: Any) -> bool:
    return isinstance(value, str) and MASK in value


def _mask_value(name: str, value: Any) -> Any:
    visible_digits = VISIBLE_DIGITS.get(name)
    if visible_digits is None or not isinstance(value, str):
        return value
    return MASK * 4 + (value[-visible_digits:] if len(value) > visible_digits else "")
