"""Fields whose text goes to other people by mail."""

from typing import Any

from app.core.web_addresses import find_web_address
from app.web.fields import Text, problem


class MailText(Text):
    """Text that is mailed to people who may not know the sender: it may hold no address of a web page."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if found := find_web_address(text):
            sentence = f"Take out the address of a web page ({found}): mail programs would make it a link."
            raise problem("link_not_allowed", sentence)
        return text
