"""Times whose text has a length of its own."""

from datetime import datetime
from typing import Any

from app.web.fields import Length, Moment


class BoundedMoment(Moment):
    """A time whose text has a length of its own."""

    def __init__(self, *, min: int, max: int, **kwargs: Any) -> None:
        super().__init__(metadata={"minLength": min, "maxLength": max, **kwargs.pop("metadata", {})}, **kwargs)
        self.length = Length(min=min, max=max)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        if isinstance(value, str):
            self.length(value)
        return super()._deserialize(value, attr, data, **kwargs)
