"""Fields that only applications have: where to land, when to pay, a file and a website."""

import re
from datetime import datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from flask_smorest.fields import Upload

from app.core.ids import is_id
from app.web.fields import Coded, Length, Moment, Secret, Text, problem

LONGEST_PATH = 512
ROUNDS = 4
_PRINTABLE = re.compile(r"[\x21-\x7e]+")


class SafePath(Secret):
    """A path of this site: whatever a browser or a proxy makes of it, it cannot lead to another one."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"example": "/merchants/start", "description": "path of the same site", **kwargs.pop("metadata", {})}
        super().__init__(max=LONGEST_PATH, metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if not _PRINTABLE.fullmatch(text) or not all(map(_stays_here, _decodings(text))):
            raise problem("unsafe_path", "Must be a path of this site, like /merchants/start.")
        return text


def _decodings(text: str) -> list[str]:
    """The text as it stands, and as it looks after each decoding until nothing is left to decode."""
    found = [text]
    for _ in range(ROUNDS):
        decoded = unquote(found[-1])
        if decoded == found[-1]:
            return found
        found.append(decoded)
    return [*found, ""]


def _stays_here(text: str) -> bool:
    path = text.partition("?")[0].partition("#")[0]
    return (
        text.startswith("/")
        and "//" not in text
        and "\\" not in text
        and text.isprintable()
        and not re.search(r"[:@\s]", path)
    )


class Id(Secret):
    """An object id."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(length=24, metadata={"example": "6565a1f0c3d2e1b0a9f8e7d6"}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not is_id(text):
            raise problem("invalid_id", "Must be an id: 24 lower-case hex digits.")
        return text


class BoundedMoment(Moment):
    """A time whose text has a length of its own."""

    def __init__(self, *, min: int, max: int, **kwargs: Any) -> None:
        super().__init__(metadata={"minLength": min, "maxLength": max, **kwargs.pop("metadata", {})}, **kwargs)
        self.length = Length(min=min, max=max)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        if isinstance(value, str):
            self.length(value)
        return super()._deserialize(value, attr, data, **kwargs)


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
            good = parts.scheme in ("http", "https") and parts.hostname and not parts.username and " " not in url
        except ValueError:
            good = False
        if not good:
            raise problem("invalid_url", "Must be a web address, like https://kapana-corner.example.")
        return url


class File(Coded, Upload):  # type: ignore[misc]
    """A file of a multipart body."""

    def __init__(self, description: str, **kwargs: Any) -> None:
        super().__init__(metadata={"description": description, "rare": True}, **kwargs)
