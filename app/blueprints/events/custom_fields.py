"""Custom fields of events: links, time zones, countries, lists of texts, and lists of stored objects."""

from typing import Any

from marshmallow import fields

from app.events import countries, slugs
from app.web.fields import BaseField, List, Nested, Text, field_error
from app.web.schema import Schema
from app.web.text_fields import Zone

ZONE_METADATA = {"example": "Africa/Windhoek", "description": "a name of the IANA time zone database"}


SLUG_METADATA = {
    "example": "windhoek-lights",
    "rare": True,
    "description": "last part of the address of the event's page; without one it is made from the name",
}


class Slug(Text):
    """The last part of the address of an event's page."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min=2, max=slugs.MAX_LENGTH, metadata=SLUG_METADATA, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        slug = super()._deserialize(value, attr, data, **kwargs)
        if not slugs.SLUG.fullmatch(slug):
            raise field_error("invalid_slug", "Must be words of the letters a to z and digits, joined by hyphens.")
        if not slugs.is_available_word(slug):
            raise field_error("reserved", "This slug is reserved; choose another one.")
        return slug


class PlaceZone(Zone):
    """The name of a time zone, without `Factory`, `localtime` and `posixrules`, which name no place."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max=64, metadata=ZONE_METADATA, **kwargs)

    def is_known(self, name: str) -> bool:
        return countries.is_zone(name)


class Country(Text):
    """A country by its two-letter code or its English name; loads the code."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"example": "NA", "description": "ISO 3166 alpha-2, or the English name"}
        super().__init__(min=2, max=80, metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        code = countries.country_code(text)
        if code is None:
            raise field_error("unknown_value", "Must be a country: its two-letter code, or its English name.")
        return code


class TextList(BaseField, fields.Field[Any]):
    """A list of texts of 1 to 80 characters without duplicates; a single text is a list of one."""

    def __init__(self, *, max: int, example: list[str], **kwargs: Any) -> None:
        self.inner_list = List(Text(min=1, max=80), max=max)
        text = {"type": "string", "minLength": 1, "maxLength": 80}
        metadata = {"anyOf": [{"type": "array", "items": text, "maxItems": max}, text, {"type": "null"}]}
        super().__init__(allow_none=True, metadata={**metadata, "example": example}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        self.inner_list.data_key = self.data_key
        texts = [value] if isinstance(value, str) else value
        return list(dict.fromkeys(self.inner_list.deserialize(texts, attr, data)))


class StoredList(List):
    """A list of objects stored with the names of the API: checked when loaded, returned unchanged."""

    def __init__(self, schema: type[Schema], *, max: int, **kwargs: Any) -> None:
        super().__init__(Nested(schema), max=max, **kwargs)

    def _serialize(self, value: object, attr: str | None, obj: object, **kwargs: object) -> Any:
        return value
