"""The URL field of images, and the schemas of an image upload."""

from typing import Any, Unpack

from flask import current_app
from marshmallow import fields

from app.core.addresses import is_url
from app.web.fields import File, Text, WholeNumber, field_error
from app.web.schema import Schema
from app.web.types import FieldOptions, RawData


class ImageUrl(Text):
    """An https URL, or the URL of an upload to this service; the empty text becomes None. The URL is never fetched."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs["metadata"] = {
            "example": "https://media.example.com/windhoek-lights.jpg",
            **kwargs.get("metadata", {}),
        }
        super().__init__(max=2048, **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        url = super()._deserialize(value, attr, data, **kwargs)
        upload_prefix = f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/media/"
        if url and not url.startswith(upload_prefix) and not is_url(url, ("https",)):
            raise field_error("invalid_url", "Must be an https URL, or the URL of an upload.")
        return url or None


class PictureFile(Schema):
    """The body of an image upload."""

    file = File(required=True, metadata={"description": "JPEG, PNG or WebP; 5 MiB, 40 megapixels"})


class Picture(Schema):
    """A stored image."""

    url = fields.String(required=True, metadata={"example": "http://localhost:8000/media/0f3c…e1.jpg"})
    width = WholeNumber(required=True, metadata={"example": 1600})
    height = WholeNumber(required=True, metadata={"example": 900})
    bytes = WholeNumber(required=True, metadata={"example": 182044})
