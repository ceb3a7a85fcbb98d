"""The marshmallow fields of the API. Each error of a field is a `CodedMessage`: a sentence with a stable code.

Fields of JSON are strict (`"100"` is not a number); a `Query` schema reads the same fields from text.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Sized
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar, Unpack

import phonenumbers
from flask import current_app
from flask_smorest.fields import Upload
from marshmallow import ValidationError, fields, validate
from werkzeug.datastructures import FileStorage

from app.core.addresses import is_reserved, parse_email_address
from app.core.clock import rfc3339
from app.core.ids import is_id
from app.core.text_normalization import CONTROL, normalize_text
from app.web.types import AnyField, FieldOptions, RawData

Value = TypeVar("Value")
MAX_SAFE_INTEGER = 2**53 - 1
MAX_TEXT_LENGTH = 100_000
CODE_BY_MARSHMALLOW_KEY = {"required": "required", "null": "required", "too_large": "too_large", "special": "too_large"}
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?"
)


class CodedMessage(str):
    """A sentence about one field, with a stable code."""

    code: str

    def __new__(cls, code: str, sentence: str) -> "CodedMessage":
        message = super().__new__(cls, sentence)
        message.code = code
        return message

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.code, str(self)


def field_error(code: str, sentence: str) -> ValidationError:
    """Return the error of a field with one coded message."""
    return ValidationError([CodedMessage(code, sentence)])


class Length(validate.Length):
    """Checks the number of characters or entries."""

    def _format_error(self, value: Sized, message: str) -> str:
        code = "too_long" if self.max is not None and len(value) > self.max else "too_short"
        if self.equal is not None:
            code = "wrong_length"
        unit = "characters" if isinstance(value, str) else "entries"
        length = f"exactly {self.equal}" if self.equal is not None else _format_range(self.min, self.max)
        return CodedMessage(code, f"Must have {length} {unit}.")


class Range(validate.Range):
    """Checks the bounds of a number."""

    def __call__(self, value: Value) -> Value:
        # Bounds are doubles, as numbers in JSON are, so a Decimal is compared as the double that the client sent.
        super().__call__(float(value) if isinstance(value, Decimal) else value)
        return value

    def _format_error(self, value: object, message: str) -> str:
        too_small = self.min is not None and value < self.min
        return CodedMessage("too_small" if too_small else "too_large", f"Must be {_format_range(self.min, self.max)}.")


class OneOf(validate.OneOf):
    """Checks that a value is one of the choices."""

    def _format_error(self, value: object) -> str:
        return CodedMessage("unknown_value", f"Must be one of: {', '.join(map(str, self.choices))}.")


def _format_range(low: object, high: object) -> str:
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"at least {low}" if low is not None else f"at most {high}"


class BaseField(fields.Field[Any]):
    """A field whose errors have codes, also those that marshmallow raises itself."""

    SENTENCES: Mapping[str, str] = {
        "required": "This field is required.",
        "null": "This field must not be null.",
    }

    def make_error(self, key: str, **kwargs: object) -> ValidationError:
        sentence = self.SENTENCES.get(key) or str(self.error_messages[key]).format(**kwargs)
        return field_error(CODE_BY_MARSHMALLOW_KEY.get(key, "invalid_type"), sentence)

    @property
    def from_text(self) -> bool:
        """Whether values arrive as text, as in a query string."""
        return bool(getattr(self.root, "from_text", False))


class Text(BaseField, fields.String):
    """Trimmed Unicode text in NFC. Control characters other than newline and tab are refused."""

    def __init__(
        self,
        *,
        min: int | None = None,
        max: int | None = None,
        validate: Sequence[Callable[[str], object]] = (),
        **kwargs: Unpack[FieldOptions],
    ) -> None:
        bounds = [Length(min=min, max=max)] if min is not None or max is not None else []
        super().__init__(validate=[*bounds, *validate], **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if len(text) > MAX_TEXT_LENGTH:
            raise field_error("too_long", "This text is too long.")
        if CONTROL.search(text):
            raise field_error("invalid_characters", "Control characters are not allowed.")
        return normalize_text(text)

    def _validate(self, value: object) -> None:
        """Run the validators, but not on None, which a subclass may return for an empty text."""
        if value is not None:
            super()._validate(value)


class Secret(BaseField, fields.String):
    """A password, code or token: the exact characters that the client sent."""

    def __init__(
        self, *, min: int = 1, max: int = 4096, length: int | None = None, **kwargs: Unpack[FieldOptions]
    ) -> None:
        bounds = Length(equal=length) if length else Length(min=min, max=max)
        super().__init__(validate=[bounds], **kwargs)


class Id(Secret):
    """An object id."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs["metadata"] = {"example": "6565a1f0c3d2e1b0a9f8e7d6", **kwargs.get("metadata", {})}
        super().__init__(length=24, **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not is_id(text):
            raise field_error("invalid_id", "Must be an id: 24 lower-case hex digits.")
        return text


class Email(Text):
    """An email address in lower case. Only its syntax is checked; reserved domains are valid in development only."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs["metadata"] = {"format": "email", "example": "frieda@example.com", **kwargs.get("metadata", {})}
        super().__init__(**kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            address = parse_email_address(text)
        except ValueError as error:
            raise field_error("invalid_email", "Must be an e-mail address.") from error
        if is_reserved(address) and current_app.extensions["settings"].production:
            raise field_error("invalid_email", "This domain is reserved and receives no mail.")
        return address


class Phone(Text):
    """A telephone number, international or Namibian, as E.164. `min` and `max` bound the text that the client sent."""

    def __init__(self, *, min: int = 4, max: int = 32, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs["metadata"] = {
            "example": "+264811234567",
            "minLength": min,
            "maxLength": max,
            **kwargs.get("metadata", {}),
        }
        super().__init__(**kwargs)
        self.length = Length(min=min, max=max)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            number = phonenumbers.parse(text, "NA")
        except phonenumbers.NumberParseException as error:
            raise field_error("invalid_phone", "Must be a telephone number, like +264 81 123 4567.") from error
        if not phonenumbers.is_possible_number(number):
            raise field_error("invalid_phone", "Must be a telephone number, like +264 81 123 4567.")
        self.length(text)
        return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


class WholeNumber(BaseField, fields.Integer):
    """A whole number that JSON can carry exactly."""

    def __init__(self, *, min: int | None = None, max: int | None = None, **kwargs: Unpack[FieldOptions]) -> None:
        self.low, self.high = min, max
        bounds = Range(min=-MAX_SAFE_INTEGER if min is None else min, max=MAX_SAFE_INTEGER if max is None else max)
        super().__init__(validate=[bounds], **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> int:
        if self.from_text and isinstance(value, str):
            if not re.fullmatch(r"[+-]?[0-9]{1,20}", value.strip()):
                raise self._type_error()
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
            raise self._type_error()
        return int(value)

    def _type_error(self) -> ValidationError:
        unit = " of cents" if (self.name or "").endswith("_minor") else ""
        return field_error("invalid_type", f"Must be a whole number{unit}.")


class Number(BaseField, fields.Float):
    """A finite number."""

    def __init__(self, *, min: float | None = None, max: float | None = None, **kwargs: Unpack[FieldOptions]) -> None:
        bounds = [Range(min=min, max=max)] if min is not None or max is not None else []
        super().__init__(validate=bounds, **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> float:
        if not (isinstance(value, str) if self.from_text else isinstance(value, int | float)):
            raise field_error("invalid_type", "Must be a number.")
        return super()._deserialize(value, attr, data, **kwargs)


class Boolean(BaseField, fields.Boolean):
    """True or false."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> bool:
        if not isinstance(value, bool) and not self.from_text:
            raise field_error("invalid_type", "Must be true or false.")
        return super()._deserialize(value, attr, data, **kwargs)


class Choice(Text):
    """One text of a fixed set."""

    def __init__(self, *choices: str, **kwargs: Unpack[FieldOptions]) -> None:
        super().__init__(validate=[OneOf(choices)], **kwargs)


EXAMPLE_START, EXAMPLE_END = "2030-06-04T18:00:00+02:00", "2030-06-06T23:00:00+02:00"


class TimeField(BaseField):
    """A time of RFC 3339 with any offset, or a date. A time without an offset stays naive: the caller adds the zone."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs["metadata"] = {"type": "string", "example": EXAMPLE_START, **kwargs.get("metadata", {})}
        super().__init__(**kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> datetime:
        try:
            text = value.strip() if isinstance(value, str) else ""
            if not _RFC3339.fullmatch(text):
                raise ValueError(text)
            time = datetime.fromisoformat(text.upper())
            # Years at the ends of the calendar overflow in conversions to another time zone.
            if not 1900 <= time.year < 9999:
                raise ValueError(text)
        except ValueError as error:
            raise field_error("invalid_time", "Must be a time like 2026-12-04T18:00:00+02:00, or a date.") from error
        return time.astimezone(UTC) if time.tzinfo else time

    def _serialize(self, value: datetime | None, attr: str | None, obj: object, **kwargs: object) -> str | None:
        return None if value is None else rfc3339(value)


class EndTimeField(TimeField):
    """The time of an end: a date alone means the last second of that day."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs["metadata"] = {"example": EXAMPLE_END, **kwargs.get("metadata", {})}
        super().__init__(**kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> datetime:
        time = super()._deserialize(value, attr, data, **kwargs)
        is_date = time.tzinfo is None and len(str(value).strip()) <= len("2026-12-04")
        return time.replace(hour=23, minute=59, second=59) if is_date else time


class List(BaseField, fields.List[Any]):
    """A list of values of one field."""

    def __init__(
        self, inner: AnyField, *, min: int | None = None, max: int | None = None, **kwargs: Unpack[FieldOptions]
    ) -> None:
        self.length = Length(min=min, max=max)
        bounds = [self.length] if min is not None or max is not None else []
        super().__init__(inner, validate=bounds, **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> list[Any]:
        # A list that is too long is refused before its entries are read.
        if isinstance(value, list) and self.length.max is not None and len(value) > self.length.max:
            self.length(value)
        return super()._deserialize(value, attr, data, **kwargs)


class Nested(BaseField, fields.Nested):
    """A nested schema."""


class File(BaseField, Upload):  # type: ignore[misc]
    """A file of a multipart body. A text part with this name is refused."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> FileStorage:
        if not isinstance(value, FileStorage):
            raise field_error("invalid_type", "Must be a file.")
        return value


class BoundedTimeField(TimeField):
    """A time whose text has a minimum and a maximum length."""

    def __init__(self, *, min: int, max: int, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs["metadata"] = {"minLength": min, "maxLength": max, **kwargs.get("metadata", {})}
        super().__init__(**kwargs)
        self.length = Length(min=min, max=max)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> datetime:
        if isinstance(value, str):
            self.length(value)
        return super()._deserialize(value, attr, data, **kwargs)
