"""Fields for names, time zones, texts of emails, passwords and one-time codes; operations and pages share them."""

from typing import Unpack
from zoneinfo import available_timezones

from app.core.names import clean_name
from app.core.web_addresses import find_web_address
from app.web.fields import Secret, Text, field_error
from app.web.types import FieldOptions, RawData


class Name(Text):
    """A name. Invisible characters are removed before its length is checked."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> str:
        return clean_name(super()._deserialize(value, attr, data, **kwargs))


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
