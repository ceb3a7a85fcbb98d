"""The numbers of a page of the stock, which are typed in the table: all that somebody has filled in are saved together.

The fields of a row have the id of the item in their names: `quantity-6565a1f0c3d2e1b0a9f8e7d6`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from flask import request

from app.accounts.caller import Caller
from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.desk.shell import do_once
from app.blueprints.pages.desk.stock_words import BUCKET_LABELS, REASON_LABELS, STOCK_MESSAGES, WRONG_NUMBER
from app.blueprints.pages.desk.tables import PAGE_SIZE
from app.blueprints.pages.forms import FORM_ERRORS, FieldError, FilledForm, Form, Input
from app.blueprints.pages.inputs import TypedNumber
from app.core.errors import NotFound, ValidationFailed
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext
from app.inventory import actions, queries
from app.inventory.item_fields import BUCKETS, REASONS
from app.web.fields import Choice, Text
from app.web.stock_fields import build_quantity_field

COUNT, RECEIVED = "count", "received"


class NumberSchema(VersionSchema):
    quantity = build_quantity_field(TypedNumber, required=True, min=0)
    bucket = Choice(*BUCKETS, load_default="onHand")
    reason = Choice(*REASONS, load_default=COUNT)
    note = Text(max=600)


NUMBER_FORM = Form(
    NumberSchema,
    Input(
        "quantity",
        lazy_gettext("New number"),
        inputmode="decimal",
        messages={
            **WRONG_NUMBER,
            **STOCK_MESSAGES,
            "required": lazy_gettext("Enter the new number."),
            "unchanged": lazy_gettext(
                "This is the number already. Choose the reason “Count” to record that you counted it."
            ),
        },
        error_codes=("INSUFFICIENT_STOCK", "QUANTITY_TOO_LARGE", "STALE_VERSION"),
    ),
    Input("bucket", lazy_gettext("Which number"), options=list(BUCKET_LABELS.items())),
    Input("reason", lazy_gettext("Reason"), options=list(REASON_LABELS.items())),
    Input("note", lazy_gettext("Note")),
    VERSION,
)
UNTOUCHED = {"quantity": "", "bucket": "onHand", "reason": COUNT, "note": ""}


@dataclass(frozen=True)
class TypedNumbers(FilledForm):
    """The rows that somebody has filled in, by item, and what is wrong with some of them."""

    rows: Mapping[str, FilledForm] = field(default_factory=dict)
    row_errors: Mapping[str, FieldError] = field(default_factory=dict)

    @cached_property
    def errors(self) -> list[FieldError]:
        return [self.row_errors[item_id] for item_id in self.rows if item_id in self.row_errors] or super().errors

    @cached_property
    def options(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """The values and words of the lists in every row, translated once."""
        return {
            name: [(value, str(label)) for value, label in self.form.inputs[name].options]
            for name in ("bucket", "reason")
        }

    def is_special(self, item_id: str) -> bool:
        """Whether a row changes another number than a count does, for another reason, or has a note."""
        row = self.rows.get(item_id)
        return row is not None and any(
            row.value(name) not in ("", UNTOUCHED[name]) for name in ("bucket", "reason", "note")
        )


@dataclass(frozen=True)
class Saved:
    """How many numbers are saved, and per item the name and the problem of those that are not."""

    count: int
    refused: Mapping[str, tuple[str, str]]


def read_typed_numbers() -> TypedNumbers:
    """Return the rows of this request in which something is filled in."""
    suffixes = (name.removeprefix("quantity-") for name in request.form if name.startswith("quantity-"))
    forms = {item_id: _read_row(item_id) for item_id in suffixes if is_id(item_id)}
    rows = {
        item_id: form
        for item_id, form in forms.items()
        if any(form.values[name].strip() not in ("", value) for name, value in UNTOUCHED.items())
    }
    return TypedNumbers(NUMBER_FORM, {}, rows=rows)


def save_typed_numbers(caller: Caller, event_id: str, numbers: TypedNumbers) -> Saved:
    """Save each number by itself, so that one that is refused does not hold up the others.

    A form that is sent twice saves once. Raises ValidationFailed without a number, or for more rows than a page has.
    """
    if not numbers.rows:
        raise ValidationFailed.of("", "required", gettext("Enter a number in at least one row."))
    if len(numbers.rows) > PAGE_SIZE:
        raise ValidationFailed.of("", "too_many", gettext("Save at most %(num)s numbers at once.", num=PAGE_SIZE))
    count, refused = json.loads(do_once(caller, lambda: _save_rows(caller, event_id, numbers.rows)))
    return Saved(count, {item_id: (name, message) for item_id, (name, message) in refused.items()})


def mark_refused(numbers: TypedNumbers, refused: Mapping[str, tuple[str, str]]) -> TypedNumbers:
    """Return the rows that are not saved, each with its problem."""
    errors = {
        item_id: FieldError(f"quantity-{item_id}", message, f"{name}: {message}" if name else message)
        for item_id, (name, message) in refused.items()
    }
    rows = {item_id: form for item_id, form in numbers.rows.items() if item_id in refused}
    error = ValidationFailed.of("", "refused", "Some numbers are not saved.")
    return TypedNumbers(NUMBER_FORM, {}, error, rows=rows, row_errors=errors)


def _read_row(item_id: str) -> FilledForm:
    values = {
        name: input_.normalize(request.form.get(f"{name}-{item_id}", "")) for name, input_ in NUMBER_FORM.inputs.items()
    }
    return FilledForm(NUMBER_FORM, values)


def _save_rows(caller: Caller, event_id: str, rows: Mapping[str, FilledForm]) -> str:
    """Save in the order of the ids, so that two who save the same items do not wait for each other in a circle."""
    refused = {}
    for item_id in sorted(rows):
        try:
            row, typed = rows[item_id], rows[item_id].value("quantity").strip()
            values = {**row.values, "quantity": typed.removeprefix("+")}
            _set_number(caller, event_id, item_id, is_added=typed.startswith("+"), **replace(row, values=values).load())
        except (*FORM_ERRORS, NotFound) as error:
            message = rows[item_id].with_error(error).errors[0].message
            refused[item_id] = (_find_name(caller, event_id, item_id), str(message))
    return json.dumps([len(rows) - len(refused), refused])


def _find_name(caller: Caller, event_id: str, item_id: str) -> str:
    try:
        return str(queries.get_item(caller, event_id, item_id)["name"])
    except NotFound:
        return ""


def _set_number(
    caller: Caller,
    event_id: str,
    item_id: str,
    *,
    quantity: Decimal,
    bucket: str,
    reason: str,
    version: int,
    is_added: bool,
    **fields: Any,
) -> None:
    """Record a number as counted, or the difference to it for another reason. Raises ValidationFailed.

    A number with a plus in front (`is_added`) is the difference itself: received, if no other reason is given.
    """
    change: dict[str, Any] = {"counted": quantity}
    if is_added and not quantity:
        raise ValidationFailed.of("quantity", "unchanged", "Nothing is added.")
    if is_added:
        change, reason = {"delta": quantity}, RECEIVED if reason == COUNT else reason
    elif reason != COUNT:
        present = queries.get_item(caller, event_id, item_id)
        change = {"delta": quantity - present[BUCKETS[bucket]]}
        if not change["delta"] and present["version"] == version:
            raise ValidationFailed.of("quantity", "unchanged", "This is the number already.")
    actions.adjust_item(
        caller=caller,
        event_id=event_id,
        item_id=item_id,
        bucket=bucket,
        reason=reason,
        expected_version=version,
        **change,
        **fields,
    )
