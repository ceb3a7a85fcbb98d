"""Fields that only campaigns have: texts of one line, where a button leads, and lists that may be one text."""

from collections.abc import Sequence
from typing import Any

from marshmallow import fields

from app.core.addresses import is_url
from app.web.fields import BaseField, List, Text, field_error
from app.web.safe_redirect import is_local_path


class OneLine(Text):
    """A text without line breaks: it becomes a header of a mail."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if len(text.splitlines()) > 1:
            raise field_error("invalid_characters", "Must be one line, without line breaks.")
        return text


class Destination(Text):
    """Where the button leads: an https address, or a path of this site; the empty text means nowhere."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        href = super()._deserialize(value, attr, data, **kwargs)
        plain = href.isprintable() and (is_url(href, ("https",)) or is_local_path(href))
        if href and not plain:
            raise field_error("invalid_url", "Must be an https address, or a path of this site like /events/lights.")
        return href or None


class Listed(BaseField, fields.Field[Any]):
    """A list without doubles; one text is such a list too, its entries separated by commas."""

    def __init__(
        self,
        inner: Any,
        *,
        min: int = 0,
        max: int,
        example: list[str],
        choices: Sequence[str] = (),
        doubles: bool = False,
        **kwargs: Any,
    ) -> None:
        self.each, self.doubles = List(inner, min=min, max=max), doubles
        entry = {"type": "string", **({"enum": list(choices)} if choices else {})}
        entries = {"type": "array", "items": entry, "minItems": min, "maxItems": max}
        said = {"anyOf": [entries, {"type": "string"}], "example": example, **kwargs.pop("metadata", {})}
        super().__init__(metadata=said, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        self.each.data_key = self.data_key
        said = [part for item in value.split(",") if (part := item.strip())] if isinstance(value, str) else value
        result = self.each.deserialize(said, attr, data)
        return result if self.doubles else list(dict.fromkeys(result))
