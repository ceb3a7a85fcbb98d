"""How the pages of the sales name formats, fields and states, and say what is wrong with a row."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from app.core.languages import gettext, lazy_gettext, mark_for_translation
from app.events.ticket_layouts import FIELDS

FORMAT_LABELS = {
    "pretix": "pretix",
    "eventbrite": "Eventbrite",
    "own": lazy_gettext("A file with our column names"),
    "mapping": lazy_gettext("A list with columns that you chose"),
}
STATE_LABELS = {
    "sold": lazy_gettext("Sold"),
    "cancelled": lazy_gettext("Cancelled"),
    "refunded": lazy_gettext("Refunded"),
}
IMPORT_LABELS = {"done": lazy_gettext("Imported"), "undone": lazy_gettext("Undone")}
FIELD_LABELS = {
    "reference": lazy_gettext("Number of the ticket"),
    "ticketType": lazy_gettext("Ticket type"),
    "name": lazy_gettext("Name (or first name)"),
    "lastName": lazy_gettext("Last name"),
    "email": lazy_gettext("E-mail address"),
    "price": lazy_gettext("Price"),
    "priceMinor": lazy_gettext("Price in cents"),
    "currency": lazy_gettext("Currency"),
    "soldAt": lazy_gettext("Day or time of the sale"),
    "status": lazy_gettext("State: sold, cancelled, refunded"),
    "orderNumber": lazy_gettext("Number of the order"),
    "secret": lazy_gettext("Code in the QR code or barcode"),
    "validFrom": lazy_gettext("Valid from"),
    "validUntil": lazy_gettext("Valid until"),
}
assert FIELD_LABELS.keys() == FIELDS.keys()
ERROR_WORDS = {
    "ends_before_start": lazy_gettext("The ticket would end before it begins."),
    "wrong_currency": lazy_gettext("The price must be in Namibia dollars (NAD)."),
}
"""Where the message of the API names fields or options of a program."""
UNDO_WORDS = {
    "TICKETS_ADMITTED": lazy_gettext(
        "Guests have entered with tickets of this import. Undo their entries at the gate first."
    ),
    "LATER_IMPORT": lazy_gettext("A later import has changed the same tickets. Undo that one first."),
    "TICKET_TYPE_REMOVED": lazy_gettext(
        "Tickets would go back to a ticket type that was removed. Import a corrected file instead."
    ),
}
SENTENCES = {
    "Must have at most %(max)s characters.": mark_for_translation("Must have at most %(max)s characters."),
    "Row %(row)s has the same %(column)s.": mark_for_translation("Row %(row)s has the same value."),
    "The ticket %(reference)s of this event has this secret.": mark_for_translation(
        "The ticket %(reference)s of this event has the same code."
    ),
    "Another ticket of this event has this secret.": mark_for_translation(
        "Another ticket of this event has the same code."
    ),
    "%(count)s more would be sold, and only %(free)s of %(total)s are free.": mark_for_translation(
        "Tickets that the file adds: %(count)s. Free tickets of this type: %(free)s of %(total)s."
    ),
    "%(count)s more would be sold; %(sold)s sold and %(allocated)s allocated leave %(free)s of the event's capacity of "
    "%(capacity)s.": mark_for_translation(
        "Tickets that the file adds: %(count)s. Free places of the event: %(free)s of %(capacity)s "
        "(sold: %(sold)s, kept for guests: %(allocated)s)."
    ),
    "%(sold)s sold and %(allocated)s allocated are %(surplus)s more than the capacity of %(capacity)s.": (
        mark_for_translation(
            "The event has %(capacity)s places. Sold: %(sold)s, kept for guests: %(allocated)s. Too many: %(surplus)s."
        )
    ),
    "%(name)s has %(total)s tickets now; there were %(before)s.": mark_for_translation(
        "%(name)s: %(total)s tickets instead of %(before)s."
    ),
}
"""Sentences with values, as an import writes them, and what the page says instead."""
_FOR_PROGRAMS = re.compile(r"[;.] --\S+ \(\w+\).*$")


def describe_row_error(error: Mapping[str, Any]) -> str:
    """What is wrong with a cell, in the words of an organiser."""
    if error["code"] == "unknown_value":
        is_type = error["column"] == "ticketType"
        return (
            gettext("The event has no such ticket type.")
            if is_type
            else gettext("We do not know this word. Correct it in the file.")
        )
    message = _FOR_PROGRAMS.sub(".", error["message"])
    words = ERROR_WORDS.get(error["code"]) if error["column"] in FIELDS else None
    return str(words or translate_sentence(message))


def translate_sentence(sentence: str) -> str:
    """A sentence of an import in the language of the page."""
    for written, text in SENTENCES.items():
        match = re.fullmatch(re.sub(r"%\\\((\w+)\\\)s", r"(?P<\1>.+)", re.escape(written)), sentence)
        if match:
            return gettext(text, **match.groupdict())
    return gettext(sentence)


def name_column(column: str, names: Collection[str]) -> str:
    """The name of a column: as the file has it among its `names`, or that of our field."""
    return column if column in names else str(FIELD_LABELS.get(column, column))
