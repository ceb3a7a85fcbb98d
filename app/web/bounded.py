"""Fields whose text has a form of its own beside its meaning: ids, and times of a bounded length."""

from datetime import datetime
from typing import Any

from app.core.ids import is_id
from app.web.fields import Length, Moment, Secret, problem


class Id(Secret):
    """An object id."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(length=24, metadata={"example": "6565a1f0c3d2e1b0a9f8e7d6"}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not is_id(text):
            raise problem("invalid_id", "Must be an id: 24 lower-case hex digits.")
        return text


class BoundedMoment(Moment):
    """A time whose text has a length of its own."""

    def __init__(self, *, min: int, max: int, **kwargs: Any) -> None:
        super().__init__(metadata={"minLength": min, "maxLength": max, **kwargs.pop("metadata", {})}, **kwargs)
        self.length = Length(min=min, max=max)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        if isinstance(value, str):
            self.length(value)
        return super()._deserialize(value, attr, data, **kwargs)
