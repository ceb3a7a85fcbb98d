"""How the desk names the numbers of an item, and why they change."""

import re

from app.core.languages import gettext, lazy_gettext, lazy_pgettext
from app.inventory.item_fields import BUCKETS, REASONS

BUCKET_LABELS = dict(
    zip(BUCKETS, (lazy_gettext("On hand"), lazy_gettext("Reserved"), lazy_gettext("Damaged")), strict=True)
)
ALL_BUCKET_LABELS = {**BUCKET_LABELS, "onOrder": lazy_gettext("On order")}
REASON_LABELS = dict(
    zip(
        REASONS,
        (
            lazy_gettext("Received"),
            lazy_gettext("Sold or used"),
            lazy_gettext("Waste"),
            lazy_gettext("Damage"),
            lazy_pgettext("stock", "Transfer"),
            lazy_gettext("Count"),
            lazy_gettext("Return"),
            lazy_gettext("Correction"),
        ),
        strict=True,
    )
)
NOTE_LABELS = {
    "opening stock": lazy_gettext("opening stock"),
    "ordered": lazy_gettext("ordered"),
    "order cancelled": lazy_gettext("order cancelled"),
    "import": lazy_gettext("import"),
}
"""The notes of movements that nobody typed."""
ORDER_STATE_LABELS = {
    "open": lazy_gettext("On order"),
    "received": lazy_pgettext("order", "Received"),
    "cancelled": lazy_pgettext("order", "Cancelled"),
}
WRONG_NUMBER = {
    "invalid_type": lazy_gettext("Enter a number like 12 or 12.5."),
    "too_precise": lazy_gettext("Enter at most three decimals."),
    "too_small": lazy_gettext("Enter 0 or more."),
}
WRONG_PRICE = {**WRONG_NUMBER, "invalid_type": lazy_gettext("Enter an amount like 1500 or 1500.50.")}
WRONG_RATE = {**WRONG_NUMBER, "too_precise": lazy_gettext("Enter at most four decimals.")}
STOCK_MESSAGES = {
    "INSUFFICIENT_STOCK": lazy_gettext("Enter a number that is not below what is reserved and damaged."),
    "QUANTITY_TOO_LARGE": lazy_gettext("Enter a smaller number."),
    "STALE_VERSION": lazy_gettext("Somebody else has changed this item. Look at its numbers, and save again."),
    "SKU_TAKEN": lazy_gettext(
        "Another item has this number, perhaps an archived one. Without a number, the name is the number. Enter another one."
    ),
}
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def describe_row_error(message: str) -> str:
    """What is wrong with a cell, in the language in use; the catalogues have `%(num)s` for the number in the message."""
    translated = gettext(message)
    number = _NUMBER.search(message) if translated == message else None
    return gettext(_NUMBER.sub("%(num)s", message, count=1), num=number[0]) if number else translated
