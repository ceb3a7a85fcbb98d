"""The field for names of people, businesses, stalls and events.

Fields whose text goes to other people by mail: it may hold no address of a web page.

What a new password and a one-time code must look like, for operations and pages alike.
"""

from typing import Any
from zoneinfo import available_timezones

from app.core.names import clean_name
from app.core.web_addresses import find_web_address
from app.web.fields import Secret, Text, field_error


class Name(Text):
    """Text without characters that nobody sees: they are removed, and the length counts what is left."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return clean_name(super()._deserialize(value, attr, data, **kwargs))


class Zone(Text):
    """The name of a time zone of the IANA database."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        name = super()._deserialize(value, attr, data, **kwargs)
        if not self.is_known(name):
            raise field_error("unknown_value", "Must be a name of the IANA time zone database, like Africa/Windhoek.")
        return name

    def is_known(self, name: str) -> bool:
        """Whether the database has this name."""
        return name in available_timezones()


def check_no_web_address(text: Any) -> Any:
    """The text itself. Raises a problem `link_not_allowed` when it holds what a mail program would make a link."""
    if web_address := find_web_address(text):
        message = f"Take out the address of a web page ({web_address}): mail programs would make it a link."
        raise field_error("link_not_allowed", message)
    return text


class EmailText(Text):
    """Text that is mailed to people who may not know the sender."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return check_no_web_address(super()._deserialize(value, attr, data, **kwargs))


class EmailName(Name):
    """A name that is mailed to people who may not know the sender."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return check_no_web_address(super()._deserialize(value, attr, data, **kwargs))


class NewPassword(Secret):
    """A password that is being set: any characters, exactly as typed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min=8, max=128, **kwargs)


class OneTimeCode(Secret):
    """A one-time code from a mail or a text message."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(length=6, **kwargs)
