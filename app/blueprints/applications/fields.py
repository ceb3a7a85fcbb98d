"""The field that only applications have: a website."""

from typing import Any
from urllib.parse import urlsplit

from app.web.fields import Text, field_error


class Website(Text):
    """An http or https address; one without a scheme gets https."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max=300, metadata={"example": "https://kapana-corner.example"}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not text:
            return None
        url = text if "://" in text else f"https://{text}"
        try:
            parts = urlsplit(url)
            named = "." in (parts.hostname or "") and parts.port != 0 and not parts.username
            good = parts.scheme in ("http", "https") and named and " " not in url
        except ValueError:
            good = False
        if not good:
            raise field_error("invalid_url", "Must be a web address, like https://kapana-corner.example.")
        return url
