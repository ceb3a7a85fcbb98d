"""Payout details of a merchant: masked when read, merged when written."""

from collections.abc import Mapping

from app.core.addresses import HIDDEN_DIGITS, mask_number
from app.core.errors import ValidationFailed

VISIBLE_DIGITS = {"account_number": 4, "msisdn": 3}
"""How many of the last characters of a masked field are shown."""
JSON_NAMES = {"account_number": "accountNumber"}


def mask_payout_details(details: Mapping[str, str]) -> dict[str, str]:
    """The details as their owner sees them, with only the last digits of numbers."""
    return {name: _mask_value(name, value) for name, value in details.items()}


def merge_payout_details(details: Mapping[str, str], changes: Mapping[str, str | None], *, path: str) -> dict[str, str]:
    """The details with these changes. None removes a field; a masked value that equals the saved one keeps it.

    Raises ValidationFailed for any other masked value, because it would destroy the number.
    """
    new_details = dict(details)
    for name, value in changes.items():
        if value is None:
            new_details.pop(name, None)
        elif not is_masked(value):
            new_details[name] = value
        elif name not in details or value != _mask_value(name, details[name]):
            raise ValidationFailed.of(
                f"{path}.{JSON_NAMES.get(name, name)}", "masked_value", "Send the whole number, or leave it out."
            )
    return new_details


def is_masked(value: object) -> bool:
    """Whether the value is a number that was masked when it was read."""
    return isinstance(value, str) and HIDDEN_DIGITS[0] in value


def _mask_value(name: str, value: str) -> str:
    visible_digits = VISIBLE_DIGITS.get(name)
    if visible_digits is None:
        return value
    return mask_number(value, visible_digits=visible_digits)
