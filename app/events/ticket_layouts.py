"""The layouts of files of sold tickets: own columns, order positions of pretix, attendees of Eventbrite, or as mapped.

A layout is recognised by its columns, whose names are compared without case, blanks and punctuation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from app.core.languages import mark_for_translation
from app.core.spreadsheet import NotASheet, column_key

Cells = Mapping[str, str]


@dataclass(frozen=True)
class Layout:
    """A layout: the columns of every field, by preference, and the meaning of its status words."""

    format: str
    name: str
    required_columns: frozenset[str]
    columns: Mapping[str, tuple[str, ...]]
    statuses: Mapping[str, str]
    joined: Mapping[str, Callable[[Cells], str]] = field(default_factory=dict)
    default_status: str | None = None

    def find_status(self, word: str) -> str | None:
        """What a word in the column of the status means; None for a word that is not known."""
        return self.statuses.get(word.casefold()) if word else self.default_status

    def read_cell(self, field: str, cells: Cells) -> str:
        """The cell of the field, or the text that is joined from several cells; empty when the file has none."""
        if field in self.joined:
            return self.joined[field](cells)
        column = self.find_column(field, cells)
        return cells[column] if column else ""

    def find_column(self, field: str, cells: Cells) -> str | None:
        """The first column of the field that is not empty, else its first column in the file."""
        present = [name for name in self.columns[field] if name in cells]
        return next((name for name in present if cells[name]), present[0] if present else None)


def _join_names(cells: Cells, *columns: str) -> str:
    return " ".join(name for name in (cells.get(column, "") for column in columns) if name)


SOLD, CANCELLED, REFUNDED = "sold", "cancelled", "refunded"
OMITTED = "omitted"
"""What a word means whose rows are left out."""
WORD_MEANINGS = (SOLD, CANCELLED, REFUNDED, OMITTED)
OWN = Layout(
    format="own",
    name="own columns",
    required_columns=frozenset({"reference", "tickettype"}),
    columns={
        "reference": ("reference",),
        "ticket_type": ("tickettype",),
        "name": ("name", "firstname"),
        "last_name": ("lastname",),
        "email": ("email",),
        "price_minor": ("priceminor",),
        "price": ("price",),
        "sold_at": ("soldat",),
        "status": ("status",),
        "currency": ("currency",),
        "order_number": ("ordernumber",),
        "secret": ("secret", "barcode", "ticketsecret"),
        "valid_from": ("validfrom",),
        "valid_until": ("validuntil",),
    },
    statuses={"sold": SOLD, "cancelled": CANCELLED, "refunded": REFUNDED},
    joined={"name": lambda cells: cells.get("name") or _join_names(cells, "firstname", "lastname")},
    default_status=SOLD,
)
PRETIX = Layout(
    format="pretix",
    name="pretix order positions",
    required_columns=frozenset({"ordercode", "positionid", "product", "status"}),
    columns={
        "reference": ("ordercode",),
        "ticket_type": ("product",),
        "name": ("attendeename", "invoiceaddressname"),
        "last_name": (),
        "email": ("attendeeemail", "email"),
        "price_minor": (),
        "price": ("price",),
        "sold_at": ("orderdate",),
        "status": ("status",),
        "currency": ("currency",),
        "order_number": ("ordercode",),
        "secret": ("ticketsecret",),
        "valid_from": ("validfrom",),
        "valid_until": ("validuntil",),
    },
    statuses={
        "paid": SOLD,
        "p": SOLD,
        "pending": CANCELLED,
        "n": CANCELLED,
        "expired": CANCELLED,
        "e": CANCELLED,
        "canceled": CANCELLED,
        "cancelled": CANCELLED,
        "c": CANCELLED,
        "refunded": REFUNDED,
    },
    joined={
        "reference": lambda cells: f"{cells['ordercode']}-{cells['positionid']}" if cells["ordercode"] else "",
        "sold_at": lambda cells: f"{cells.get('orderdate', '')} {cells.get('ordertime', '')}".strip(),
    },
)
EVENTBRITE = Layout(
    format="eventbrite",
    name="Eventbrite attendees",
    required_columns=frozenset({"attendee#", "tickettype", "attendeestatus"}),
    columns={
        "reference": ("attendee#",),
        "ticket_type": ("tickettype",),
        "name": ("firstname",),
        "last_name": ("lastname",),
        "email": ("email",),
        "price_minor": (),
        "price": ("totalpaid",),
        "sold_at": ("orderdate",),
        "status": ("attendeestatus",),
        "currency": ("currency",),
        "order_number": ("order#", "orderid"),
        "secret": ("barcode#",),
        "valid_from": (),
        "valid_until": (),
    },
    statuses={
        "attending": SOLD,
        "checked in": SOLD,
        "refunded": REFUNDED,
        "not attending": CANCELLED,
        "cancelled": CANCELLED,
        "canceled": CANCELLED,
    },
    joined={"name": lambda cells: _join_names(cells, "firstname", "lastname")},
)
FREE_WORDS = ("complimentary", "comp", "free", "gratis", "kostenlos", "freikarte", "freiticket", "vrykaartjie")
"""A ticket with one of these words as its status costs nothing if the file has no price of it."""
OTHER_STATUSES = {
    **dict.fromkeys(("valid", "active", "confirmed", "complete", "completed", "bezahlt", "gültig", "verkauft"), SOLD),
    **dict.fromkeys(("bestätigt", "eingecheckt", "betaal", "verkoop", "geldig", "bevestig"), SOLD),
    **dict.fromkeys(("aktiv", "abgeschlossen", "aktief", "voltooi", "approved", "successful", "issued", "used"), SOLD),
    **dict.fromkeys(("processing", "redeemed", "scanned", *FREE_WORDS), SOLD),
    **dict.fromkeys(("on hold", "on-hold", "pending payment", "failed", "declined", "not paid"), CANCELLED),
    **dict.fromkeys(("fehlgeschlagen", "nicht bezahlt", "misluk", "nie betaal nie"), CANCELLED),
    **dict.fromkeys(("void", "voided", "unpaid", "open", "storniert", "offen", "unbezahlt", "ausstehend"), CANCELLED),
    **dict.fromkeys(("abgelaufen", "gekanselleer", "onbetaal", "oop", "verval"), CANCELLED),
    **dict.fromkeys(("refund", "erstattet", "rückerstattet", "terugbetaal"), REFUNDED),
}
"""Words of other sellers, in English, German and Afrikaans, for files whose columns a mapping names."""
LAYOUTS = (PRETIX, EVENTBRITE, OWN)
FORMATS = {layout.format: layout for layout in LAYOUTS}
FIELDS = {
    "reference": "reference",
    "ticketType": "ticket_type",
    "name": "name",
    "lastName": "last_name",
    "email": "email",
    "price": "price",
    "priceMinor": "price_minor",
    "currency": "currency",
    "soldAt": "sold_at",
    "status": "status",
    "orderNumber": "order_number",
    "secret": "secret",
    "validFrom": "valid_from",
    "validUntil": "valid_until",
}
"""The fields that a mapping may name, by their names in the API."""
REQUIRED_FIELDS = ("reference", "ticketType")
ORDER_AND_CODE = mark_for_translation(
    "One column cannot be both the number of the order and the code: people who may not see codes see the number of the "
    "order."
)


def find_layout(header: list[str], format: str | None = None) -> Layout:
    """The layout of the format, or the first whose columns the header has. Raises NotASheet."""
    columns = {column_key(name) for name in header}
    for layout in LAYOUTS if format is None else (FORMATS[format],):
        if layout.required_columns <= columns:
            return layout
    raise NotASheet(
        "The columns are not known. Own files need reference and ticketType; exports of pretix (order positions) and "
        "Eventbrite (attendees) are recognised by their columns. A mapping names the columns of any other file."
        if format is None
        else f"The file has not the columns of {FORMATS[format].name}."
    )


def build_layout(header: list[str], mapping: Mapping[str, str]) -> Layout:
    """The layout of a file whose columns a mapping names by their fields, as in FIELDS. Raises NotASheet.

    Status words are those of all layouts. The name of a guest is that of `name` and `lastName`, joined with a space.
    """
    if missing_fields := [name for name in REQUIRED_FIELDS if name not in mapping]:
        raise NotASheet(f"The mapping does not name a column for {' and '.join(missing_fields)}.")
    if unknown_fields := [name for name in mapping if name not in FIELDS]:
        raise NotASheet(f"The mapping has an unknown field {unknown_fields[0][:80]!r}; fields are {', '.join(FIELDS)}.")
    columns = {column_key(name) for name in header}
    if missing := [
        column for column in mapping.values() if not column_key(column) or column_key(column) not in columns
    ]:
        raise NotASheet(f"The file has no column {missing[0][:80]!r}, which the mapping names.")
    keys = {FIELDS[name]: (column_key(column),) for name, column in mapping.items()}
    if keys.get("secret") and keys["secret"] == keys.get("order_number"):
        raise NotASheet(ORDER_AND_CODE)
    names = (*keys.get("name", ()), *keys.get("last_name", ()))
    return replace(
        OWN,
        format="mapping",
        name="mapped columns",
        columns={**dict.fromkeys(FIELDS.values(), ()), **keys, "name": names},
        joined={"name": lambda cells: _join_names(cells, *names)},
        statuses={**OTHER_STATUSES, **{word: status for layout in LAYOUTS for word, status in layout.statuses.items()}},
    )
