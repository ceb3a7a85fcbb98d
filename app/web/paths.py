"""Where to land after something is done: a path of this site, and never another one."""

import re
from typing import Any
from urllib.parse import unquote

from app.web.fields import Secret, problem

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
        if not stays_on_this_site(text):
            raise problem("unsafe_path", "Must be a path of this site, like /merchants/start.")
        return text


def stays_on_this_site(text: str) -> bool:
    """Whether the text is such a path, decoded however often."""
    return bool(_PRINTABLE.fullmatch(text)) and all(map(_stays_here, _decodings(text)))


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
        and not re.search(r"[:@]", path)
    )
