"""Fields that say what is wrong by a code and a sentence; the names of the API's wire types.

Every problem is a `Problem`: a sentence with a stable code. JSON fields are strict (`"100"` is no number);
a `Query` schema reads the same fields from text.
"""

import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

import phonenumbers
from email_validator import EmailNotValidError, validate_email
from flask import current_app
from marshmallow import ValidationError, fields, validate

from app.core.clock import rfc3339

import email_validator  # isort: skip

email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
RESERVED = ("test", "example", "localhost", "invalid", "local")
SAFE_INTEGER = 2**53 - 1
EARLIEST_YEAR, LATEST_YEAR = 1900, 2200
CODES = {"required": "required", "null": "required", "too_large": "too_large", "validator_failed": "invalid"}


class Problem(str):
    """A sentence about one field, with its code."""

    code: str

    def __new__(cls, code: str, sentence: str) -> "Problem":
        problem = super().__new__(cls, sentence)
        problem.code = code
        return problem


def problem(code: str, sentence: str) -> ValidationError:
    return ValidationError([Problem(code, sentence)])  # type: ignore[list-item]


class Length(validate.Length):
    def _format_error(self, value: Any, message: str) -> str:
        code = "too_long" if message == self.message_max or (self.max and len(value) > self.max) else "too_short"
        if self.equal is not None:
            code = "wrong_length"
        kind = "characters" if isinstance(value, str) else "entries"
        wanted = f"exactly {self.equal}" if self.equal is not None else _span(self.min, self.max)
        return Problem(code, f"Must have {wanted} {kind}.")


class Range(validate.Range):
    def _format_error(self, value: Any, message: str) -> str:
        low = self.min is not None and value < self.min
        return Problem("too_small" if low else "too_large", f"Must be {_span(self.min, self.max)}.")


class OneOf(validate.OneOf):
    def _format_error(self, value: Any) -> str:
        return Problem("unknown_value", f"Must be one of: {', '.join(map(str, self.choices))}.")


def _span(low: Any, high: Any) -> str:
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"at least {low}" if low is not None else f"at most {high}"


class Coded(fields.Field[Any]):
    """Turns marshmallow's own errors into problems."""

    SENTENCES: Mapping[str, str] = {
        "required": "This field is required.",
        "null": "This field must not be null.",
    }

    def make_error(self, key: str, **kwargs: Any) -> ValidationError:
        sentence = self.SENTENCES.get(key) or str(self.error_messages[key]).format(**kwargs)
        return problem(CODES.get(key, "invalid_type"), sentence)

    @property
    def from_text(self) -> bool:
        """Whether values arrive as text, as they do in a query."""
        return bool(getattr(self.root, "from_text", False))


class Text(Coded, fields.String):
    """Trimmed Unicode in NFC; control characters other than newline and tab are refused."""

    def __init__(self, *, min: int | None = None, max: int | None = None, **kwargs: Any) -> None:
        bounds = [Length(min=min, max=max)] if min is not None or max is not None else []
        super().__init__(validate=[*bounds, *kwargs.pop("validate", ())], **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if any(unicodedata.category(each) in ("Cc", "Cs") and each not in "\n\t\r" for each in text):
            raise problem("invalid_characters", "Control characters are not allowed.")
        return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


class Secret(Coded, fields.String):
    """A password, code or token: taken exactly as sent."""

    def __init__(self, *, min: int = 1, max: int = 4096, length: int | None = None, **kwargs: Any) -> None:
        bounds = Length(equal=length) if length else Length(min=min, max=max)
        super().__init__(validate=[bounds], **kwargs)


class Email(Text):
    """An address by syntax, lower-case. Reserved domains count in development only."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"format": "email", "example": "frieda@example.com", **kwargs.pop("metadata", {})}
        super().__init__(metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            found = validate_email(text, check_deliverability=False, test_environment=True)
        except EmailNotValidError as error:
            raise problem("invalid_email", "Must be an e-mail address.") from error
        reserved = found.domain.rpartition(".")[2] in RESERVED
        if reserved and current_app.extensions["settings"].production:
            raise problem("invalid_email", "This domain is reserved and receives no mail.")
        return found.normalized.lower()


class Phone(Text):
    """A telephone number, international or Namibian local, as E.164."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(metadata={"example": "+264811234567"}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            number = phonenumbers.parse(text, "NA")
        except phonenumbers.NumberParseException as error:
            raise problem("invalid_phone", "Must be a telephone number, like +264 81 123 4567.") from error
        if not phonenumbers.is_possible_number(number):
            raise problem("invalid_phone", "Must be a telephone number, like +264 81 123 4567.")
        return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


class Whole(Coded, fields.Integer):
    """A whole number within what JSON can carry exactly."""

    def __init__(self, *, min: int | None = None, max: int | None = None, **kwargs: Any) -> None:
        self.low, self.high = min, max
        bounds = Range(min=-SAFE_INTEGER if min is None else min, max=SAFE_INTEGER if max is None else max)
        super().__init__(strict=True, validate=[bounds], **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool) or (isinstance(value, str) and not self.from_text):
            raise problem("invalid_type", "Must be a whole number.")
        if isinstance(value, float) and not value.is_integer():
            raise problem("invalid_type", "Must be a whole number.")
        if isinstance(value, str) and len(value) > 20:
            raise problem("too_large", "Must be a smaller number.")
        return super()._deserialize(value, attr, data, **kwargs)


class Number(Coded, fields.Float):
    """A finite number."""

    def __init__(self, *, min: float | None = None, max: float | None = None, **kwargs: Any) -> None:
        bounds = [Range(min=min, max=max)] if min is not None or max is not None else []
        super().__init__(validate=bounds, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool) or (isinstance(value, str) and not self.from_text):
            raise problem("invalid_type", "Must be a number.")
        try:
            return super()._deserialize(value, attr, data, **kwargs)
        except OverflowError as error:
            raise problem("too_large", "Must be a smaller number.") from error


class Flag(Coded, fields.Boolean):
    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, bool) and not self.from_text:
            raise problem("invalid_type", "Must be true or false.")
        return super()._deserialize(value, attr, data, **kwargs)


class Choice(Text):
    """One of a few words."""

    def __init__(self, *choices: str, **kwargs: Any) -> None:
        super().__init__(validate=[OneOf(choices)], **kwargs)


class Moment(Coded, fields.Field[Any]):
    """A time: RFC 3339 with any offset, or a date. A naive one stays naive, for its owner's time zone."""

    def __init__(self, **kwargs: Any) -> None:
        shown = {"type": "string", "format": "date-time", "example": "2026-12-04T18:00:00+02:00"}
        super().__init__(metadata={**shown, **kwargs.pop("metadata", {})}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        try:
            if not isinstance(value, str) or not 8 <= len(value.strip()) <= 40:
                raise ValueError
            moment = datetime.fromisoformat(value.strip())
            if not EARLIEST_YEAR <= moment.year <= LATEST_YEAR:
                raise ValueError
            moment.astimezone(UTC) if moment.tzinfo else date(moment.year, moment.month, moment.day)
        except (ValueError, OverflowError) as error:
            raise problem("invalid_time", "Must be a time like 2026-12-04T18:00:00+02:00, or a date.") from error
        return moment

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else rfc3339(value)


class EndMoment(Moment):
    """A time at which something ends: a bare date means the last second of that day."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        moment = super()._deserialize(value, attr, data, **kwargs)
        bare = not any(each in value for each in "T:t ") and moment.tzinfo is None
        return moment.replace(hour=23, minute=59, second=59) if bare else moment


class Items(Coded, fields.List[Any]):
    """A list of one kind of thing."""

    def __init__(self, inner: Any, *, min: int | None = None, max: int | None = None, **kwargs: Any) -> None:
        bounds = [Length(min=min, max=max)] if min is not None or max is not None else []
        super().__init__(inner, validate=bounds, **kwargs)


class Object(Coded, fields.Nested):
    """A nested schema."""
