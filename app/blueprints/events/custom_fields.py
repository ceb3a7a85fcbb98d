"""Fields that only events have: addresses of images and pages, places, and lists that may be one word."""

from typing import Any

from marshmallow import fields

from app.core.addresses import is_url
from app.events import countries
from app.web.fields import BaseField, List, Nested, Text, field_error
from app.web.schema import Schema
from app.web.text_fields import Zone

ZONE = {"example": "Africa/Windhoek", "description": "a name of the IANA time zone database"}


class Link(Text):
    """The address of a page: http or https, or a path of the same site."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max=2048, metadata={"example": "https://example.com/tickets"}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        url = super()._deserialize(value, attr, data, **kwargs)
        path = url.startswith("/") and not url.startswith(("//", "/\\"))
        if url and not path and not is_url(url, ("https", "http")):
            raise field_error("invalid_url", "Must be an http or https address.")
        return url or None


class PlaceZone(Zone):
    """The name of a time zone, without `Factory`, `localtime` and `posixrules`, which name no place."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max=64, metadata=ZONE, **kwargs)

    def is_known(self, name: str) -> bool:
        return countries.is_zone(name)


class Country(Text):
    """A country by its two-letter code or its English name; the code inside."""

    def __init__(self, **kwargs: Any) -> None:
        values = {"example": "NA", "description": "ISO 3166 alpha-2, or the English name"}
        super().__init__(min=2, max=80, metadata=values, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        code = countries.country_code(text)
        if code is None:
            raise field_error("unknown_value", "Must be a country: its two-letter code, or its English name.")
        return code


class Words(BaseField, fields.Field[Any]):
    """A list of texts of 1 to 80 characters, or one such text, which is a list of one."""

    def __init__(self, *, max: int, **kwargs: Any) -> None:
        self.each = List(Text(min=1, max=80), max=max)
        text = {"type": "string", "minLength": 1, "maxLength": 80}
        values = {"anyOf": [{"type": "array", "items": text, "maxItems": max}, text, {"type": "null"}]}
        super().__init__(allow_none=True, metadata={**values, "example": ["reggae", "river"]}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        self.each.data_key = self.data_key
        return list(dict.fromkeys(self.each.deserialize([value] if isinstance(value, str) else value, attr, data)))


class Stored(List):
    """A list of objects that is stored as it goes over the wire: checked on its way in, passed on as it is."""

    def __init__(self, schema: type[Schema], *, max: int, **kwargs: Any) -> None:
        super().__init__(Nested(schema), max=max, **kwargs)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value
