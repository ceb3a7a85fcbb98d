"""Pictures: their addresses, and uploading one."""

from typing import Any

from flask import current_app
from marshmallow import fields

from app.core.addresses import is_url
from app.web.fields import File, Text, WholeNumber, field_error
from app.web.schema import Schema


class ImageUrl(Text):
    """An https address, or one of our own uploads; the empty text means none. It is never fetched."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"example": "https://media.example.com/windhoek-lights.jpg", **kwargs.pop("metadata", {})}
        super().__init__(max=2048, metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        url = super()._deserialize(value, attr, data, **kwargs)
        upload_prefix = f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/media/"
        if url and not url.startswith(upload_prefix) and not is_url(url, ("https",)):
            raise field_error("invalid_url", "Must be an https address, or the url that an upload answered.")
        return url or None


class PictureFile(Schema):
    """One picture."""

    file = File(required=True, metadata={"description": "JPEG, PNG or WebP; 5 MiB, 40 megapixels"})


class Picture(Schema):
    """A picture that was taken in."""

    url = fields.String(required=True, metadata={"example": "http://localhost:8000/media/0f3c…e1.jpg"})
    width = WholeNumber(required=True, metadata={"example": 1600})
    height = WholeNumber(required=True, metadata={"example": 900})
    bytes = WholeNumber(required=True, metadata={"example": 182044})
