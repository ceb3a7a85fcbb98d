"""Fields for names, time zones, email texts, passwords, codes, web addresses and images, and the schemas of an upload."""

import re
from typing import Any, Unpack
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from flask import current_app
from marshmallow import fields

from app.core.addresses import find_web_address, is_url
from app.core.text_normalization import clean_name
from app.media.actions import PICTURE_NAME_PATTERN
from app.web.fields import File, Secret, Text, WholeNumber, field_error
from app.web.schema import Schema
from app.web.types import FieldOptions, RawData

MAX_ADDRESS_LINES = 8
_NUMBER_PATTERN = re.compile(r"[0-9][0-9 -]{2,32}[0-9]")


class Name(Text):
    """A name. Invisible characters are removed before its length is checked."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        return clean_name(super()._deserialize(value, attr, data, **kwargs))


class OneLineName(Name):
    """A name whose line breaks become blanks."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        return " ".join(super()._deserialize(value, attr, data, **kwargs).split())


class PostalAddress(Text):
    """A postal address of at most eight lines, which fit on an invoice. Invisible characters are removed."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        super().__init__(min=5, max=500, **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        text = clean_name(super()._deserialize(value, attr, data, **kwargs))
        if len(text.splitlines()) > MAX_ADDRESS_LINES:
            raise field_error("too_many_lines", f"Must have at most {MAX_ADDRESS_LINES} lines.")
        return text


class Zone(Text):
    """The name of a time zone in the IANA database."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        name = super()._deserialize(value, attr, data, **kwargs)
        if not self.is_known(name):
            raise field_error("unknown_value", "Must be a name of the IANA time zone database, like Africa/Windhoek.")
        return name

    def is_known(self, name: str) -> bool:
        """Whether the IANA database has this name."""
        return name in available_timezones()


def check_no_web_address(text: str) -> str:
    """Return the text. Raises `link_not_allowed` if a mail program would turn a part of it into a link."""
    if web_address := find_web_address(text):
        message = f"Take out the address of a web page ({web_address}): mail programs would make it a link."
        raise field_error("link_not_allowed", message)
    return text


class EmailText(Text):
    """Text of an email to people who may not know the sender; it may not contain a web address."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        return check_no_web_address(super()._deserialize(value, attr, data, **kwargs))


class EmailName(Name):
    """A name in an email to people who may not know the sender; it may not contain a web address."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        return check_no_web_address(super()._deserialize(value, attr, data, **kwargs))


class NewPassword(Secret):
    """A new password: any characters, exactly as typed."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        super().__init__(min=8, max=128, **kwargs)


class OneTimeCode(Secret):
    """A one-time code from an email or a text message."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        super().__init__(length=6, **kwargs)


class GroupedDigits(Text):
    """A VAT number: digits with blanks and hyphens between them, as they were typed."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not _NUMBER_PATTERN.fullmatch(text):
            raise field_error("invalid_number", "Must be digits; blanks and hyphens between them are allowed.")
        return text


class BankNumber(GroupedDigits):
    """An account number or a branch code, loaded without the separators."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return re.sub("[ -]", "", super()._deserialize(value, attr, data, **kwargs))


class Pin(Secret):
    """Four to eight digits of the member's own choice, instead of a generated code."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not re.fullmatch(r"[0-9]{4,8}", text):
            raise field_error("invalid_pin", "Must be four to eight digits.")
        return text


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


class Link(Text):
    """The URL of a page: http or https, or a path of the same site; the empty text becomes None."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs.setdefault("metadata", {"example": "https://example.com/tickets"})
        super().__init__(max=2048, **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        url = super()._deserialize(value, attr, data, **kwargs)
        is_path = url.startswith("/") and not url.startswith(("//", "/\\"))
        if url and not is_path and not is_url(url, ("https", "http")):
            raise field_error("invalid_url", "Must be an http or https address.")
        return url or None


class HttpsLink(Text):
    """The URL of a page that people open for a payment: https only; the empty text becomes None."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        super().__init__(max=2048, **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        url = super()._deserialize(value, attr, data, **kwargs)
        if url and not is_url(url, ("https",)):
            raise field_error("invalid_url", "Must be an https address.")
        return url or None


class UploadUrl(Text):
    """The URL of a picture that was uploaded to this service; loaded as its file name."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs["metadata"] = {"example": "http://localhost:8000/media/0f3c…e1.jpg", **kwargs.get("metadata", {})}
        super().__init__(max=2048, **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        url = super()._deserialize(value, attr, data, **kwargs)
        name = url.removeprefix(f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/media/")
        if not PICTURE_NAME_PATTERN.fullmatch(name):
            raise field_error("invalid_url", "Must be the URL of an upload.")
        return name


class Website(Text):
    """An http or https URL; one without a scheme gets https."""

    def __init__(self, **kwargs: Unpack[FieldOptions]) -> None:
        kwargs["metadata"] = {"example": "https://kapana-corner.example", **kwargs.get("metadata", {})}
        super().__init__(max=300, **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not text:
            return None
        url = text if "://" in text else f"https://{text}"
        try:
            parts = urlsplit(url)
            has_host = "." in (parts.hostname or "") and parts.port != 0 and not parts.username
            is_valid = parts.scheme in ("http", "https") and has_host and " " not in url
        except ValueError:
            is_valid = False
        if not is_valid:
            raise field_error("invalid_url", "Must be a web address, like https://kapana-corner.example.")
        return url


class PictureFile(Schema):
    """The body of an image upload."""

    file = File(required=True, metadata={"description": "JPEG, PNG or WebP; 5 MiB, 40 megapixels"})


class Picture(Schema):
    """A stored image."""

    url = fields.String(required=True, metadata={"example": "http://localhost:8000/media/0f3c…e1.jpg"})
    width = WholeNumber(required=True, metadata={"example": 1600})
    height = WholeNumber(required=True, metadata={"example": 900})
    bytes = WholeNumber(required=True, metadata={"example": 182044})
