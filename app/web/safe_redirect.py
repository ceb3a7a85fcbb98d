"""Checks of redirect targets: a redirect after an action leads to a path of this site only."""

import re
from typing import Unpack
from urllib.parse import unquote

from app.web.fields import Secret, field_error
from app.web.types import FieldOptions, RawData

MAX_PATH_LENGTH = 512
MAX_DECODINGS = 4
_PRINTABLE = re.compile(r"[\x21-\x7e]+")


class SafePath(Secret):
    """A path of this site. No reading by a browser or a proxy makes it lead to another site."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs["metadata"] = {
            "example": "/merchants/start",
            "description": "path of the same site",
            **kwargs.get("metadata", {}),
        }
        super().__init__(max=MAX_PATH_LENGTH, **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not is_local_path(text):
            raise field_error("unsafe_path", "Must be a path of this site, like /merchants/start.")
        return text


def is_local_path(text: str) -> bool:
    """Whether the text is a path of this site, also after repeated decoding."""
    return bool(_PRINTABLE.fullmatch(text)) and all(map(_is_local_text, _list_decodings(text)))


def _list_decodings(text: str) -> list[str]:
    """The text, and the result of each percent-decoding until it no longer changes.

    The last entry is empty, and so no valid path, if the text still changes after MAX_DECODINGS.
    """
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
