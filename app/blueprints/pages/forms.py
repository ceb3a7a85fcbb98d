"""HTML forms that are validated by marshmallow schemas, with error messages for people.

    ADDRESS = Form(AddressSchema, Input("email", "Your e-mail address", type="email", autocomplete="email"))

    form = ADDRESS.from_request()
    try:
        actions.request_reset(**form.load())
    except FORM_ERRORS as error:
        return render_form("pages/reset_address.html", form.with_error(error))

The schema holds the validation rules. An `Input` holds the label and the error messages of one field.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from flask import Response, flash, redirect, request
from flask.typing import ResponseReturnValue
from marshmallow import ValidationError
from werkzeug.datastructures import MultiDict

from app.accounts.errors import EmailNotVerified
from app.blueprints.pages.rendering import FOR_PROGRAMS, POLICY, TOO_LARGE_KEY, describe_error, render_page
from app.blueprints.pages.signed_in import get_signed_in_caller
from app.core.errors import (
    AppError,
    Conflict,
    StaleVersion,
    Throttled,
    TooLarge,
    Unprocessable,
    UnsupportedMedia,
    ValidationFailed,
)
from app.core.formatting import MEGABYTE, format_megabytes
from app.core.languages import gettext, lazy_gettext
from app.web.rate_limits import Limit, count_request
from app.web.schema import Query, to_camel_case, to_snake_case, to_validation_failed

FORM_ERRORS = (Unprocessable, Conflict, StaleVersion, Throttled, TooLarge, UnsupportedMedia, EmailNotVerified)
FORM_POLICY = f"{POLICY}; script-src 'self'"
FIELD_MESSAGES = {
    "required": lazy_gettext("Fill in this field."),
    "too_short": lazy_gettext("This is too short."),
    "too_long": lazy_gettext("This is too long."),
    "too_many_lines": lazy_gettext("Enter at most 8 lines."),
    "too_small": lazy_gettext("Enter a larger number."),
    "too_large": lazy_gettext("Enter a smaller number."),
    "invalid_type": lazy_gettext("This does not look right. Check it."),
    "invalid_characters": lazy_gettext("There are characters that we cannot use. Type the text again."),
    "invalid_email": lazy_gettext("Enter an e-mail address like name@example.com."),
    "invalid_phone": lazy_gettext("Enter a phone number like 081 123 4567."),
    "unknown_value": lazy_gettext("Choose one of the choices."),
    "unexpected_value": lazy_gettext("Leave this empty."),
    "contradiction": lazy_gettext("This does not fit what else you entered."),
    "invalid_time": lazy_gettext("Enter a date and a time."),
    "invalid_number": lazy_gettext("Enter digits only. Spaces and hyphens between them do not matter."),
    "invalid_pin": lazy_gettext("Enter four to eight digits."),
    "invalid_url": lazy_gettext("Enter a web address like https://example.com."),
    "link_not_allowed": lazy_gettext("Leave out web addresses."),
    "in_the_past": lazy_gettext("Choose a time in the future."),
    "too_common": lazy_gettext("Choose another password. This one is easy to guess."),
    "wrong_length": lazy_gettext("This has the wrong length."),
}
"""What a page says about a problem for which the field has no message of its own, by the code of the problem."""
MESSAGES_FOR_PEOPLE = ("wrong_lines",)
"""Codes of problems that only pages have. Their messages quote what was typed, which may look like words of the protocol."""
_GROUPED_DIGITS = re.compile(r"[1-9]\d{0,2}(?:(?:,\d{3})+|(?:\.\d{3})+)", re.ASCII)
_SPACES_AND_DASHES = re.compile(r"[\s\u2010-\u2015-]+")


@dataclass(frozen=True)
class Input:
    """One field of a form; `name` is its JSON name in the schema.

    `messages` maps validation codes to sentences. `error_codes` lists the errors that are shown at this field.
    Spaces are removed from a field of type `code` and from whole numbers, with the input mode `numeric`; their thousands
    may also be apart by commas or points. A field of type
    `password` is never sent back to the browser. A field with `options` (value and text) is a list to choose from; the
    types `textarea`, `checkbox` and `hidden` work as well. With the type `checkboxes` several of the options can be
    chosen: the value has them with commas between. Fields that most people leave empty, `is_rare`, are folded away until
    one has a value or an error.
    """

    name: str
    label: str
    hint: str = ""
    type: str = "text"
    autocomplete: str = "off"
    inputmode: str = ""
    messages: Mapping[str, str] = field(default_factory=dict)
    error_codes: tuple[str, ...] = ()
    options: Sequence[tuple[str, str]] = ()
    is_rare: bool = False

    def normalize(self, value: str) -> str:
        if self.inputmode == "numeric":
            value = "".join(value.split())
            value = re.sub("[.,]", "", value) if _GROUPED_DIGITS.fullmatch(value) else value
        return _SPACES_AND_DASHES.sub("", value) if self.type == "code" else value

    def read(self, values: MultiDict[str, str]) -> str:
        """The value of the field in a request."""
        text = ",".join(values.getlist(self.name)) if self.type == "checkboxes" else values.get(self.name, "")
        return self.normalize(text)

    def is_blank(self, value: str) -> bool:
        return not value if self.type == "password" else not value.strip()


@dataclass(frozen=True)
class FieldError:
    """One error: the name of its field ("" for the whole form), the message at the field and in the summary."""

    name: str
    message: str
    summary: str


class Form:
    """A schema and its inputs, in the order of the page.

    `left_out` has the fields that this form does not have, and `sign_in_url` where to sign in again before it works. With
    `marks_optional` a label says that its field is optional.
    """

    left_out: tuple[str, ...] = ()
    sign_in_url = ""
    marks_optional = True

    def __init__(self, schema: type[Query], *inputs: Input) -> None:
        self.schema = schema
        self.inputs = {input_.name: input_ for input_ in inputs}

    @cached_property
    def required_names(self) -> frozenset[str]:
        """The JSON names of the required fields."""
        return frozenset(str(field.data_key) for field in self.schema().fields.values() if field.required)

    def without(self, name: str, *, sign_in_url: str = "") -> "Form":
        """The form without one of its fields, whose value is then None."""
        form = Form(self.schema, *(input_ for input_ in self.inputs.values() if input_.name != name))
        form.left_out, form.sign_in_url = (*self.left_out, to_snake_case(name)), sign_in_url
        return form

    def fill(self, **values: str) -> "FilledForm":
        """The form with these values, before it is sent."""
        return FilledForm(self, values)

    def from_request(self) -> "FilledForm":
        """The form with the values of this request."""
        return self._read(request.form)

    def from_query(self) -> "FilledForm":
        """The form with the values in the address, for a form that is sent by GET."""
        return self._read(request.args)

    def _read(self, values: MultiDict[str, str]) -> "FilledForm":
        return FilledForm(self, {name: input_.read(values) for name, input_ in self.inputs.items()})


@dataclass(frozen=True)
class FilledForm:
    """A form with values, and with the error of the last attempt."""

    form: Form
    values: Mapping[str, str]
    error: AppError | None = None

    def load(self) -> dict[str, Any]:
        """The validated values, as keyword arguments of an action. Raises ValidationFailed with all errors."""
        schema = self.form.schema()
        values = {name: value for name, value in self.values.items() if not self.form.inputs[name].is_blank(value)}
        try:
            loaded: dict[str, Any] = schema.load(values, partial=self.form.left_out)
        except ValidationError as error:
            raise to_validation_failed(error.messages_dict, schema) from error
        return {**dict.fromkeys(self.form.left_out), **loaded}

    def with_error(self, error: AppError) -> Self:
        return replace(self, error=error)

    def value(self, name: str) -> str:
        """The value to show in the field again; empty for a password."""
        return "" if self.form.inputs[name].type == "password" else self.values.get(name, "")

    def is_optional(self, name: str) -> bool:
        """Whether the field may be left empty; a choice without an empty one has a value always."""
        options = self.form.inputs[name].options
        has_default = (
            bool(options) and all(value for value, _ in options) and self.form.inputs[name].type != "checkboxes"
        )
        return self.form.marks_optional and name not in self.form.required_names and not has_default

    def find_error(self, name: str) -> FieldError | None:
        return next((error for error in self.errors if error.name == name), None)

    @property
    def rare_names(self) -> list[str]:
        """The names of the rare fields, in the order of the page."""
        return [name for name, input_ in self.form.inputs.items() if input_.is_rare]

    @property
    def shows_rare_fields(self) -> bool:
        """Whether a rare field has a value other than zero, or an error."""
        return any(self.value(name) not in ("", "0") or self.find_error(name) for name in self.rare_names)

    @cached_property
    def errors(self) -> list[FieldError]:
        """The errors in the order of the fields, each once. Errors of the whole form come first."""
        order = ["", *self.form.inputs]
        errors = [] if self.error is None else self._build_errors(self.error)
        return sorted(dict.fromkeys(errors), key=lambda error: order.index(error.name))

    def _build_errors(self, error: AppError) -> list[FieldError]:
        if isinstance(error, ValidationFailed):
            return [self._build_field_error(**item) for item in error.data["errors"]]
        input_ = next((input_ for input_ in self.form.inputs.values() if error.code in input_.error_codes), None)
        message = (input_.messages.get(error.code) if input_ else None) or describe_error(error)
        return [FieldError(input_.name if input_ else "", message, message)]

    def _find_input(self, path: str) -> Input | None:
        """The input of an error with this path; None for an error of the whole form."""
        if path in self.form.inputs:
            return self.form.inputs[path]
        names = [name for word in re.findall(r"[A-Za-z_]+", path) for name in (word, to_camel_case(word))]
        return next((self.form.inputs[name] for name in names if name in self.form.inputs), None)

    def _build_field_error(self, path: str, code: str, message: str) -> FieldError:
        input_ = self._find_input(path)
        if code not in MESSAGES_FOR_PEOPLE and FOR_PROGRAMS.search(message):
            message = str(FIELD_MESSAGES.get(code, FIELD_MESSAGES["invalid_type"]))
        message = gettext(message)
        if input_ is None:
            return FieldError("", message, message)
        own_message = input_.messages.get(code)
        if input_.type == "hidden" and own_message is None:
            # Nobody sees or changes such a field, so its name and its problem say nothing.
            message = gettext("This form does not work any more. Open the page again.")
            return FieldError("", message, message)
        message = str(FIELD_MESSAGES.get(code, message))
        return FieldError(input_.name, own_message or message, own_message or f"{input_.label}: {message}")


def load_with(form: FilledForm, problems: Sequence[dict[str, str]]) -> dict[str, Any]:
    """The values of a form. Raises ValidationFailed with these problems, which its schema cannot see, and its own."""
    try:
        values = form.load()
    except ValidationFailed as error:
        raise ValidationFailed([*problems, *error.data["errors"]]) from error
    if problems:
        raise ValidationFailed([*problems])
    return values


def submit(
    form: FilledForm,
    act: Callable[..., object],
    render: Callable[[FilledForm], Response],
    *,
    done: str,
    path: str,
    limit: tuple[Limit, str] | None = None,
) -> ResponseReturnValue:
    """Call `act` with the values of the form; then say `done` on the page at `path`. Errors show the form again.

    `limit` is the rate limit that the form shares with a route of the API, counted for the signed-in person.
    """
    try:
        if limit is not None:
            count_request(*limit, account_id=get_signed_in_caller().id)
        act(**form.load())
    except FORM_ERRORS as error:
        return render(form.with_error(error))
    flash(str(done))
    return redirect(path, 303)


def find_upload_error(max_bytes: int) -> TooLarge | None:
    """The error of an upload to this page that was refused for its size; None without one."""
    size = request.args.get(TOO_LARGE_KEY, "")
    if not (size.isascii() and size.isdigit() and len(size) <= 12):
        return None
    text = gettext(
        "You sent %(size)s, and this page takes at most %(max)s MB at once. Send one file at a time, or make the files "
        "smaller: scan with 150 dpi, or save a picture with fewer pixels.",
        size=format_megabytes(int(size)),
        max=max_bytes // MEGABYTE,
    )
    return TooLarge(text)


def render_form(template: str, form: FilledForm, **context: object) -> Response:
    """Return the page of a form. A form with an error has the HTTP status of that error."""
    status = form.error.status if form.error else 200
    response = render_page(template, form=form, status=status, **context)
    response.headers["Content-Security-Policy"] = FORM_POLICY
    if form.error:
        response.headers.extend(form.error.headers)
    return response
