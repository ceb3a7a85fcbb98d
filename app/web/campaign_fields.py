"""The fields of campaigns, which the API and the desk share, and the check across the fields of a campaign."""

from collections.abc import Sequence
from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from app.campaigns import validation
from app.campaigns.states import CHANNELS
from app.core.addresses import is_url
from app.web.fields import BaseField, CodedMessage, List, OneOf, Text, field_error
from app.web.safe_redirect import is_local_path
from app.web.schema import Schema, to_camel_case

MOST_CHOICES = 200
"""The most ticket types or blocks of a filter."""


class ListOrText(BaseField, fields.Field[Any]):
    """A list without duplicates, or one text with entries separated by commas."""

    def __init__(
        self,
        inner: fields.Field[Any],
        *,
        min: int = 0,
        max: int,
        example: list[str],
        choices: Sequence[str] = (),
        keep_duplicates: bool = False,
        **kwargs: Any,
    ) -> None:
        self.inner_list, self.keep_duplicates = List(inner, min=min, max=max), keep_duplicates
        entry = {"type": "string", **({"enum": list(choices)} if choices else {})}
        entries = {"type": "array", "items": entry, "minItems": min, "maxItems": max}
        metadata = {"anyOf": [entries, {"type": "string"}], "example": example, **kwargs.pop("metadata", {})}
        super().__init__(metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        self.inner_list.data_key = self.data_key
        entries = [entry for part in value.split(",") if (entry := part.strip())] if isinstance(value, str) else value
        loaded = self.inner_list.deserialize(entries, attr, data)
        return loaded if self.keep_duplicates else list(dict.fromkeys(loaded))


def channels(**options: Any) -> ListOrText:
    return ListOrText(Text(validate=[OneOf(CHANNELS)]), min=1, max=10, example=["email"], choices=CHANNELS, **options)


class CheckedSchema(Schema):
    """Reports problems across fields together with those of single fields."""

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def check_across_fields(self, data: dict[str, object], original: object, **_: object) -> None:
        messages: dict[str, list[str]] = {}
        for fault in validation.find_faults(data):
            name = to_camel_case(fault.field)
            # A field that was sent and is invalid on its own is not missing.
            if fault.code != "required" or not (isinstance(original, dict) and original.get(name)):
                messages.setdefault(name, []).append(CodedMessage(fault.code, fault.message))
        if messages:
            raise ValidationError(messages)


class OneLine(Text):
    """A text without line breaks, for headers of e-mails."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if len(text.splitlines()) > 1:
            raise field_error("invalid_characters", "Must be one line, without line breaks.")
        return text


class Destination(Text):
    """The link of a button: an https URL or a path of this site. An empty text means no link."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        href = super()._deserialize(value, attr, data, **kwargs)
        is_valid = href.isprintable() and (is_url(href, ("https",)) or is_local_path(href))
        if href and not is_valid:
            raise field_error("invalid_url", "Must be an https address, or a path of this site like /events/lights.")
        return href or None
