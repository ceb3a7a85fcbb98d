"""A form with a list: each entry is a row of the same fields, and rows that are left empty do not count.

    ACTS = RowList("lineup", ActSchema, lazy_gettext("Act %(number)s"), 80, Input("name", "Name"), Input("stage", "Stage"))

    form = ACTS.fill([{"name": "Ees"}], version="3")      # the rows with values, and three empty ones
    form = ACTS.from_request()                            # the rows that were sent
    form.load()                                           # {"lineup": [{"name": "Ees"}], "version": 3}

A list with `is_ordered` has a number in each row; `sort` puts the entries in its order.

The macro `field_rows` of desk/parts.html draws the rows. A field has the name of its list, its row and its input, like
`lineup-0-name`; an error of `lineup[0].name` is shown there.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from flask import request
from marshmallow import ValidationError

from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.forms import FieldError, FilledForm, Form, Input
from app.core.errors import ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.web.schema import Query, to_camel_case, to_validation_failed

EMPTY_ROWS = 3
POSITION = Input("position", lazy_gettext("Place in the list"), inputmode="numeric")
_PATH = re.compile(r"\w+\[(\d+)\]\.(\w+)")


class RowList:
    """A list in a form: its name in the loaded values, the schema, title and inputs of a row, and how many there may be."""

    def __init__(
        self, name: str, schema: type[Query], title: str, max_rows: int, *inputs: Input, is_ordered: bool = False
    ) -> None:
        self.name, self.schema, self.title, self.max_rows = name, schema, title, max_rows
        self.inputs = (*inputs, POSITION) if is_ordered else inputs
        self.is_ordered = is_ordered

    def fill(self, entries: Sequence[Mapping[str, str]], *, version: str) -> "RowForm":
        """The form with these entries, each by the names of the inputs, and empty rows after them."""
        count = min(len(entries) + EMPTY_ROWS, max(self.max_rows, len(entries)))
        values = {self.name_field(row, name): entry[name] for row, entry in enumerate(entries) for name in entry}
        if self.is_ordered:
            values |= {self.name_field(row, POSITION.name): str(row + 1) for row in range(len(entries))}
        return self._build(count, {**values, VERSION.name: version})

    def from_request(self, *, more_rows: int = 0) -> "RowForm":
        """The form with the rows of this request, and so many empty ones more."""
        numbers = re.findall(rf"(?:^|\n){self.name}-(\d{{1,3}})-", "\n".join(request.form))
        count = max((int(number) + 1 for number in numbers), default=EMPTY_ROWS)
        count = min(count + more_rows, max(self.max_rows, min(count, self.max_rows + EMPTY_ROWS)))
        fields = self._build(count, {}).form.inputs
        return self._build(count, {name: input_.read(request.form) for name, input_ in fields.items()})

    def name_field(self, row: int, name: str) -> str:
        """The name of a field in the form."""
        return f"{self.name}-{row}-{name}"

    def _build(self, count: int, values: Mapping[str, str]) -> "RowForm":
        inputs = [
            replace(input_, name=self.name_field(row, input_.name)) for row in range(count) for input_ in self.inputs
        ]
        form = Form(VersionSchema, *inputs, VERSION)
        form.marks_optional = False
        return RowForm(form, values, row_list=self, row_count=count)


@dataclass(frozen=True, kw_only=True)
class RowForm(FilledForm):
    """A form with the rows of a list."""

    row_list: RowList
    row_count: int

    @property
    def rows(self) -> list[tuple[str, list[str]]]:
        """The title and the names of the fields of each row, in the order of the page."""
        names = [input_.name for input_ in self.row_list.inputs]
        return [
            (self._title(row), [self.row_list.name_field(row, name) for name in names]) for row in range(self.row_count)
        ]

    def load(self) -> dict[str, Any]:
        """The entries of the rows that have a value, and the version. Raises ValidationFailed with all errors."""
        schema = self.row_list.schema()
        entries: list[dict[str, Any]] = []
        problems: list[dict[str, str]] = []
        for index, row in enumerate(self.filled_rows):
            try:
                entries.append(schema.load(self._read_row(row)))
            except ValidationError as error:
                failed = to_validation_failed(error.messages_dict, schema)
                problems += [
                    {**problem, "path": f"{self.row_list.name}[{index}].{problem['path']}"}
                    for problem in failed.data["errors"]
                ]
        if problems:
            raise ValidationFailed(problems)
        if len(entries) > self.row_list.max_rows:
            text = gettext("There are more than %(max)s rows.", max=self.row_list.max_rows)
            raise ValidationFailed.of("", "too_many", text)
        return {**super().load(), self.row_list.name: entries}

    def sort(self, entries: Sequence[Mapping[str, Any]]) -> list[int]:
        """The indexes of loaded entries in the order of their positions.

        An entry that is moved to the place of another one comes before it, or after it if it is moved down.
        """

        def find_place(index: int) -> tuple[int, int]:
            present = self.filled_rows[index] + 1
            position = entries[index].get(POSITION.name, self.row_list.max_rows + present)
            return position, (position > present) - (position < present)

        return sorted(range(len(entries)), key=find_place)

    def is_optional(self, name: str) -> bool:
        return False

    @cached_property
    def filled_rows(self) -> list[int]:
        """The numbers of the rows that have a value, in the order of the entries that `load` returns."""
        return [row for row in range(self.row_count) if self._read_row(row)]

    def _read_row(self, row: int) -> dict[str, str]:
        values = {
            input_.name: self.values.get(self.row_list.name_field(row, input_.name), "")
            for input_ in self.row_list.inputs
        }
        filled = {name: value for name, value in values.items() if value.strip()}
        return filled if filled.keys() - {POSITION.name} else {}

    def _title(self, row: int) -> str:
        return str(self.row_list.title) % {"number": row + 1}

    def _find_row(self, path: str) -> tuple[int, str] | None:
        match = _PATH.fullmatch(path)
        filled_rows = self.filled_rows
        if match is None or int(match[1]) >= len(filled_rows):
            return None
        return filled_rows[int(match[1])], to_camel_case(match[2])

    def _find_input(self, path: str) -> Input | None:
        location = self._find_row(path)
        return self.form.inputs.get(self.row_list.name_field(*location)) if location else super()._find_input(path)

    def _build_field_error(self, path: str, code: str, message: str) -> FieldError:
        error, location = super()._build_field_error(path, code, message), self._find_row(path)
        return error if location is None else replace(error, summary=f"{self._title(location[0])}: {error.message}")
