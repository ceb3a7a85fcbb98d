"""Forms: what somebody typed, checked by a schema of the API's own rules, and what to say about it.

    ADDRESS = Form(AddressSchema, Input("email", "Your e-mail address", type="email", autocomplete="email"))

    form = ADDRESS.typed()
    try:
        actions.request_reset(**form.checked())
    except REFUSALS as error:
        return form_page("console/reset_address.html", form.refused(error))

The rule stands in the schema, once; the input only says how to ask, and how to say what is wrong.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from flask import Response, request
from marshmallow import ValidationError

from app.blueprints.console.error_messages import describe_error
from app.blueprints.console.rendering import POLICY, page
from app.core.errors import AppError, Conflict, Throttled, Unprocessable, ValidationFailed
from app.web.schema import Query, to_validation_failed

REFUSALS = (Unprocessable, Conflict, Throttled)
FORM_POLICY = f"{POLICY}; script-src 'self'"
_GAPS = re.compile(r"[\s\u2010-\u2015-]+")


@dataclass(frozen=True)
class Input:
    """A field of a schema as people see it, by its name in the schema's JSON.

    `says` gives sentences for the codes of its problems; `about` names errors that are shown at it. A field of
    type `code` loses its spaces, one of type `password` is never sent back.
    """

    name: str
    label: str
    hint: str = ""
    type: str = "text"
    autocomplete: str = "off"
    inputmode: str = ""
    says: Mapping[str, str] = field(default_factory=dict)
    about: tuple[str, ...] = ()

    def cleaned(self, typed: str) -> str:
        return _GAPS.sub("", typed) if self.type == "code" else typed

    def blank(self, typed: str) -> bool:
        return not typed if self.type == "password" else not typed.strip()


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong: with which field ("": with none), as said there and in the summary."""

    name: str
    sentence: str
    summary: str


class Form:
    """A schema and its fields in the order of the page."""

    def __init__(self, schema: type[Query], *inputs: Input) -> None:
        self.schema = schema
        self.inputs = {input_.name: input_ for input_ in inputs}

    def blank(self, **values: str) -> "FilledForm":
        return FilledForm(self, values)

    def typed(self) -> "FilledForm":
        """The form as it was sent with this request."""
        result = ((input_, request.form.get(input_.name, "")) for input_ in self.inputs.values())
        return FilledForm(self, {item.name: item.cleaned(value) for item, value in result})


@dataclass(frozen=True)
class FilledForm:
    """A form with values, and with the error that it was refused for."""

    form: Form
    values: Mapping[str, str]
    error: AppError | None = None

    def checked(self) -> dict[str, Any]:
        """The values as keyword arguments of an action. Raises ValidationFailed with every problem."""
        schema = self.form.schema()
        values = {name: value for name, value in self.values.items() if not self.form.inputs[name].blank(value)}
        try:
            loaded: dict[str, Any] = schema.load(values)
        except ValidationError as error:
            raise to_validation_failed(error.messages_dict, schema) from error
        return loaded

    def refused(self, error: AppError) -> "FilledForm":
        return replace(self, error=error)

    def value(self, name: str) -> str:
        """What goes back into the field: what was typed, but never a password."""
        return "" if self.form.inputs[name].type == "password" else self.values.get(name, "")

    def optional(self, name: str) -> bool:
        return not next(item.required for item in self.form.schema().fields.values() if item.data_key == name)

    def complaint(self, name: str) -> Complaint | None:
        return next((complaint for complaint in self.complaints if complaint.name == name), None)

    @property
    def complaints(self) -> list[Complaint]:
        """What is wrong, in the order of the fields; what concerns none of them comes first."""
        order = ["", *self.form.inputs]
        items = [] if self.error is None else list(self._build_complaints(self.error))
        return sorted(items, key=lambda item: order.index(item.name))

    def _build_complaints(self, error: AppError) -> list[Complaint]:
        if isinstance(error, ValidationFailed):
            return [self._of_problem(**item) for item in error.data["errors"]]
        place = next((input_ for input_ in self.form.inputs.values() if error.code in input_.about), None)
        sentence = (place.says.get(error.code) if place else None) or describe_error(error)
        return [Complaint(place.name if place else "", sentence, sentence)]

    def _of_problem(self, path: str, code: str, message: str) -> Complaint:
        value = self.form.inputs.get(re.split(r"[.\[]", path)[0])
        if value is None:
            return Complaint("", message, message)
        sentence = value.says.get(code)
        return Complaint(value.name, sentence or message, sentence or f"{value.label}: {message}")


def form_page(template: str, form: FilledForm, **context: Any) -> Response:
    """The page of a form; refused, it has the status of what it was refused for."""
    status = form.error.status if form.error else 200
    response = page(template, form=form, status=status, **context)
    response.headers["Content-Security-Policy"] = FORM_POLICY
    if form.error:
        response.headers.extend(form.error.headers)
    return response
