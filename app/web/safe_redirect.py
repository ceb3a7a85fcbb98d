"""Where to land after something is done: a path of this site, and never another one."""

import re
from typing import Any
from urllib.parse import unquote

from app.web.fields import Secret, field_error

MAX_PATH_LENGTH = 512
MAX_DECODINGS = 4
_PRINTABLE = re.compile(r"[\x21-\x7e]+")


class SafePath(Secret):
    """A path of this site: whatever a browser or a proxy makes of it, it cannot lead to another one."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"example": "/merchants/start", "description": "path of the same site", **kwargs.pop("metadata", {})}
        super().__init__(max=MAX_PATH_LENGTH, metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if not is_local_path(text):
            raise field_error("unsafe_path", "Must be a path of this site, like /merchants/start.")
        return text


def is_local_path(text: str) -> bool:
    """Whether the text is such a path, decoded however often."""
    return bool(_PRINTABLE.fullmatch(text)) and all(map(_is_local_text, _list_decodings(text)))


def _list_decodings(text: str) -> list[str]:
    """The text as it stands, and as it looks after each decoding until nothing is left to decode."""
    decodings = [text]
    for _ in range(MAX_DECODINGS):
        decoded = unquote(decodings[-1])
        if decoded == decodings[-1]:
            return decodings
        decodings.append(decoded)
    return [*decodings, ""]


def _is_local_text(text: str) -> bool:
    path = text.partition("?")[0].partition("#")[0]
    return (
        text.startswith("/")
        and "//" not in text
        and "\\" not in text
        and text.isprintable()
        and not re.search(r"[:@]", path)
    )
