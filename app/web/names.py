"""The field for names of people, businesses, stalls and events."""

from typing import Any

from app.core.names import clean_name
from app.web.fields import Text


class Name(Text):
    """Text without characters that nobody sees: they are removed, and the length counts what is left."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return clean_name(super()._deserialize(value, attr, data, **kwargs))
