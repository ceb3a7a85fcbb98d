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
from app.blueprints.pages.desk.tables import PAGE_SIZE, Row
from app.blueprints.pages.forms import FORM_ERRORS, FieldError, FilledForm, Form, Input
from app.blueprints.pages.inputs import TypedNumber
from app.core.errors import AppError, NotFound, ValidationFailed
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext
from app.inventory import actions, queries
from app.inventory.formatting import format_quantity
from app.inventory.item_fields import BUCKETS, REASONS
from app.web.fields import Choice, Text
from app.web.stock_fields import build_quantity_field

COUNT, RECEIVED, SOLD, LOST = "count", "received", "sold", "lost"
PLUS, MINUS = "+", "-"
SIGNS = {PLUS: PLUS, MINUS: MINUS, "\u2212": MINUS, "\u2013": MINUS}
"""What people type for a plus and a minus: also the minus sign and the dash."""
LESS_OPTIONS = (
    (SOLD, lazy_gettext("Sold or used"), ""),
    (LOST, lazy_gettext("Lost"), lazy_gettext("The counts show it as missing.")),
)


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
    Input(
        "less",
        lazy_gettext("What is less than before"),
        messages={"required": lazy_gettext("Some numbers are lower. Say whether this was sold or used, or is lost.")},
    ),
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
    return TypedNumbers(NUMBER_FORM, {"less": request.form.get("less", "")}, rows=rows)


def save_typed_numbers(caller: Caller, event_id: str, numbers: TypedNumbers) -> Saved:
    """Save each number by itself, so that one that is refused does not hold up the others.

    A form that is sent twice saves once. Raises ValidationFailed without a number, for more rows than a page has, and if
    numbers are lower and nobody says why.
    """
    if not numbers.rows:
        raise ValidationFailed.of("", "required", gettext("Enter a number in at least one row."))
    if len(numbers.rows) > PAGE_SIZE:
        raise ValidationFailed.of("", "too_many", gettext("Save at most %(num)s numbers at once.", num=PAGE_SIZE))
    count, refused = json.loads(do_once(caller, lambda: _save_rows(caller, event_id, numbers)))
    return Saved(count, {item_id: (name, message) for item_id, (name, message) in refused.items()})


def mark_refused(numbers: TypedNumbers, refused: Mapping[str, tuple[str, str]]) -> TypedNumbers:
    """Return the rows that are not saved, each with its problem."""
    errors = {
        item_id: FieldError(f"quantity-{item_id}", message, f"{name}: {message}" if name else message)
        for item_id, (name, message) in refused.items()
    }
    rows = {item_id: form for item_id, form in numbers.rows.items() if item_id in refused}
    error = ValidationFailed.of("", "refused", "Some numbers are not saved.")
    return TypedNumbers(NUMBER_FORM, numbers.values, error, rows=rows, row_errors=errors)


def _read_row(item_id: str) -> FilledForm:
    values = {
        name: input_.normalize(request.form.get(f"{name}-{item_id}", "")) for name, input_ in NUMBER_FORM.inputs.items()
    }
    return FilledForm(NUMBER_FORM, values)


def _save_rows(caller: Caller, event_id: str, numbers: TypedNumbers) -> str:
    """Save in the order of the ids, so that two who save the same items do not wait for each other in a circle."""
    items = {item["id"]: item for item in queries.list_quantities(caller, event_id, list(numbers.rows))}
    changes, refused = {}, {}

    def refuse(item_id: str, error: AppError) -> None:
        message = numbers.rows[item_id].with_error(error).errors[0].message
        refused[item_id] = (items[item_id]["name"] if item_id in items else "", str(message))

    for item_id in sorted(numbers.rows):
        try:
            changes[item_id] = _load_row(numbers.rows[item_id])
            if item_id not in items:
                raise NotFound()
        except (*FORM_ERRORS, NotFound) as error:
            refuse(item_id, error)
            changes.pop(item_id, None)
    less = numbers.value("less")
    if less not in (SOLD, LOST) and any(_is_less(change, items[item_id]) for item_id, change in changes.items()):
        raise ValidationFailed.of("less", "required", "Say why it is less.")
    for item_id, change in changes.items():
        is_sold = less == SOLD and _is_less(change, items[item_id])
        try:
            _set_number(caller, event_id, items[item_id], is_sold=is_sold, **change)
        except (*FORM_ERRORS, NotFound) as error:
            refuse(item_id, error)
    return json.dumps([len(numbers.rows) - len(refused), refused])


def _load_row(row: FilledForm) -> dict[str, Any]:
    """The values of a row, with the sign before its number. Raises ValidationFailed."""
    typed = row.value("quantity").strip()
    sign = SIGNS.get(typed[:1], "")
    return {**replace(row, values={**row.values, "quantity": typed[len(sign) :]}).load(), "sign": sign}


def _is_less(change: Mapping[str, Any], item: Row) -> bool:
    """Whether a row takes from what is on hand, without a reason of its own."""
    is_count = (change["bucket"], change["reason"]) == ("onHand", COUNT)
    is_lower = change["sign"] == MINUS or (not change["sign"] and change["quantity"] < item["on_hand"])
    return bool(is_count and is_lower)


def _set_number(
    caller: Caller,
    event_id: str,
    item: Row,
    *,
    quantity: Decimal,
    sign: str,
    bucket: str,
    reason: str,
    version: int,
    is_sold: bool,
    **fields: Any,
) -> None:
    """Record a number as counted, or the difference to it for another reason. Raises ValidationFailed.

    A number with a sign is the difference itself: received with a plus, if no other reason is given. If what is less was
    sold, a count says that too.
    """
    present, is_current = item[BUCKETS[bucket]], item["version"] == version
    if sign and not quantity:
        raise ValidationFailed.of("quantity", "unchanged", "Nothing changes.")
    if sign == MINUS and quantity > present and is_current:
        text = gettext(
            "There are only %(num)s. You cannot take away %(taken)s.",
            num=format_quantity(present),
            taken=format_quantity(quantity),
        )
        raise ValidationFailed.of("quantity", "too_few", text)
    difference = {PLUS: quantity, MINUS: -quantity}.get(sign, quantity - present)
    if sign == PLUS and reason == COUNT:
        reason = RECEIVED
    is_counted = reason == COUNT and not (is_sold and sign)
    change = {"counted": present + difference} if is_counted else {"delta": difference}
    if reason != COUNT and not difference and is_current:
        raise ValidationFailed.of("quantity", "unchanged", "This is the number already.")
    actions.adjust_item(
        caller=caller,
        event_id=event_id,
        item_id=item["id"],
        bucket=bucket,
        reason=SOLD if is_sold else reason,
        expected_version=version,
        **change,
        **fields,
    )
