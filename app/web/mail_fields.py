"""Fields whose text goes to other people by mail: it may hold no address of a web page."""

from typing import Any

from app.core.web_addresses import find_web_address
from app.web.fields import Text, problem
from app.web.names import Name


def refuse_web_address(text: Any) -> Any:
    """The text itself. Raises a problem `link_not_allowed` when it holds what a mail program would make a link."""
    if found := find_web_address(text):
        sentence = f"Take out the address of a web page ({found}): mail programs would make it a link."
        raise problem("link_not_allowed", sentence)
    return text


class MailText(Text):
    """Text that is mailed to people who may not know the sender."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return refuse_web_address(super()._deserialize(value, attr, data, **kwargs))


class MailName(Name):
    """A name that is mailed to people who may not know the sender."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return refuse_web_address(super()._deserialize(value, attr, data, **kwargs))
