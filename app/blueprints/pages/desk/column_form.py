"""The form on which people say what each column of an uploaded file is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.blueprints.pages.forms import FilledForm, Form, Input
from app.core.errors import ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.web.fields import Choice
from app.web.schema import Query

NOT_USED = ("", lazy_gettext("Not used"))
Sample = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ColumnForm:
    """The meanings that a column can have with their words, the fields that need a column, and meanings of two fields.

    A meaning that several columns can have is `repeated`, with its fields in the order of the columns. A `sample` has the
    name and the first values of each column, a mapping the column of each field.
    """

    labels: Mapping[str, str]
    required: Sequence[str]
    several: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    repeated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def build(self, sample: Sample) -> Form:
        """A list to choose from for each column. Names have no digits: those of `column A`, `column B` in a spreadsheet."""
        keys = [f"column{_build_letters(number)}" for number in range(len(sample))]
        schema = type("ColumnsSchema", (Query,), {key: Choice(*self.labels) for key in keys})
        options = [NOT_USED, *self.labels.items()]
        form = Form(
            schema,
            *(
                Input(key, column["name"], hint=_describe_values(column), options=options)
                for key, column in zip(keys, sample, strict=True)
            ),
        )
        form.marks_optional = False
        return form

    def fill(self, sample: Sample, mapping: Mapping[str, str]) -> FilledForm:
        """The form with the columns of a mapping."""
        repeated = {name: meaning for meaning, fields in self.repeated.items() for name in fields}
        meanings = {column: repeated.get(name, name) for name, column in mapping.items()}
        for meaning, fields in self.several.items():
            columns = {mapping.get(name) for name in fields}
            if len(columns) == 1 and (column := columns.pop()):
                meanings[column] = meaning
        form = self.build(sample)
        return form.fill(
            **{key: meanings.get(column["name"], "") for key, column in zip(form.inputs, sample, strict=True)}
        )

    def read_mapping(self, form: FilledForm, sample: Sample) -> dict[str, str]:
        """The column of each field. Raises ValidationFailed with all problems."""
        form.load()
        errors: list[dict[str, str]] = []
        mapping: dict[str, str] = {}
        for (key, choice), column in zip(form.values.items(), sample, strict=True):
            for name in self.several.get(choice, (choice,) if choice else ()):
                fields = self.repeated.get(name, (name,))
                free = next((it for it in fields if it not in mapping), None)
                if free is None:
                    errors.append({"path": key, "code": "chosen_twice", "message": self._describe_taken(name, mapping)})
                else:
                    mapping[free] = column["name"]
        for name in self.required:
            if name not in mapping:
                errors.append(self._build_missing_error(name, form))
        if errors:
            raise ValidationFailed(errors)
        return mapping

    def _describe_taken(self, name: str, mapping: Mapping[str, str]) -> str:
        if name in self.repeated:
            return gettext(
                "Choose “%(field)s” for at most %(count)s columns.",
                field=self.labels[name],
                count=len(self.repeated[name]),
            )
        return gettext("“%(column)s” is “%(field)s” already.", column=mapping[name], field=self.labels[name])

    def _build_missing_error(self, name: str, form: FilledForm) -> dict[str, str]:
        """The error of a field without a column: at the column that may be this field as well, if there is one."""
        wider = {meaning: fields for meaning, fields in self.several.items() if name in fields}
        message = gettext("Choose the column that is “%(field)s”.", field=self.labels[name])
        for meaning in wider:
            message = gettext(
                "Choose the column that is “%(field)s”, or “%(other)s”.",
                field=self.labels[name],
                other=self.labels[meaning],
            )
        parts = {field_name for fields in wider.values() for field_name in fields}
        path = next((key for key, choice in form.values.items() if choice in parts), "")
        return {"path": path, "code": "no_column", "message": message}


def describe_known(columns: Mapping[str, str], *, is_same: bool) -> str:
    """What the form says about columns that are known from earlier files; `is_same` if one had just these."""
    if is_same:
        return gettext("The columns are as you chose them last time.")
    return gettext("Some columns are as you chose them last time. Look at the others.") if columns else ""


def _build_letters(number: int) -> str:
    letters = ""
    while number >= 0:
        letters, number = chr(ord("A") + number % 26) + letters, number // 26 - 1
    return letters


def _describe_values(column: Mapping[str, Any]) -> str:
    return (
        gettext("For example: %(values)s", values=" · ".join(column["values"]))
        if column["values"]
        else gettext("Empty in the first rows.")
    )
