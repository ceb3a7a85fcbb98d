"""How the pages of the sales name formats, fields and states, and say what is wrong with a row."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from app.events.ticket_files import FIELDS

FORMAT_LABELS = {
    "pretix": "pretix",
    "eventbrite": "Eventbrite",
    "own": "A file with our column names",
    "mapping": "A file whose columns were chosen",
}
STATE_LABELS = {"sold": "Sold", "cancelled": "Cancelled", "refunded": "Refunded"}
IMPORT_LABELS = {"done": "Imported", "undone": "Undone"}
FIELD_LABELS = {
    "reference": "Number of the ticket",
    "ticketType": "Ticket type",
    "name": "Name of the guest",
    "email": "E-mail address",
    "price": "Price",
    "priceMinor": "Price in cents",
    "currency": "Currency",
    "soldAt": "Day or time of the sale",
    "status": "State: sold, cancelled, refunded",
    "secret": "Code in the QR code or barcode",
    "validFrom": "Valid from",
    "validUntil": "Valid until",
}
assert FIELD_LABELS.keys() == FIELDS.keys()
ERROR_WORDS = {
    "unknown_value": "We do not know this word.",
    "duplicate": "Another row or ticket has the same.",
    "ends_before_start": "The ticket would end before it begins.",
    "wrong_currency": "The price must be in Namibia dollars (NAD).",
}
"""Where the message of the API names fields or options of a program."""
UNDO_WORDS = {
    "TICKETS_ADMITTED": "Guests have entered with tickets of this import. Undo their entries at the gate first.",
    "LATER_IMPORT": "A later import has changed the same tickets. Undo that one first.",
    "TICKET_TYPE_REMOVED": "Tickets would go back to a ticket type that was removed. Import a corrected file instead.",
}
_FOR_PROGRAMS = re.compile(r"[;.] --\S+ \(\w+\).*$")


def describe_row_error(error: Mapping[str, Any]) -> str:
    """What is wrong with a cell, in the words of an organiser."""
    if error["code"] == "unknown_value" and error["column"] == "ticketType":
        return "The event has no such ticket type."
    message = _FOR_PROGRAMS.sub(".", error["message"])
    if error["code"] == "unknown_value" and message.startswith("Must be one of"):
        return message
    return ERROR_WORDS.get(error["code"], message) if error["column"] in FIELDS else message


def name_column(column: str, names: Collection[str]) -> str:
    """The name of a column: as the file has it among its `names`, or that of our field."""
    return column if column in names else FIELD_LABELS.get(column, column)
