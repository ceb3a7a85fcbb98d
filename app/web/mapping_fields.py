"""Fields that map names, as JSON in a form or a query."""

from collections.abc import Collection
from typing import Unpack

import orjson

from app.core.spreadsheet import column_key
from app.core.text_normalization import CONTROL
from app.web.fields import BaseField, field_error
from app.web.types import FieldOptions, RawData

MAX_MAPPING_LENGTH, MAX_COLUMN_LENGTH = 10_000, 200


class TextMapping(BaseField):
    """A JSON object in a text: a text for each name, with `texts` one of these."""

    def __init__(self, *, texts: Collection[str] = (), **kwargs: Unpack[FieldOptions]) -> None:
        super().__init__(**kwargs)
        self.texts = texts

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> dict[str, str]:
        try:
            mapping: dict[str, str] = orjson.loads(str(value)[:MAX_MAPPING_LENGTH])
        except orjson.JSONDecodeError as error:
            raise field_error("invalid_json", "Must be a JSON object.") from error
        if not isinstance(mapping, dict) or not all(
            isinstance(text, str) and 0 < len(text) <= MAX_COLUMN_LENGTH for text in mapping.values()
        ):
            raise field_error("invalid_type", "Must be a JSON object with a text for each name.")
        if any(CONTROL.search(text) for text in mapping.values()):
            raise field_error("invalid_characters", "Control characters are not allowed.")
        if self.texts and not set(mapping.values()) <= set(self.texts):
            raise field_error("unknown_value", f"Each text must be one of: {', '.join(self.texts)}.")
        return mapping


class ColumnMapping(TextMapping):
    """A JSON object in a text: the column of each field of an imported file.

    With `each_once` two fields have two columns, except those of `may_share`.
    """

    def __init__(
        self,
        names: Collection[str],
        *,
        required_names: Collection[str],
        each_once: bool = False,
        may_share: Collection[str] = (),
        **kwargs: Unpack[FieldOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.names, self.required_names = names, required_names
        self.each_once, self.may_share = each_once, may_share

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> dict[str, str]:
        mapping = super()._deserialize(value, attr, data, **kwargs)
        if unknown_names := [name for name in mapping if name not in self.names]:
            raise field_error(
                "unknown_value", f"{unknown_names[0][:80]!r} is no field; fields are {', '.join(self.names)}."
            )
        if missing_names := [name for name in self.required_names if name not in mapping]:
            raise field_error("required", f"Must name the column of {' and '.join(missing_names)}.")
        if self.each_once and not all(map(column_key, mapping.values())):
            raise field_error("invalid_type", "Must name columns that have a name.")
        if self.each_once:
            columns = [column for name, column in mapping.items() if name not in self.may_share]
            columns += {mapping[name] for name in self.may_share if name in mapping}
            if len(set(columns)) < len(columns):
                raise field_error("duplicate", "Must name each column once.")
        return mapping
